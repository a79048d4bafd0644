// Tells the sparse form of LIBSVM and SVMlight from tables whose fields have colons, such as times.
#pragma once

#include <string_view>

namespace halfscope {

/// Whether lines are such as "1 3:0.5 7:1", a class and the values that are not 0: in all of the
/// first ones, a number comes first, and then pairs of an index and a number, whose indices rise.
/// One of them has two pairs or more, and not all pairs could be times of day or lengths of time,
/// as 12:30 is. `ahead` is what follows `first`; its last line may be cut.
bool areSparseLines(std::string_view first, std::string_view ahead);

} // namespace halfscope
