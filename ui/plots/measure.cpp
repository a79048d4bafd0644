// Names, axes and words of what can be plotted.
#include "ui/plots/measure.h"

#include "ui/plots/tickers.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

constexpr double kRateWindow = 0.1; // seconds
constexpr double kRateShare = 0.02; // of the time so far: short runs get about 50 points too
constexpr double kPadding = 0.06;   // of the y span, on each side
constexpr QLatin1String kLongPower("e-0");

QString tr(const char* text) { return QCoreApplication::translate("Measure", text); }

/// Numbers with as many digits as there is room for.
bool showsDigits(Measure measure) {
    return measure == Measure::Loss || measure == Measure::LearningRate ||
           measure == Measure::GradientNorm;
}

} // namespace

std::optional<double> RateMeter::add(const StepRecord& record) {
    if (!(record.deviceSeconds > 0) || !std::isfinite(record.deviceSeconds)) return std::nullopt;
    m_rate.add(record);
    m_step = record.step;
    m_total += record.deviceSeconds;
    m_window += record.deviceSeconds;
    if (m_window < std::min(kRateWindow, kRateShare * m_total)) return std::nullopt;
    return rest();
}

std::optional<double> RateMeter::rest() {
    if (m_window == 0) return std::nullopt;
    m_window = 0;
    return m_rate.perSecond();
}

QString titleOf(Measure measure) {
    switch (measure) {
    case Measure::Loss: return tr("Loss");
    case Measure::LossScale: return tr("Loss scale");
    case Measure::LearningRate: return tr("Learning rate");
    case Measure::GradientNorm: return tr("Gradient norm");
    case Measure::Throughput: return tr("Throughput (steps/s)");
    case Measure::Skipped: break;
    }
    return tr("Skipped steps");
}

QString shortTitleOf(Measure measure) {
    switch (measure) {
    case Measure::Loss: return tr("Loss");
    case Measure::LossScale: return tr("Scale");
    case Measure::LearningRate: return tr("Rate");
    case Measure::GradientNorm: return tr("Norm");
    case Measure::Throughput: return tr("Steps/s");
    case Measure::Skipped: break;
    }
    return tr("Skipped");
}

QString explanationOf(Measure measure) {
    switch (measure) {
    case Measure::Loss:
        return tr("How wrong the network is, which training makes smaller: the loss of each step's "
                  "batch, before it is scaled. The axis is logarithmic.");
    case Measure::LossScale:
        return tr("What the loss is multiplied by before the backward pass, in powers of two. It "
                  "falls at an overflow and grows after enough clean steps.");
    case Measure::LearningRate:
        return tr("The size of a step as the schedule has it, also where the step is skipped.");
    case Measure::GradientNorm:
        return tr("The length of all gradients together (L2 norm), unscaled and before they are "
                  "clipped. It is not finite where they overflow. The axis is logarithmic.");
    case Measure::Throughput:
        return tr("Steps per second of each lane: what the device needed for most of the last "
                  "second's steps. One that was held up does not count.");
    case Measure::Skipped: break;
    }
    return tr("Steps of which nothing was learnt, because a gradient was not finite; counted from "
              "the start.");
}

double stretchOf(Measure measure) {
    switch (measure) {
    case Measure::Loss: return 3;
    case Measure::LossScale: return 2;
    case Measure::LearningRate:
    case Measure::GradientNorm:
    case Measure::Throughput: return 1.5;
    case Measure::Skipped: break;
    }
    return 1.2;
}

bool isLogarithmic(Measure measure) {
    return measure == Measure::Loss || measure == Measure::LossScale ||
           measure == Measure::GradientNorm;
}

QSharedPointer<SpacedTicker> tickerOf(Measure measure) {
    switch (measure) {
    case Measure::Loss:
    case Measure::GradientNorm: return QSharedPointer<PowerTicker>::create(10);
    case Measure::LossScale: return QSharedPointer<PowerTicker>::create(2);
    case Measure::LearningRate:
    case Measure::Throughput: return QSharedPointer<PrefixTicker>::create(false);
    case Measure::Skipped: break;
    }
    return QSharedPointer<PrefixTicker>::create(true);
}

QString valueText(Measure measure, double value) {
    switch (measure) {
    case Measure::Loss:
    case Measure::LearningRate:
    case Measure::GradientNorm: return QString::number(value, 'g', 4);
    case Measure::LossScale: {
        const QString power = powerOfTwo(value);
        if (value >= 2 && value <= 16777216 && power.startsWith(QLatin1String("2^")))
            return QStringLiteral("%1 = %2").arg(value, 0, 'f', 0).arg(power);
        return value == 1 ? QStringLiteral("1") : power;
    }
    case Measure::Throughput: return withPrefix(value);
    case Measure::Skipped: break;
    }
    return QString::number(value, 'f', 0);
}

QString shortValueText(Measure measure, const QString& text) {
    static const QRegularExpression fraction(QStringLiteral("(?<=\\d\\d)\\.\\d+"));
    QString brief = text.section(QStringLiteral(" = "), -1);
    if (measure == Measure::Throughput) brief.remove(fraction);
    if (const double real = text.toDouble(); real > 0 && showsDigits(measure)) {
        brief = QString::number(real, 'g', 3);
        // no longer than "0.0123"
        if (brief.contains(u'e'))
            brief = QString::number(real, 'g', 2).replace(kLongPower, QLatin1String("e-"));
    }
    return brief;
}

QCPRange rangeOf(Measure measure, double lowest, double highest) {
    const bool empty = lowest > highest;
    switch (measure) {
    case Measure::Loss:
    case Measure::GradientNorm: {
        const double low = std::log10(empty ? 0.1 : lowest), high = std::log10(empty ? 1 : highest);
        const double pad = std::max(kPadding * (high - low), 0.02);
        return QCPRange(std::pow(10, low - pad), std::pow(10, high + pad));
    }
    case Measure::LossScale: {
        // at least two octaves, or a constant scale would have no scale to be read on
        const double low = std::floor(std::log2(empty ? 1 : lowest));
        const double high = std::max(std::ceil(std::log2(empty ? 1 : highest)), low + 1);
        return QCPRange(std::exp2(low - 0.5), std::exp2(high + 0.5));
    }
    case Measure::LearningRate:
    case Measure::Throughput:
        return QCPRange(0, empty || highest <= 0 ? 1 : highest * (1 + 2 * kPadding));
    case Measure::Skipped: break;
    }
    return QCPRange(0, std::max(empty ? 1.0 : highest, 1.0) * (1 + 3 * kPadding));
}

} // namespace halfscope
