// Chooses what is held back: by a fixed shuffle, or the last samples.
#include "engine/data/held_back.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/core/text.h"
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

HeldBack::HeldBack(int64_t samples, const TaskConfig& task) {
    if (task.held == Held::Random) {
        *this = HeldBack(samples, task.validation);
        return;
    }
    train.resize(static_cast<size_t>(trained(samples, task)));
    validation.resize(static_cast<size_t>(count(samples, task.validation)));
    std::iota(train.begin(), train.end(), 0);
    std::iota(validation.begin(), validation.end(),
              static_cast<int32_t>(samples) - static_cast<int32_t>(validation.size()));
}

int64_t HeldBack::trained(int64_t samples, const TaskConfig& task) {
    const int64_t left = samples - count(samples, task.validation);
    if (task.held == Held::Random || left == samples) return left;
    if (task.gap >= left)
        throw InputError(phrase("Data", "data.gap: %1 is not allowed: %2 samples are not held "
                                        "back, so at most %3"),
                         task.gap, left, left - 1);
    return left - task.gap;
}

std::optional<Message> heldBackNote(int64_t samples, const TaskConfig& task) {
    const int64_t held = HeldBack::count(samples, task.validation);
    if (task.held == Held::Random || held == 0) return std::nullopt;
    if (task.gap == 0)
        return Message(phrase("Data", "The last %1 samples are held back to validate on."), held);
    if (task.gap == 1)
        return Message(phrase("Data", "The last %1 samples are held back to validate on; the one "
                                      "before them is not used."),
                       held);
    return Message(phrase("Data", "The last %1 samples are held back to validate on; the %2 before "
                                  "them are not used."),
                   held, task.gap);
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

std::string heldBackPython(const TaskConfig& task) {
    if (task.held == Held::Random || task.validation == 0) return heldBackPython(task.validation);
    return lang::filled(
        R"(    count = min(int({SHARE} * len(x) + 0.5), len(x) - 1)
    gap = {GAP} if count else 0
    train, held = torch.arange(len(x) - count - gap), torch.arange(len(x) - count, len(x))
)",
        {{"SHARE", lang::pythonReal(task.validation)}, {"GAP", numberText(task.gap)}});
}

void checkSampleCount(const std::string& place, int64_t samples) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (samples < 1 || samples > kMost)
        throw InputError(phrase("Data", "%1: %2 samples are not allowed: 1 to %3"), place, samples,
                         kMost);
}

} // namespace halfscope
