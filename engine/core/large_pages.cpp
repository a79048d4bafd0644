// Large pages by madvise().
#include "engine/core/large_pages.h"

#include <cstdint>
#include <sys/mman.h>

namespace halfscope {

void adviseLargePages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
    const auto first = reinterpret_cast<uintptr_t>(memory);
    const uintptr_t begin = (first + kLargePage - 1) / kLargePage * kLargePage;
    const uintptr_t end = (first + bytes) / kLargePage * kLargePage;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

} // namespace halfscope
