// Chooses what is held back by a fixed shuffle.
#include "engine/data/held_back.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace halfscope {

namespace {
constexpr uint64_t kSplitSeed = 0, kSplitStream = 3; // independent of a run's seed
}

int64_t HeldBack::count(int64_t samples, double share) {
    const auto wanted = std::llround(share * static_cast<double>(samples));
    return std::clamp<int64_t>(wanted, 0, samples - 1);
}

HeldBack::HeldBack(int64_t samples, double share) {
    std::vector<int32_t> order(static_cast<size_t>(samples));
    std::iota(order.begin(), order.end(), 0);
    shuffle(order, Philox(kSplitSeed, kSplitStream));
    const auto held = order.begin() + static_cast<std::ptrdiff_t>(count(samples, share));
    validation.assign(order.begin(), held);
    train.assign(held, order.end());
    std::sort(validation.begin(), validation.end());
    std::sort(train.begin(), train.end());
}

std::string heldBackPython(double share) {
    if (share == 0) return "    train, held = torch.arange(len(x)), torch.arange(0)\n";
    return lang::filled(
        R"(    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    count = min(int({SHARE} * len(x) + 0.5), len(x) - 1)  # other samples than Halfscope holds back
    held, train = order[:count].sort().values, order[count:].sort().values
)",
        {{"SHARE", lang::pythonReal(share)}});
}

void checkSampleCount(const std::string& place, int64_t samples) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (samples < 1 || samples > kMost)
        throw InputError(phrase("Data", "%1: %2 samples are not allowed: 1 to %3"), place, samples,
                         kMost);
}

} // namespace halfscope
