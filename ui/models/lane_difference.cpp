// Accuracies are compared in points, and errors by their ratio.
#include "ui/models/lane_difference.h"

#include "ui/models/shown_numbers.h"

#include <QLocale>

#include <cmath>
#include <optional>

namespace halfscope {

namespace {

/// What is compared.
struct Compared {
    QString name;       ///< "validation loss"
    bool share = false; ///< it is from 0 to 1, and compared in points
    double near = 0;    ///< distances below this one count as none
    /// Where the figure is; null for the median of the last losses.
    std::optional<double> LaneStatus::*figure = nullptr;
};

/// How far a lane is from the first one.
struct Distance {
    int lane = 0;
    double points = 0; ///< of shares
    double ratio = 1;  ///< of others
    double size = 0;   ///< to find the farthest
};

std::optional<double> figureOf(const RunModel& run, const Compared& of, int lane) {
    const LaneStatus& status = run.lane(lane);
    // what was before the loss was lost tells nothing
    if (status.skips.lossLostAt() > 0 || std::isnan(status.last.loss())) return std::nullopt;
    if (of.share && status.outputIsNan()) return std::nullopt;
    if (of.figure) return status.*of.figure;
    // those of two critics say nothing
    return isAdversarial(run.run()->info().config.model) ? std::nullopt : run.medianLoss(lane);
}

/// Returns the digits of a number up to a million that tell, without a power of ten.
QString rounded(double x) {
    constexpr double kTwoDigits = 99.5;
    return x < kTwoDigits ? shownNumber(x, 2) : QLocale().toString(x, 'f', 0);
}

Compared comparedIn(const RunModel& run) {
    const LaneStatus& first = run.lane(0);
    constexpr double kPoints = 0.005, kOfHeldBack = 0.001; // below what is shown
    constexpr double kOfBatches = 0.01;                    // the median of a few losses moves
    if (first.accuracy)
        return {RunModel::tr("validation accuracy"), true, kPoints, &LaneStatus::accuracy};
    if (first.validationError)
        return {RunModel::tr("validation error"), false, kOfHeldBack, &LaneStatus::validationError};
    if (first.validationLoss)
        return {RunModel::tr("validation loss"), false, kOfHeldBack, &LaneStatus::validationLoss};
    return {RunModel::tr("median loss"), false, kOfBatches};
}

/// Returns nothing where one of the figures is none, or has no ratio.
std::optional<Distance> distanceOf(const RunModel& run, const Compared& of, int lane) {
    const std::optional<double> a = figureOf(run, of, 0), b = figureOf(run, of, lane);
    if (!a || !b || !std::isfinite(*a) || !std::isfinite(*b)) return std::nullopt;
    if (of.share) {
        const double points = 100 * (*b - *a);
        return Distance{lane, points, 1, std::abs(points)};
    }
    if (*a <= 0 || *b <= 0) return std::nullopt;
    const double ratio = *b / *a;
    return Distance{lane, 0, ratio, std::abs(std::log(ratio))};
}

/// Returns how far a lane is from the first one, which it must be: "3 % higher than A's".
QString amount(const Compared& of, const Distance& by) {
    constexpr double kFar = 3, kLittle = 0.1; // beyond them, a ratio is easier to read
    constexpr double kMost = 1e6, kLeast = 1e-4;
    const QString a = laneTag(0);
    if (of.share)
        return (by.points < 0 ? RunModel::tr("%1 points below %2's")
                              : RunModel::tr("%1 points above %2's"))
            .arg(QLocale().toString(std::abs(by.points), 'f', 2), a);
    if (by.ratio > kMost) return RunModel::tr("more than a million times %1's").arg(a);
    if (by.ratio < kLeast) return RunModel::tr("less than 0.01 % of %1's").arg(a);
    if (by.ratio >= kFar) return RunModel::tr("%1 times %2's").arg(rounded(by.ratio), a);
    if (by.ratio <= kLittle) return RunModel::tr("%1 % of %2's").arg(rounded(100 * by.ratio), a);
    return (by.ratio < 1 ? RunModel::tr("%1 % lower than %2's")
                         : RunModel::tr("%1 % higher than %2's"))
        .arg(rounded(100 * std::abs(by.ratio - 1)), a);
}

} // namespace

QString differenceText(const RunModel& run) {
    if (run.lanes() < 2) return {};
    const Compared of = comparedIn(run);
    Distance farthest;
    bool alone = true; // no other lane is as far
    for (int lane = 1; lane < run.lanes(); ++lane) {
        const std::optional<Distance> by = distanceOf(run, of, lane);
        if (!by) return {}; // what has become nan is farther than all others
        if (by->size < farthest.size) continue;
        alone = by->size > farthest.size;
        farthest = *by;
    }
    const bool several = run.lanes() > 2;
    if (farthest.size >= of.near)
        return (!several ? RunModel::tr(" %1's %2 is %3.")
                : alone  ? RunModel::tr(" %1 is farthest from %4: its %2 is %3.")
                         : RunModel::tr(" No lane is farther from %4 than %1: its %2 is %3."))
            .arg(laneTag(farthest.lane), of.name, amount(of, farthest), laneTag(0));
    if (several)
        return (farthest.size == 0 ? RunModel::tr(" All lanes have the same %1.")
                                   : RunModel::tr(" All lanes have nearly the same %1."))
            .arg(of.name);
    return (farthest.size == 0 ? RunModel::tr(" %1 and %2 have the same %3.")
                               : RunModel::tr(" %1 and %2 have nearly the same %3."))
        .arg(laneTag(0), laneTag(1), of.name);
}

} // namespace halfscope
