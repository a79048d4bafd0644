// Accuracies are compared in points, and errors by their ratio.
#include "ui/models/lane_difference.h"

#include "ui/models/shown_numbers.h"

#include <QLocale>

#include <cmath>

namespace halfscope {

namespace {

/// What is compared, and its words.
struct Compared {
    double a = NAN, b = NAN;
    QString same, less, more, times; ///< "less": %1 is B, %2 is A, %3 by how much
};

QString pointsText(const Compared& of, const QString& first, const QString& second) {
    const double points = 100 * (of.b - of.a);
    if (std::abs(points) < 0.005) return of.same.arg(second, first);
    const QString by = QLocale().toString(std::abs(points), 'f', 2);
    return (points < 0 ? of.less : of.more).arg(second, first, by);
}

QString ratioText(const Compared& of, const QString& first, const QString& second) {
    constexpr double kNear = 0.001, kFar = 3;
    const double ratio = of.b / of.a;
    if (!std::isfinite(ratio) || of.a <= 0 || of.b < 0) return {};
    if (std::abs(ratio - 1) < kNear) return of.same.arg(second, first);
    if (ratio >= kFar) return of.times.arg(second, first, shownNumber(ratio, 2));
    const QString by = shownNumber(100 * std::abs(ratio - 1), 2);
    return (ratio < 1 ? of.less : of.more).arg(second, first, by);
}

} // namespace

QString differenceText(const RunModel& run) {
    if (run.lanes() != 2) return {};
    const LaneStatus &a = run.lane(0), &b = run.lane(1);
    const QString first = laneTag(0), second = laneTag(1);
    if (a.accuracy && b.accuracy) {
        if (a.outputIsNan() || b.outputIsNan()) return {};
        return pointsText({*a.accuracy,
                           *b.accuracy,
                           RunModel::tr(" %2 and %1 have the same validation accuracy."),
                           RunModel::tr(" %1's validation accuracy is %3 points below %2's."),
                           RunModel::tr(" %1's validation accuracy is %3 points above %2's."),
                           {}},
                          first, second);
    }
    if (a.validationError && b.validationError)
        return ratioText({*a.validationError, *b.validationError,
                          RunModel::tr(" %2 and %1 have nearly the same validation error."),
                          RunModel::tr(" %1's validation error is %3 % lower than %2's."),
                          RunModel::tr(" %1's validation error is %3 % higher than %2's."),
                          RunModel::tr(" %1's validation error is %3 times %2's.")},
                         first, second);
    if (!a.validationLoss || !b.validationLoss) return {};
    return ratioText({*a.validationLoss, *b.validationLoss,
                      RunModel::tr(" %2 and %1 have nearly the same validation loss."),
                      RunModel::tr(" %1's validation loss is %3 % lower than %2's."),
                      RunModel::tr(" %1's validation loss is %3 % higher than %2's."),
                      RunModel::tr(" %1's validation loss is %3 times %2's.")},
                     first, second);
}

} // namespace halfscope
