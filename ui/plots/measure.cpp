// Names, axes and words of what can be plotted.
#include "ui/plots/measure.h"

#include "engine/runs/best_value.h"
#include "engine/runs/shown_loss.h"
#include "engine/settings/run_length.h"
#include "engine/step/schedule.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"
#include "ui/plots/tickers.h"

#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>
#include <limits>

namespace halfscope {

namespace {

constexpr double kPadding = 0.06;   // of the y span, on each side
constexpr double kBelowZero = 0.03; // of the highest count: a pixel or more, so that a line at zero
                                    // is seen
constexpr QLatin1String kLongPower("e-0");

/// Returns the translated title, or the name of a file's column, which may have any length,
/// shortened.
QString shownTitle(const Message& title) {
    constexpr size_t kMost = 40;
    return title.format().empty() ? safeText(title.english(), kMost) : translated(title);
}

/// Whether the values are counts, which have no digits after the point.
bool isCount(const Metric& metric) {
    return metric.kind == ValueKind::Integer || metric.kind == ValueKind::Flag;
}

/// Whether values are shown with as many digits as there is room for.
bool showsDigits(const Metric& metric) {
    return !isCount(metric) && metric.axis != PlotAxis::Log2 && metric.axis != PlotAxis::Rate &&
           metric.axis != PlotAxis::Share;
}

/// Whether it is a share of samples, which is compared to the last decimal.
bool isAccuracy(const Metric& metric) {
    return metric.column == knownMetrics()[metric::Accuracy].column ||
           metric.column == knownMetrics()[metric::TrainingAccuracy].column;
}

/// Whether the learning rate falls by factors, and far: on a linear axis all but the first falls
/// would lie on the lower edge. Other schedules are known by their shape on a linear axis.
bool fallsFarByFactors(RunConfig config) {
    constexpr double kFar = 20;
    config.epochs = 0; // a run knows its steps; epochs would ask its files, which may be gone
    const ScheduleKind kind = config.schedule.kind;
    if (kind != ScheduleKind::Step && kind != ScheduleKind::MultiStep &&
        kind != ScheduleKind::Exponential)
        return false;
    const ScheduleConfig schedule = scheduleOf(config);
    const int64_t highest = warmupOf(schedule); // the iteration with the highest rate
    const int64_t updates = stepsOf(config) / config.gradients.accumulate;
    const int64_t last = std::max(highest, std::min(scheduleLength(schedule), updates) - 1);
    return learningRate(schedule, 1, highest) > kFar * learningRate(schedule, 1, last);
}

} // namespace

Metric metricIn(const RunConfig& config, Metric metric) {
    const auto is = [&](MetricId id) { return metric.column == knownMetrics()[size_t(id)].column; };
    if (is(metric::LearningRate) && fallsFarByFactors(config)) metric.axis = PlotAxis::Log10;
    if (is(metric::Loss) && isAdversarial(config.model)) return shownLoss(config);
    return metric;
}

std::optional<MetricId> dottedMetric(const RunConfig& config, MetricId id) {
    if (id != metric::Loss || !isAdversarial(config.model)) return std::nullopt;
    return metric::GeneratorLoss;
}

double firstValueOf(const Metric& metric, const RunConfig& config) {
    double first = 0;
    if (metric.column != knownMetrics()[metric::Scale].column) return first;
    for (size_t lane = 0; lane < config.lanes.size(); ++lane)
        if (laneScales(config, static_cast<int>(lane)))
            first = std::max(first, static_cast<double>(config.lanes[lane].scaler.initScale));
    return first;
}

QString titleOf(const Metric& metric) {
    const QString title = shownTitle(metric.title);
    if (metric.axis == PlotAxis::Rate)
        return QCoreApplication::translate("Metric", "%1 (steps/s)").arg(title);
    return metric.unit.empty() || isCount(metric)
               ? title
               : QStringLiteral("%1 (%2)").arg(title, translated(metric.unit));
}

PlotTitles titlesOf(const Metric& metric, SpeedsShown speeds) {
    const QString whole = titleOf(metric), plain = shownTitle(metric.title),
                  brief = shownTitle(metric.shortTitle);
    const bool rate = metric.axis == PlotAxis::Rate;
    if (rate && speeds == SpeedsShown::AtTheEnd) {
        const QString words = QCoreApplication::translate("Metric", "%1 at the end");
        return {QCoreApplication::translate("Metric", "%1 at the end (steps/s)").arg(plain),
                words.arg(plain), words.arg(brief)};
    }
    if (rate && speeds == SpeedsShown::NotComparable) {
        const QString words = QCoreApplication::translate("PlotPanel", "%1: not comparable");
        return {
            QCoreApplication::translate("PlotPanel", "%1: not comparable at this pace").arg(whole),
            words.arg(plain), words.arg(brief)};
    }
    return {whole, plain, brief};
}

QString explanationOf(const Metric& metric) {
    const QString about = translated(metric.about);
    if (metric.axis == PlotAxis::Rate)
        return QCoreApplication::translate(
                   "Metric", "%1 Each point is the median speed of the last five seconds, but of "
                             "no more than the last 255 steps.")
            .arg(about);
    return metric.axis == PlotAxis::Log10
               ? QCoreApplication::translate("Metric", "%1 The axis is logarithmic.").arg(about)
               : about;
}

double stretchOf(const Metric& metric) {
    if (metric.column == knownMetrics()[metric::Loss].column) return 3;
    if (metric.axis == PlotAxis::Log2) return 2;
    return 1.5;
}

bool isLogarithmic(const Metric& metric) {
    return metric.axis == PlotAxis::Log10 || metric.axis == PlotAxis::Log2;
}

bool isStepped(const Metric& metric) { return metric.axis == PlotAxis::Log2 || isCount(metric); }

QSharedPointer<SpacedTicker> tickerOf(const Metric& metric) {
    if (isLogarithmic(metric))
        return QSharedPointer<PowerTicker>::create(metric.axis == PlotAxis::Log2 ? 2 : 10);
    if (metric.axis == PlotAxis::Share) return QSharedPointer<PercentTicker>::create();
    return QSharedPointer<PrefixTicker>::create(isCount(metric));
}

QString valueText(const Metric& metric, double value) {
    if (metric.axis == PlotAxis::Rate) return withPrefix(value);
    if (isCount(metric)) return QLocale().toString(value, 'f', 0);
    if (metric.axis == PlotAxis::Share) // as on the cards
        return isAccuracy(metric) ? finePercentText(value) : percentText(value);
    return metric.axis == PlotAxis::Log2 ? scaleText(value) : shownNumber(value);
}

QString readingText(const Curve& curve, const Metric& measured, const Curve::Reading& reading) {
    if (reading.lost) return shownNumber(reading.value);
    const bool training = curve.id() == metric::TrainingAccuracy;
    if (training || curve.id() == metric::Accuracy) {
        const MetricId loss = training ? metric::Loss : metric::ValidationLoss;
        const Column& losses = curve.run().column(curve.lane(), loss);
        if (outputIsNan(reading.value, losses.at(reading.step))) return nanOutputText();
    }
    return valueText(measured, reading.value);
}

QString shortValueText(const Metric& metric, const QString& text) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double lost : {std::nan(""), kInfinity, -kInfinity})
        if (text == shownNumber(lost)) return QString::number(lost);
    if (text == nanOutputText()) return QStringLiteral("nan");
    static const QRegularExpression fraction(QStringLiteral("(?<=\\d\\d)[.,]\\d+"));
    QString brief = text.section(QStringLiteral(" = "), -1);
    if (metric.axis == PlotAxis::Rate) brief.remove(fraction);
    const QLocale locale;
    constexpr double kLarge = 9999.5; // from there on, whole numbers are as brief
    if (bool whole = false; isAccuracy(metric)) {
        const double percent = locale.toDouble(text.section(u' ', 0, 0), &whole);
        if (whole) brief = finePercentText(percent / 100, 1); // others are brief: "<0.01 %"
    }
    const double real = locale.toDouble(text);
    if (real > 0 && real < kLarge && showsDigits(metric)) {
        brief = locale.toString(real, 'g', 3);
        // no longer than "0.0123"
        if (brief.contains(u'e', Qt::CaseInsensitive))
            brief = locale.toString(real, 'g', 2)
                        .replace(kLongPower, QLatin1String("e-"), Qt::CaseInsensitive);
    }
    return brief;
}

QCPRange rangeOf(const Metric& metric, double lowest, double highest) {
    const bool empty = lowest > highest;
    if (metric.axis == PlotAxis::Log10) {
        const double low = std::log10(empty ? 0.1 : lowest), high = std::log10(empty ? 1 : highest);
        const double pad = std::max(kPadding * (high - low), 0.02);
        return QCPRange(std::pow(10, low - pad), std::pow(10, high + pad));
    }
    if (metric.axis == PlotAxis::Log2) {
        // at least two octaves, or a constant scale would have no scale to be read on
        const double low = std::floor(std::log2(empty ? 1 : lowest));
        const double high = std::max(std::ceil(std::log2(empty ? 1 : highest)), low + 1);
        // of scales far apart, the lowest must not lie on the axis
        const double pad = std::max(0.5, kPadding * (high - low));
        return QCPRange(std::exp2(low - pad), std::exp2(high + pad));
    }
    if (isCount(metric)) {
        const double top = std::max(empty ? 1.0 : highest, 1.0);
        return QCPRange(-kBelowZero * top, top * (1 + 3 * kPadding));
    }
    if (metric.axis == PlotAxis::Share && !empty) {
        const double pad = std::max(2 * kPadding * (highest - lowest), 0.005);
        return QCPRange(std::max(lowest - pad, 0.0), std::min(highest + pad, 1 + pad));
    }
    // from zero, or from below it for a metric that only a file knows
    if (empty || (highest <= 0 && lowest >= 0)) return QCPRange(0, 1);
    return QCPRange(std::min(lowest, 0.0) * (1 + 2 * kPadding),
                    std::max(highest, 0.0) * (1 + 2 * kPadding));
}

} // namespace halfscope
