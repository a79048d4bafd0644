// Writes numbers in the form in which they are compared.
#include "ui/models/shown_numbers.h"

#include "engine/core/percent.h"
#include "engine/runs/best_value.h"
#include "ui/models/run_model.h" // whose translations these are

#include <QLocale>

#include <cmath>

namespace halfscope {

QString listedTags(QStringList tags) {
    if (tags.size() < 2) return tags.join(QString());
    const QString last = tags.takeLast();
    return RunModel::tr("%1 and %2").arg(tags.join(QStringLiteral(", ")), last);
}

QString shownNumber(double value, int digits) {
    if (std::isnan(value)) return RunModel::tr("not a number");
    if (std::isinf(value)) return value > 0 ? RunModel::tr("infinite") : RunModel::tr("-infinite");
    value += 0.0; // never "-0", as the loss of a single class is
    // the least that four digits would write as 1e+04
    constexpr double kLarge = 9999.5, kTooLong = 1e9;
    const bool large = std::abs(value) >= kLarge && std::abs(value) < kTooLong;
    return large ? QLocale().toString(value, 'f', 0) : QLocale().toString(value, 'g', digits);
}

QString percentText(double share) {
    const double percent = 100 * share;
    if (percent > 0 && percent < 0.1) return QStringLiteral("<0.1 %");
    if (const auto least = nearlyAllPercent(share, 1))
        return QStringLiteral(">%1 %").arg(QLocale().toString(*least, 'f', 1));
    // nearly all of it is not "100 %" beside another "0.3 %"
    const bool fine = percent > 0 && (percent < 10 || (percent >= 99.5 && percent < 100));
    return QStringLiteral("%1 %").arg(QLocale().toString(percent, 'f', fine ? 1 : 0));
}

QString finePercentText(double share, int decimals) {
    const auto text = [decimals](double percent) {
        return RunModel::tr("%1 %").arg(QLocale().toString(percent, 'f', decimals));
    };
    const double percent = 100 * share, least = std::pow(10.0, -decimals);
    if (percent > 0 && percent < least) return u'<' + text(least);
    if (const auto most = nearlyAllPercent(share, decimals)) return u'>' + text(*most);
    return text(percent);
}

QString scaleText(double scale) {
    int exponent = 0;
    const bool power = std::isfinite(scale) && std::frexp(scale, &exponent) == 0.5;
    const QString asPower = power ? QStringLiteral("2^%1").arg(exponent - 1) : shownNumber(scale);
    // whole numbers that one reads at a glance are written out
    if (!(scale >= 1.0 && scale <= 16777216.0) || scale != std::floor(scale)) return asPower;
    const QString whole = QLocale().toString(scale, 'f', 0);
    return power ? QStringLiteral("%1 = %2").arg(whole, asPower) : whole;
}

QString nanOutputText() { return RunModel::tr("output is nan"); }

QString shownAccuracy(double accuracy, std::optional<double> loss) {
    return outputIsNan(accuracy, loss) ? nanOutputText() : finePercentText(accuracy);
}

QString countText(int64_t count) { return QLocale().toString(static_cast<qlonglong>(count)); }

QString samplesText(int64_t samples) {
    if (samples == 1) return RunModel::tr("1 sample");
    return RunModel::tr("%1 samples").arg(countText(samples));
}

} // namespace halfscope
