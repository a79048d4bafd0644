// What a network predicts for validation samples, as far as pictures of it need that.
#pragma once

#include "engine/data/class_counts.h"
#include "engine/data/task_view.h"
#include "engine/io/picture.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

/// A validation sample that was taken for another class.
struct Mistake {
    int64_t sample = 0; ///< its number in the split
    int32_t taken = 0;  ///< the class, in the form of highestClasses()
    /// The sample as it was judged, for those that a sheet has room for; null: it is read anew.
    std::shared_ptr<const Batch> values{};
};

struct JudgedSamples {
    ClassCounts counts{}; ///< Classes: of all samples
    /// Classes, where a whole sample has one: the first samples that were taken for another class,
    /// in the order of the data.
    std::vector<Mistake> mistakes{};
    std::vector<float> targets{}, predictions{}; ///< Scatter: of the first samples
    int64_t notFinite = 0;                       ///< samples for which inf or nan is predicted

    static constexpr size_t kMostNumbers = 2000; ///< more dots would only cover each other
    static constexpr size_t kMostMistakes = 64;  ///< as many as a sheet of samples has room for
    /// Takes the labels of these samples, and what each was taken for.
    void addClasses(std::span<const int64_t> samples, std::span<const int32_t> labels,
                    std::span<const int32_t> taken);
    /// Does so for the samples of a batch, and keeps the values of the first `most` mistakes: they
    /// are at hand now, and files would have to be decoded again.
    void addClasses(const Batch&, std::span<const int64_t> samples, std::span<const int32_t> taken,
                    size_t most);
    /// Takes numbers in the units that the network learns.
    void addNumbers(std::span<const float> target, std::span<const float> prediction);
};

/// Draws them as pictureOf() draws those of a batch. Returns nothing for other kinds of views, and
/// where there are none.
std::optional<Picture> pictureOf(const TaskView&, const JudgedSamples&);

} // namespace halfscope
