// What every lane paints after the same step.
#pragma once

#include "engine/io/picture.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace halfscope {

struct LanePictures {
    int64_t step = 0;
    std::vector<Picture> outputs; ///< by lane
    /// The step of the validation that tables of classes show; 0: they show the step's batch;
    /// nothing: a file does not tell.
    std::optional<int64_t> validated = 0;
    /// By lane, pictures with classes as they are taken at this step, and last of all as they are.
    /// Empty where samples are no such pictures, and where a file lacks them.
    std::vector<Picture> galleries{};
};

} // namespace halfscope
