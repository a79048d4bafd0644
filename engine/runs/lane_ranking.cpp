// Compares lanes, criterion by criterion.
#include "engine/runs/lane_ranking.h"

#include "engine/runs/best_value.h"
#include "engine/runs/column.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace halfscope {

namespace {

/// Returns what ranks a value, the least first: inf when it is missing or nan.
double cost(std::optional<double> value) {
    return value && !std::isnan(*value) ? *value : std::numeric_limits<double>::infinity();
}

/// After the first, by Criterion.
std::array<double, 5> costs(const LaneScore& score) {
    const auto wrong = score.accuracy ? std::optional(1 - *score.accuracy) : std::nullopt;
    return {score.isFinite() ? 0.0 : 1.0, cost(wrong), cost(score.validationLoss), cost(score.loss),
            static_cast<double>(score.skipped)};
}

} // namespace

void LatestLosses::add(double loss) {
    if (m_losses.size() == kMost) m_losses.pop_front();
    m_losses.push_back(loss);
}

double LatestLosses::median() const {
    std::vector<double> losses(m_losses.begin(), m_losses.end());
    return medianWithNan(losses);
}

bool LaneScore::isFinite() const { return areFinite(loss, validationLoss); }

Criterion criterionOf(std::span<const LaneScore> scores) {
    const auto any = [scores](auto has) { return std::any_of(scores.begin(), scores.end(), has); };
    if (any([](const LaneScore& each) { return each.accuracy.has_value(); }))
        return Criterion::Accuracy;
    if (any([](const LaneScore& each) { return each.validationLoss.has_value(); }))
        return Criterion::ValidationLoss;
    return Criterion::Loss;
}

std::vector<size_t> ranked(std::span<const LaneScore> scores) {
    std::vector<size_t> order(scores.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [scores](size_t a, size_t b) { return costs(scores[a]) < costs(scores[b]); });
    return order;
}

Win winOf(std::span<const LaneScore> scores) {
    const auto best = costs(scores[ranked(scores).front()]);
    Win win;
    for (size_t i = 0; i < scores.size(); ++i)
        if (scores[i].isFinite()) win.contenders.push_back(i);
    for (size_t at = 1; at < best.size(); ++at) { // behind whether the losses are finite
        if (std::isinf(best[at])) continue;       // no contender has it
        std::vector<size_t> equal = win.contenders;
        std::erase_if(equal, [&](size_t i) { return costs(scores[i])[at] != best[at]; });
        const auto criterion = static_cast<Criterion>(at - 1);
        if (equal.size() == 1) {
            win.by = criterion;
            return win;
        }
        win.equal.push_back(criterion);
        win.contenders = std::move(equal);
    }
    return win;
}

} // namespace halfscope
