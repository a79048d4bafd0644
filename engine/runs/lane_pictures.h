// What all lanes paint after the same step.
#pragma once

#include "engine/io/picture.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halfscope {

/// Which weights made the outputs of a step.
enum class PicturesMade : uint8_t {
    InStep,    ///< those before it: the outputs are what its loss was computed from
    AfterStep, ///< those that it left, in a pass of their own
    Unknown,   ///< one of both: no file says which
};

/// The pictures that the run had but that its file does not give, whatever the reason: they have no
/// width, and all others are there.
struct LostPictures {
    std::string from{};              ///< the path of the file
    std::vector<size_t> outputs{};   ///< lanes
    std::vector<size_t> galleries{}; ///< places in LanePictures::galleries
    std::vector<size_t> mistakes{};  ///< lanes
    bool operator==(const LostPictures&) const = default;
};

struct LanePictures {
    int64_t step = 0;
    std::vector<Picture> outputs; ///< by lane
    /// The step of the validation that tables of classes and scatters show. It is 0 when they show
    /// the step's batch, and nothing when a file does not tell.
    std::optional<int64_t> validated = 0;
    /// One picture per lane, of samples with the classes that the lane takes them for at this step;
    /// behind them a last one with the true classes. Empty when the samples are no such pictures,
    /// and when a file lacks them.
    std::vector<Picture> galleries{};
    /// Whether the outputs come from PNG files: they are rounded to 8 bits and cut off at 0 and 1,
    /// apart from tables of classes, which are exact (see output_file.h).
    /// An error computed from them is not that of the network.
    bool fromFiles = false;
    /// Does not count for what a validation or its samples show: that is always made afterwards.
    PicturesMade made = PicturesMade::Unknown;
    /// What a scatter of validation samples is compared with, because the run's own target shows
    /// its first batch; empty otherwise.
    Picture target{};
    /// One picture per lane, of samples that it took for another class in the validation that the
    /// tables show, see mistakeSheets(). Empty where there are no galleries, before a validation,
    /// and when a file lacks them.
    std::vector<Picture> mistakes{};
    LostPictures lost{};
};

} // namespace halfscope
