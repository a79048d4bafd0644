// Chooses what is held back: by a fixed shuffle, class by class if the settings ask for it, or the
// last samples.
#include "engine/data/held_back.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/core/text.h"
#include "engine/data/targets.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace halfscope {

namespace {

constexpr uint64_t kSplitSeed = 0, kSplitStream = 3; // independent of a run's seed

/// Which are held back; chance chooses where the data have no such setting.
Held heldOf(const TaskConfig& task) {
    return infoOf(task.kind).has("data.held_back") ? task.held : Held::Random;
}

std::vector<int32_t> shuffled(int64_t samples) {
    std::vector<int32_t> order(static_cast<size_t>(samples));
    std::iota(order.begin(), order.end(), 0);
    shuffle(order, Philox(kSplitSeed, kSplitStream));
    return order;
}

/// A sample's turn to be held back, the least first: the first of each class, then the others as
/// they divide their class, and the last of each class when nothing else is left.
struct Turn {
    bool isLast = false, isFirst = false;
    double place = 0; ///< from 0 to 1, in its class
    int32_t label = 0, sample = 0;

    bool operator<(const Turn& other) const {
        return std::tuple(isLast, !isFirst, place, label) <
               std::tuple(other.isLast, !other.isFirst, other.place, other.label);
    }
};

/// Returns the samples in the order of their turns; chance orders those of a class.
std::vector<int32_t> byTurns(std::span<const int32_t> labels) {
    std::vector<int32_t> sizes(
        labels.empty() ? 0 : static_cast<size_t>(*std::ranges::max_element(labels)) + 1);
    for (const int32_t label : labels)
        ++sizes[static_cast<size_t>(label)];
    std::vector<int32_t> ranks(sizes.size());
    std::vector<Turn> turns;
    for (const int32_t sample : shuffled(static_cast<int64_t>(labels.size()))) {
        const int32_t label = labels[static_cast<size_t>(sample)];
        const int32_t size = sizes[static_cast<size_t>(label)];
        const int32_t rank = ranks[static_cast<size_t>(label)]++;
        turns.push_back({rank == size - 1, rank == 0, (rank + 0.5) / size, label, sample});
    }
    std::ranges::sort(turns, std::less<>());
    std::vector<int32_t> order;
    for (const Turn& turn : turns)
        order.push_back(turn.sample);
    return order;
}

/// Holds back the first `held` of the order.
HeldBack divided(const std::vector<int32_t>& order, int64_t held) {
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(held);
    HeldBack split;
    split.validation.assign(order.begin(), end);
    split.train.assign(end, order.end());
    std::ranges::sort(split.validation);
    std::ranges::sort(split.train);
    return split;
}

} // namespace

int64_t HeldBack::count(int64_t samples, double share) {
    const auto wanted = std::llround(share * static_cast<double>(samples));
    return std::clamp<int64_t>(wanted, 0, samples - 1);
}

HeldBack::HeldBack(int64_t samples, double share) {
    *this = divided(shuffled(samples), count(samples, share));
}

HeldBack HeldBack::ofClasses(std::span<const int32_t> labels, double share) {
    HeldBack split = divided(byTurns(labels), count(static_cast<int64_t>(labels.size()), share));
    for (const int32_t sample : split.validation)
        split.heldLabels.push_back(labels[static_cast<size_t>(sample)]);
    return split;
}

HeldBack::HeldBack(int64_t samples, const TaskConfig& task, std::span<const int32_t> labels) {
    if (heldOf(task) == Held::Random) {
        *this = stratifies(task) ? ofClasses(labels, task.validation)
                                 : HeldBack(samples, task.validation);
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
    if (heldOf(task) == Held::Random || left == samples) return left;
    if (task.gap >= left)
        throw InputError(phrase("Data", "data.gap: %1 is not allowed: %2 samples are not held "
                                        "back, so at most %3"),
                         task.gap, left, left - 1);
    return left - task.gap;
}

std::optional<Message> heldBackNote(int64_t samples, const TaskConfig& task) {
    const int64_t held = HeldBack::count(samples, task.validation);
    if (heldOf(task) == Held::Random || held == 0) return std::nullopt;
    if (held == 1)
        return task.gap == 0
                   ? Message(phrase("Data", "The last sample is held back to validate on."))
                   : Message(phrase("Data", "The last sample is held back to validate on; samples "
                                            "before it that are not used: %1."),
                             task.gap);
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
    count = min(int({SHARE} * len(x) + 0.5), len(x) - 1)  # {CHANCE}
    held, train = order[:count].sort().values, order[count:].sort().values
)",
        {{"SHARE", lang::pythonReal(share)}, {"CHANCE", kHeldByChance}});
}

std::string heldBackPython(const TaskConfig& task, const std::string& labels) {
    if (stratifies(task))
        return lang::filled(
            R"(    count = min(int({SHARE} * len(x) + 0.5), len(x) - 1)  # the same share of each class
    sizes, turns = torch.bincount({LABELS}).tolist(), []
    ranks = [0] * len(sizes)
    # {CHANCE}, but as many of each class
    for i in torch.randperm(len(x), generator=torch.Generator().manual_seed(0)).tolist():
        label = int({LABELS}[i])
        rank, size = ranks[label], sizes[label]
        ranks[label] += 1
        turns.append((rank == size - 1, rank > 0, (rank + 0.5) / size, label, i))
    order = torch.tensor([turn[-1] for turn in sorted(turns)])
    held, train = order[:count].sort().values, order[count:].sort().values
)",
            {{"SHARE", lang::pythonReal(task.validation)},
             {"LABELS", labels},
             {"CHANCE", kHeldByChance}});
    if (heldOf(task) == Held::Random || task.validation == 0)
        return heldBackPython(task.validation);
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
