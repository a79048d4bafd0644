// Limits on how much memory the values of an array may take.
#pragma once

#include "engine/core/message.h"

#include <cstdint>
#include <string>

namespace halfscope {

/// Throws InputError for values that take more memory than this program may use. `place` is shown
/// as it is: a path, or what else says where the array is.
void checkFitsMemory(const std::string& place, int64_t bytes);
/// Throws InputError for values that are very many more than the bytes they are packed in, so that
/// no small file fills the memory. `remedy` says how a user may have them read all the same.
void checkUnpacked(const std::string& place, int64_t bytes, int64_t packed, Phrase remedy);

} // namespace halfscope
