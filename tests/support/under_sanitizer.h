// Whether a sanitizer watches, and smaller sizes for tests that would take too long under
// ThreadSanitizer.
#pragma once

namespace halfscope::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderThreadSanitizer = true;
#else
inline constexpr bool kUnderThreadSanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kUnderSanitizer = true;
#else
inline constexpr bool kUnderSanitizer = kUnderThreadSanitizer;
#endif

/// Returns `whole`, or `reduced` under ThreadSanitizer, where code takes some 20 times as long. Use
/// it only where the size does not matter: a race shows within a few thousand accesses.
template <class Number>
constexpr Number sizeFor(Number whole, Number reduced) {
    return kUnderThreadSanitizer ? reduced : whole;
}

} // namespace halfscope::test
