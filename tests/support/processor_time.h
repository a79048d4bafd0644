// The time that processors worked for this program: other programs do not lengthen it.
#pragma once

#include <ctime>

namespace halfscope::test {

/// Milliseconds; a difference of two results is the time of what was done in between, by all
/// threads.
inline double processorMs() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

} // namespace halfscope::test
