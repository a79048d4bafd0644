// Pictures that many runs have, once in memory: thousands of runs of one experiment are compared
// with the same target.
#pragma once

#include "engine/io/picture.h"

#include <memory>

namespace halfscope {

/// Returns the picture, or an equal one that somebody still holds. Any thread may call it.
std::shared_ptr<const Picture> sharedPicture(Picture);

} // namespace halfscope
