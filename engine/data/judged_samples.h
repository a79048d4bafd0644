// What a network predicts for validation samples, as far as pictures of it need that.
#pragma once

#include "engine/data/class_counts.h"
#include "engine/data/task_view.h"
#include "engine/io/picture.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

struct JudgedSamples {
    ClassCounts counts{};                        ///< Classes: of all samples
    std::vector<float> targets{}, predictions{}; ///< Scatter: of the first samples
    int64_t notFinite = 0;                       ///< samples for which inf or nan is predicted

    static constexpr size_t kMostNumbers = 2000; ///< more dots would only cover each other
    /// Takes numbers in the units that the network learns.
    void addNumbers(std::span<const float> target, std::span<const float> prediction);
};

/// Draws them as pictureOf() draws those of a batch. Returns nothing for other kinds of views, and
/// where there are none.
std::optional<Picture> pictureOf(const TaskView&, const JudgedSamples&);

} // namespace halfscope
