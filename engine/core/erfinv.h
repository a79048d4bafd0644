// The inverse of the error function.
#pragma once

namespace halfscope {

/// Returns the inverse in double: +-inf at +-1, NaN beyond.
double erfinvOf(double x);

} // namespace halfscope
