// What every lane paints after the same step.
#pragma once

#include "engine/io/picture.h"

#include <cstdint>
#include <vector>

namespace halfscope {

struct LanePictures {
    int64_t step = 0;
    std::vector<Picture> outputs; ///< by lane
    /// Tables of classes: the step after which the lanes were validated that they are of; 0: they
    /// are of the step's batch.
    int64_t validated = 0;
    /// By lane, pictures with classes as they are taken at this step, and last of all as they are.
    /// Empty where samples are no such pictures, and in runs that come from files.
    std::vector<Picture> galleries{};
};

} // namespace halfscope
