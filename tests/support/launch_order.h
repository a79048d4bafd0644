// The orders in which blocks and threads of a launch are run: no result may depend on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace halfscope::test {

/// Returns the numbers below `count`. Seed 0: ascending, 1: descending, else a permutation from
/// that seed.
inline std::vector<int> launchOrder(int count, int seed) {
    std::vector<int> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    if (seed == 1) std::reverse(order.begin(), order.end());
    if (seed <= 1) return order;
    uint64_t random = static_cast<uint64_t>(seed) * 0x9E3779B97F4A7C15u;
    for (size_t i = order.size(); i > 1; --i) {
        random = random * 6364136223846793005u + 1442695040888963407u; // Knuth's MMIX generator
        std::swap(order[i - 1], order[(random >> 33) % i]);
    }
    return order;
}

} // namespace halfscope::test
