// What every lane paints after the same step.
#pragma once

#include "engine/io/picture.h"

#include <cstdint>
#include <vector>

namespace halfscope {

struct LanePictures {
    int64_t step = 0;
    std::vector<Picture> outputs; ///< by lane
};

} // namespace halfscope
