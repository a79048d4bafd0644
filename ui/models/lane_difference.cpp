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
    if (of.share) return status.outputIsNan() ? std::nullopt : status.accuracy;
    if (status.validationError) return status.validationError;
    if (status.validationLoss) return status.validationLoss;
    // those of two critics say nothing
    return isAdversarial(run.run()->info().config.model) ? std::nullopt : run.medianLoss(lane);
}

/// Returns two digits, but no power of ten.
QString rounded(double x) {
    constexpr double kTwoDigits = 99.5, kLong = 1e6;
    return x < kTwoDigits || x >= kLong ? shownNumber(x, 2) : QLocale().toString(x, 'f', 0);
}

Compared comparedIn(const RunModel& run) {
    const LaneStatus& first = run.lane(0);
    constexpr double kPoints = 0.005, kOfHeldBack = 0.001; // below what is shown
    constexpr double kOfBatches = 0.01;                    // the median of a few losses moves
    if (first.accuracy) return {RunModel::tr("validation accuracy"), true, kPoints};
    if (first.validationError) return {RunModel::tr("validation error"), false, kOfHeldBack};
    if (first.validationLoss) return {RunModel::tr("validation loss"), false, kOfHeldBack};
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

/// Says how far the lane is from the first one, which it must be. Of several lanes, it is the one
/// that is farthest.
QString farText(const Compared& of, const Distance& by, bool several) {
    constexpr double kFar = 3, kLittle = 0.1; // beyond them, a ratio is easier to read
    const QString a = laneTag(0), b = laneTag(by.lane);
    if (of.share) {
        const QString points = QLocale().toString(std::abs(by.points), 'f', 2);
        if (several)
            return (by.points < 0
                        ? RunModel::tr(" %1 is farthest from %2: its %4 is %3 points lower.")
                        : RunModel::tr(" %1 is farthest from %2: its %4 is %3 points higher."))
                .arg(b, a, points, of.name);
        return (by.points < 0 ? RunModel::tr(" %1's %4 is %3 points below %2's.")
                              : RunModel::tr(" %1's %4 is %3 points above %2's."))
            .arg(b, a, points, of.name);
    }
    if (by.ratio >= kFar)
        return (several ? RunModel::tr(" %1 is farthest from %2: its %4 is %3 times %2's.")
                        : RunModel::tr(" %1's %4 is %3 times %2's."))
            .arg(b, a, rounded(by.ratio), of.name);
    if (by.ratio <= kLittle)
        return (several ? RunModel::tr(" %1 is farthest from %2: its %4 is %3 % of %2's.")
                        : RunModel::tr(" %1's %4 is %3 % of %2's."))
            .arg(b, a, rounded(100 * by.ratio), of.name);
    const QString percent = rounded(100 * std::abs(by.ratio - 1));
    if (several)
        return (by.ratio < 1 ? RunModel::tr(" %1 is farthest from %2: its %4 is %3 % lower.")
                             : RunModel::tr(" %1 is farthest from %2: its %4 is %3 % higher."))
            .arg(b, a, percent, of.name);
    return (by.ratio < 1 ? RunModel::tr(" %1's %4 is %3 % lower than %2's.")
                         : RunModel::tr(" %1's %4 is %3 % higher than %2's."))
        .arg(b, a, percent, of.name);
}

} // namespace

QString differenceText(const RunModel& run) {
    if (run.lanes() < 2) return {};
    const Compared of = comparedIn(run);
    Distance farthest;
    for (int lane = 1; lane < run.lanes(); ++lane) {
        const std::optional<Distance> by = distanceOf(run, of, lane);
        if (!by) return {}; // what has become nan is farther than all others
        if (by->size >= farthest.size) farthest = *by;
    }
    const bool several = run.lanes() > 2;
    if (farthest.size >= of.near) return farText(of, farthest, several);
    if (several)
        return (farthest.size == 0 ? RunModel::tr(" All lanes have the same %1.")
                                   : RunModel::tr(" All lanes have nearly the same %1."))
            .arg(of.name);
    return (farthest.size == 0 ? RunModel::tr(" %1 and %2 have the same %3.")
                               : RunModel::tr(" %1 and %2 have nearly the same %3."))
        .arg(laneTag(0), laneTag(1), of.name);
}

} // namespace halfscope
