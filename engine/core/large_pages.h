// Asks the system for large pages.
#pragma once

#include <cstddef>

namespace halfscope {

constexpr size_t kLargePage = size_t{2} << 20; ///< of x86-64 and AArch64

/// Asks for large pages for the part of this memory that can have them. Call it before the memory
/// is first written to. A sweep over a large tensor, and samples read in a new order from a large
/// data set, touch far more small pages than the processor has translations for. This is only
/// advice: where the system has no large pages, small ones serve.
void adviseLargePages(void* memory, size_t bytes) noexcept;

} // namespace halfscope
