// Compares what a file announces with the machine and with the file itself.
#include "engine/io/array_limits.h"

#include "engine/core/error.h"
#include "engine/core/usable_memory.h"

#include <algorithm>
#include <limits>

namespace halfscope {

namespace {

constexpr int kMebibyte = 20;                           // as a power of two
constexpr int64_t kAlwaysUnpacked = int64_t{256} << 20; // bytes
constexpr int64_t kMostTimes = 200; // beyond that; zlib can make 1,032 bytes of one

} // namespace

void checkFitsMemory(const std::string& place, int64_t bytes) {
    constexpr size_t kMost = std::numeric_limits<int64_t>::max();
    const auto memory = static_cast<int64_t>(std::min(usableMemory(), kMost));
    if (memory > 0 && bytes > memory)
        throw InputError(phrase("Files", "%1: its values take %2 MiB; this machine has %3 MiB of "
                                         "memory for this program"),
                         place, bytes >> kMebibyte, memory >> kMebibyte);
}

void checkUnpacked(const std::string& place, int64_t bytes, int64_t packed, Phrase remedy) {
    if (bytes <= kAlwaysUnpacked || bytes / kMostTimes <= packed) return;
    throw InputError(phrase("Files", "%1: its values take %2 MiB, more than %3 times what they are "
                                     "packed in; above %4 MiB, this is not allowed. %5"),
                     place, bytes >> kMebibyte, kMostTimes, kAlwaysUnpacked >> kMebibyte, remedy);
}

} // namespace halfscope
