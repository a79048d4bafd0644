// Places and labels of ticks.
#include "ui/plots/tickers.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace halfscope {

namespace {
/// Returns the next smaller of the steps 1, 2 and 5 times a power of ten; for 2.5 that is 1, as 2
/// would hardly give more ticks.
double finer(double step) {
    const double power = std::pow(10, std::floor(std::log10(step) + 1e-9));
    const double first = step / power;
    return power * (first > 5.01 ? 5 : first > 2.51 ? 2 : first > 1.01 ? 1 : 0.5);
}

/// Returns the next larger of these steps.
double coarser(double step) {
    const double power = std::pow(10, std::floor(std::log10(step) + 1e-9));
    const double first = step / power;
    return power * (first < 1.99 ? 2 : first < 4.99 ? 5 : 10);
}

constexpr qsizetype kLabelRoom = 7; // characters, see placeMargins()

/// Returns the label of a round number between others that may be close to it: three digits, or as
/// many more as it has and there is room for.
QString tickNumberIn(double value, qsizetype room) {
    constexpr int kLeastDigits = 3, kMostDigits = 7; // a float32 has no more
    // not 5e+04 below a header that says 52,340
    if (std::abs(value) >= 1e3 && std::abs(value) < 1e6 && value == std::round(value))
        return QLocale().toString(value, 'f', 0);
    const auto isExact = [value](int digits) {
        const double written = QString::number(value, 'g', digits).toDouble();
        return std::abs(written - value) <= 1e-9 * std::abs(value);
    };
    int digits = kLeastDigits;
    while (digits < kMostDigits && !isExact(digits))
        ++digits;
    QString text = QLocale().toString(value, 'g', digits);
    while (digits > kLeastDigits && text.size() > room)
        text = QLocale().toString(value, 'g', --digits);
    return text;
}

QString tickNumber(double value) { return tickNumberIn(value, kLabelRoom); }

bool isPower(const QString& number) { return number.contains(u'e', Qt::CaseInsensitive); }

/// Returns "1e+05", or "1.5e-04" with as many digits as it has, up to three.
QString asPower(double value) {
    constexpr int kMostDecimals = 2;
    int decimals = 0;
    while (decimals < kMostDecimals && std::abs(QString::number(value, 'e', decimals).toDouble() -
                                                value) > 1e-9 * std::abs(value))
        ++decimals;
    return QLocale().toString(value, 'e', decimals);
}

/// Writes the number before the prefix with `text`.
QString prefixed(double value, QString (*text)(double)) {
    constexpr std::array<const char*, 4> kPrefixes{"", "k", "M", "G"};
    size_t prefix = 0;
    // 999.5 would be written as "1e+03" with three digits
    while (std::abs(value) >= 999.5 && prefix + 1 < kPrefixes.size()) {
        value /= 1000;
        ++prefix;
    }
    return text(value) + QLatin1String(kPrefixes[prefix]);
}

/// Returns 1, 2, 5, 10, 20, 50 for the decades 1 and 10.
QVector<double> withHalves(const QVector<double>& decades) {
    QVector<double> ticks;
    for (const double decade : decades)
        ticks << decade << 2 * decade << 5 * decade;
    return ticks;
}

QString stepLabel(double step) {
    // the plot's own locale omits thousands separators
    return QLocale().toString(static_cast<qint64>(std::llround(step)));
}
} // namespace

QString shortNumber(double value) { return QLocale().toString(value, 'g', 3); }

QString withPrefix(double value) { return prefixed(value, shortNumber); }

QString powerOfTwo(double value) {
    int exponent = 0;
    if (value > 0 && std::frexp(value, &exponent) == 0.5)
        return QStringLiteral("2^%1").arg(exponent - 1);
    return shortNumber(value);
}

double StepTicker::getTickStep(const QCPRange& range) {
    // a step of 2.5 would put the label 3 beside its place
    double step = std::max(1.0, std::floor(QCPAxisTicker::getTickStep(range)));
    while (step < m_labelShare * range.size())
        step = coarser(step);
    return step;
}

QString StepTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return stepLabel(tick);
}

void showSteps(QCPAxis& axis, double from, double to) {
    axis.setRange(from, to);
    const QFontMetrics metrics(axis.tickLabelFont());
    // the numbers at the ends are the longest
    const int widest = std::max(metrics.horizontalAdvance(stepLabel(from)),
                                metrics.horizontalAdvance(stepLabel(to)));
    const double needed = widest + metrics.horizontalAdvance(QStringLiteral("  "));
    if (const auto ticker = axis.ticker().dynamicCast<StepTicker>())
        ticker->setLabelShare(needed / std::max(1, axis.axisRect()->width()));
}

template <class Place>
QVector<double> SpacedTicker::spaced(const QVector<double>& ticks, const QCPRange& range, Keep keep,
                                     Place place) const {
    const double needed = m_labelShare * (place(range.upper) - place(range.lower));
    QVector<double> kept;
    for (qsizetype i = 0; i < ticks.size(); ++i) {
        const double tick = keep == Keep::Lowest ? ticks[i] : ticks[ticks.size() - 1 - i];
        if (!range.contains(tick)) continue; // has no label that could touch another
        if (kept.isEmpty() || std::abs(place(tick) - place(kept.back())) >= needed)
            kept.append(tick);
    }
    if (keep == Keep::Highest) std::reverse(kept.begin(), kept.end());
    return kept;
}

void SpacedTicker::fitIn(int height, const QFont& font) {
    constexpr int kGap = 3; // pixels between the digits of two labels
    const QFontMetrics metrics(font);
    const int digits = metrics.tightBoundingRect(QStringLiteral("0123456789")).height();
    height = std::max(1, height);
    const bool low = height < 3 * metrics.height();
    setTickCount(std::clamp(height * 2 / (3 * metrics.height()), 1, 5));
    setLabelShare(static_cast<double>(low ? digits + kGap : metrics.height()) / height);
}

QVector<QString> SpacedTicker::createLabelVector(const QVector<double>& ticks,
                                                 const QLocale& locale, QChar form, int digits) {
    QVector<QString> labels = QCPAxisTicker::createLabelVector(ticks, locale, form, digits);
    if (std::none_of(labels.begin(), labels.end(), isPower)) return labels;
    const QString zero = shortNumber(0), one = shortNumber(1);
    for (qsizetype i = 0; i < labels.size(); ++i)
        if (labels[i] != zero && labels[i] != one) labels[i] = asPower(ticks[i]);
    return labels;
}

template <class Ticks>
QVector<double> SpacedTicker::atLeastTwo(double step, double least, Ticks ticks) {
    constexpr int kTries = 3; // yet smaller steps have labels that nobody expects
    QVector<double> best = ticks(step);
    for (int i = 0; i < kTries && best.size() < 2; ++i) {
        step = finer(step);
        if (step < least) break;
        if (const QVector<double> more = ticks(step); more.size() > best.size()) best = more;
    }
    return best;
}

QVector<double> PrefixTicker::createTickVector(double step, const QCPRange& range) {
    // a plot too low for two labels shows its highest figure rather than zero
    return atLeastTwo(step, m_wholeNumbers ? 1 : 0, [&](double each) {
        return spaced(QCPAxisTicker::createTickVector(each, range), range, Keep::Highest,
                      [](double value) { return value; });
    });
}

double PrefixTicker::getTickStep(const QCPRange& range) {
    double step = QCPAxisTicker::getTickStep(range);
    if (step > range.upper && range.upper > 0) {
        // zero alone would say nothing: 1, 2 or 5 times a power of ten that is in range
        const double power = std::pow(10, std::floor(std::log10(range.upper)));
        const double first = range.upper / power;
        step = power * (first >= 5 ? 5 : first >= 2 ? 2 : 1);
    }
    return m_wholeNumbers ? std::max(1.0, std::ceil(step)) : step;
}

QString PrefixTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    // a multiple of the step that should be zero may come out as 1e-17
    return prefixed(std::abs(tick) < 1e-12 ? 0 : tick, tickNumber);
}

QString PercentTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    const QString sign = QStringLiteral(" %");
    const double percent = std::abs(tick) < 1e-12 ? 0 : 100 * tick; // as above
    return tickNumberIn(percent, kLabelRoom - sign.size()) + sign;
}

void PowerTicker::setEnds(double lowest, double highest) {
    m_ends.clear();
    for (const double end : {lowest, highest}) {
        int exponent = 0;
        if (std::frexp(end, &exponent) == 0.5 && !m_ends.contains(end)) m_ends.append(end);
    }
}

QVector<double> PowerTicker::createTickVector(double, const QCPRange& range) {
    if (!(range.lower > 0) || !std::isfinite(range.upper)) return {};
    const auto place = [](double value) { return std::log(value); };
    const double logBase = std::log(m_base);
    const double low = std::log(range.lower) / logBase, high = std::log(range.upper) / logBase;
    if (m_base == 10 && high - low < 1) {
        // inside a decade: even steps read better than a single power, but all of them may lie near
        // the upper end
        const auto spread = [](const QVector<double>& ticks) {
            return ticks.isEmpty() ? 0 : std::log(ticks.back() / ticks.front());
        };
        const QVector<double> even =
            atLeastTwo(QCPAxisTicker::getTickStep(range), 0, [&](double step) {
                return spaced(QCPAxisTicker::createTickVector(step, range), range, Keep::Lowest,
                              place);
            });
        const QVector<double> round = spaced(powers(1, low, high), range, Keep::Lowest, place);
        return spread(round) > spread(even) + 1e-9 ? round : even;
    }
    QVector<double> best;
    const double coarsest = (high - low) / tickCount();
    // of two, every 2nd, 4th, 8th or 16th power: nobody counts in seventeens
    const bool doubles = m_base == 2;
    int stride = 1;
    while (stride < coarsest)
        stride = doubles ? 2 * stride : stride + 1;
    for (; stride > 0 && best.size() < 2; stride = doubles ? stride / 2 : stride - 1)
        if (const QVector<double> ticks =
                spaced(powers(stride, low, high), range, Keep::Lowest, place);
            ticks.size() > best.size())
            best = ticks;
    // a plot too low for two decades may be high enough for 0.0005 and 0.02
    if (m_base == 10 && best.size() < 2)
        if (const QVector<double> ticks =
                spaced(withHalves(powers(1, low, high)), range, Keep::Lowest, place);
            ticks.size() > best.size())
            best = ticks;
    if (m_ends.isEmpty()) return best;
    const QVector<double> coarse = withEnds(best, range);
    if (coarse.size() > 2) return coarse;
    // the ends alone: half the stride may have a label between them
    const QVector<double> fine =
        withEnds(spaced(powers(std::max(1, stride), low, high), range, Keep::Lowest, place), range);
    return fine.size() > coarse.size() ? fine : coarse;
}

/// Returns the ends, and those of the ticks whose labels touch none of theirs.
QVector<double> PowerTicker::withEnds(const QVector<double>& ticks, const QCPRange& range) const {
    QVector<double> kept;
    for (const double end : m_ends)
        if (range.contains(end)) kept.append(end);
    const double needed = labelShare() * std::log(range.upper / range.lower);
    const auto touches = [&](double tick) {
        return std::any_of(kept.begin(), kept.end(), [&](double each) {
            return std::abs(std::log(tick / each)) < std::max(needed, 1e-9);
        });
    };
    if (kept.size() > 1 && std::log(kept[1] / kept[0]) < needed) return ticks;
    for (const double tick : ticks)
        if (!touches(tick)) kept.append(tick);
    std::sort(kept.begin(), kept.end());
    return kept.size() < 2 ? ticks : kept; // one label does not say how far apart values are
}

/// Returns multiples of the stride, so that ticks stay in place while the range moves.
QVector<double> PowerTicker::powers(int stride, double low, double high) const {
    QVector<double> ticks;
    const int firstTick = static_cast<int>(std::floor(low / stride)) * stride;
    for (int exponent = firstTick; exponent <= high + stride; exponent += stride)
        ticks.append(std::pow(m_base, exponent));
    return m_base == 10 && high - low < 2 ? withHalves(ticks) : ticks;
}

QString PowerTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return m_base == 2 ? powerOfTwo(tick) : tickNumber(tick);
}

} // namespace halfscope
