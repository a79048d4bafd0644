// What the speeds are that the plots show: the window decides, and headings say it.
#pragma once

#include <cstdint>

namespace halfscope {

/// Where no step is pointed at.
enum class SpeedsShown : uint8_t {
    Present,
    AtTheEnd,     ///< of a run that is over, while other figures are those of the whole run
    NotComparable ///< none: at this pace the lanes wait
};

} // namespace halfscope
