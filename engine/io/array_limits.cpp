// Compares what a file announces with the machine and with the file itself.
#include "engine/io/array_limits.h"

#include "engine/core/error.h"

#include <unistd.h>

namespace halfscope {

namespace {

constexpr int kMebibyte = 20;                           // as a power of two
constexpr int64_t kAlwaysUnpacked = int64_t{256} << 20; // bytes
constexpr int64_t kMostTimes = 200; // beyond that; zlib can make 1,032 bytes of one

} // namespace

void checkFitsMemory(const std::string& place, int64_t bytes) {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    if (pages <= 0 || page <= 0) return;
    const int64_t memory = int64_t{pages} * int64_t{page};
    if (bytes > memory)
        throw InputError(phrase("Files", "%1: its values take %2 MiB; this machine has %3 MiB of "
                                         "memory"),
                         place, bytes >> kMebibyte, memory >> kMebibyte);
}

void checkUnpacked(const std::string& place, int64_t bytes, int64_t packed, Phrase remedy) {
    if (bytes <= kAlwaysUnpacked || bytes / kMostTimes <= packed) return;
    throw InputError(phrase("Files", "%1: its values take %2 MiB, more than %3 times what they are "
                                     "packed in; above %4 MiB, this is not allowed. %5"),
                     place, bytes >> kMebibyte, kMostTimes, kAlwaysUnpacked >> kMebibyte, remedy);
}

} // namespace halfscope
