// Rounds down to whole units.
#include "ui/models/duration_text.h"

#include <QCoreApplication>

namespace halfscope {
namespace {

QString counted(const char* text, int n) {
    return QCoreApplication::translate("Durations", text, nullptr, n);
}

} // namespace

QString durationText(double seconds) {
    constexpr double kMinute = 60, kHour = 3600, kManyHours = 2 * kHour, kManyMinutes = 2 * kMinute;
    const auto whole = [seconds](double unit) { return static_cast<int>(seconds / unit); };
    if (seconds >= kManyHours)
        return counted(QT_TRANSLATE_N_NOOP("Durations", "%n hours"), whole(kHour));
    if (seconds >= kManyMinutes)
        return counted(QT_TRANSLATE_N_NOOP("Durations", "%n minutes"), whole(kMinute));
    if (seconds < 1) return QCoreApplication::translate("Durations", "less than a second");
    return counted(QT_TRANSLATE_N_NOOP("Durations", "%n seconds"), whole(1));
}

} // namespace halfscope
