// Values are compared as pairs: what kind of value it is, then the value.
#include "engine/runs/run_score.h"

#include "engine/runs/best_value.h"
#include "engine/runs/metrics.h"

#include <cmath>
#include <functional>
#include <tuple>

namespace halfscope {
namespace {

/// Keeps the better value; nan is worse than all others.
template <class Better>
void keep(std::optional<double>& best, const std::optional<double>& value, Better better) {
    if (value && (!best || std::isnan(*best) || better(*value, *best))) best = value;
}

/// Returns what is smaller for a better validation.
std::tuple<int, double, double> placeOf(const RunScore& score) {
    const bool lost = !score.validationLoss || std::isnan(*score.validationLoss);
    const double loss = lost ? std::numeric_limits<double>::infinity() : *score.validationLoss;
    if (score.accuracy && !std::isnan(*score.accuracy)) return {0, -*score.accuracy, loss};
    if (!lost) return {1, loss, 0};
    return {score.validationLoss || score.accuracy ? 2 : 3, 0, 0};
}

} // namespace

double trailingLoss(const RunSnapshot& run, int lane) {
    return run.trailingMedian(lane, metric::Loss, kTrailingSteps);
}

RunScore scoreOf(std::span<const LaneFigures> lanes) {
    RunScore score;
    std::optional<double> loss;
    for (const LaneFigures& lane : lanes) {
        std::optional<double> judged = lane.validationLoss;
        const bool diverged = !areFinite(lane.loss, judged);
        if (!diverged) keep(score.accuracy, lane.accuracy, std::greater<>());
        if (diverged && judged) judged = std::numeric_limits<double>::quiet_NaN();
        keep(score.validationLoss, judged, std::less<>());
        keep(loss, lane.loss, std::less<>());
    }
    score.loss = loss.value_or(score.loss);
    return score;
}

RunScore scoreOf(const RunSnapshot& run) { return scoreOf(figuresOf(run).lanes); }

bool validatesBetter(const RunScore& score, const RunScore& other) {
    return placeOf(score) < placeOf(other);
}

bool losesLess(const RunScore& score, const RunScore& other) {
    if (std::isnan(score.loss) || std::isnan(other.loss))
        return !std::isnan(score.loss) && std::isnan(other.loss);
    return score.loss < other.loss;
}

} // namespace halfscope
