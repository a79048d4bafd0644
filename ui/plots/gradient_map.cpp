// Axis, header and words of the plot of gradients over time.
#include "ui/plots/gradient_map.h"

#include "ui/look/owned.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"
#include "ui/models/shown_numbers.h"
#include "ui/plots/axis_colors.h"
#include "ui/plots/gradient_map_item.h"
#include "ui/plots/readout_item.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <vector>

namespace halfscope {

namespace {

using Counts = MagnitudeCounts;

constexpr double kBeyond = 0.05; // the share of values that "mostly" leaves out, at either end

/// Returns the exponent of the power of two below which the share `part` of the finite values lies.
int quantile(const GradientShares& shares, double part, double all) {
    double sum = 0;
    int bucket = 0;
    for (; bucket < Counts::kBuckets - 1; ++bucket) {
        sum += static_cast<double>(shares.buckets[static_cast<size_t>(bucket)]);
        if (sum >= part * all) break;
    }
    return Counts::kLowest + bucket;
}

/// Whether "mostly" would mislead, because it leaves the zeros out.
bool mostAreZero(const GradientShares& shares) { return static_cast<double>(shares.zeros) > 0.5; }

/// Puts the powers between which most gradients lie in place of %1 and %2. Returns an empty text
/// when no gradient is finite.
QString mostIn(const QString& phrase, const GradientShares& shares) {
    const double finite = shares.between(Counts::kLowest, Counts::kLowest + Counts::kBuckets);
    if (finite <= 0) return {};
    return phrase.arg(quantile(shares, kBeyond, finite))
        .arg(quantile(shares, 1 - kBeyond, finite) + 1);
}

/// Returns the figures in ever fewer words, first with `when` behind them.
QStringList textsOf(const GradientShares& shares, std::optional<DType> type, const QString& when) {
    const QStringList parts =
        gradientFigures(shares, type ? std::optional(*type == DType::F16) : std::nullopt);
    const QString all = parts.join(QStringLiteral(", "));
    QStringList texts{all};
    if (!when.isEmpty()) texts.prepend(all + when);
    if (parts.size() > 1) texts << parts.first(2).join(QStringLiteral(", "));
    texts << parts.first();
    if (!mostAreZero(shares))
        texts << mostIn(QCoreApplication::translate("GradientMap", "2^%1 to 2^%2"), shares);
    texts.removeAll(QString());
    return texts;
}

} // namespace

QStringList gradientFigures(const GradientShares& shares, std::optional<bool> half) {
    const auto infinite = static_cast<double>(shares.notFinite);
    const QString zeros = QCoreApplication::translate("GradientMap", "%1 zero")
                              .arg(percentText(static_cast<double>(shares.zeros)));
    const bool zerosFirst = mostAreZero(shares);
    QStringList parts;
    if (zerosFirst) parts << zeros;
    const QString most = mostIn(
        zerosFirst ? QCoreApplication::translate("GradientMap", "the rest mostly 2^%1 to 2^%2")
                   : QCoreApplication::translate("GradientMap", "mostly 2^%1 to 2^%2"),
        shares);
    if (!most.isEmpty()) parts << most;
    if (infinite > 0)
        parts << QCoreApplication::translate("GradientMap", "%1 inf or nan")
                     .arg(percentText(infinite));
    if (half == true) {
        if (const double few = shares.between(kHalfZero, kHalfNormal); few > 0)
            parts << QCoreApplication::translate("GradientMap", "%1 subnormal in fp16")
                         .arg(percentText(few));
    } else if (half == false) {
        const double lost = shares.between(Counts::kLowest, kHalfZero);
        const double large = shares.between(kHalfInfinite, Counts::kLowest + Counts::kBuckets);
        if (large > 0)
            parts << QCoreApplication::translate("GradientMap", "in fp16: %1 inf")
                         .arg(percentText(large));
        if (lost > 0)
            parts << QCoreApplication::translate("GradientMap", "%1 round to 0 in fp16")
                         .arg(percentText(lost));
    }
    if (!zerosFirst) parts << zeros;
    return parts;
}

GradientMap::GradientMap(QCustomPlot& plot, QCPAxisRect& rect, QCPLayer& overlay)
    : StackedPlot(rect), m_plot(plot), m_item(make<GradientMapItem>(plot, rect)),
      m_readout(make<ReadoutItem>(plot, rect)),
      m_ticker(QSharedPointer<QCPAxisTickerText>::create()) {
    m_readout->setLayer(&overlay);
    m_readout->giveWay(); // its figures tell more, and its button names the lane
    setUpAxes();
    QCPAxis* value = m_rect.axis(QCPAxis::atLeft);
    value->setTicker(m_ticker);
    value->setRange(GradientMapItem::kBottom, GradientMapItem::kTop);
    value->grid()->setVisible(false); // the limits of fp16 take the place of grid lines
}

GradientMap::~GradientMap() {
    m_plot.removeItem(m_item);
    m_plot.removeItem(m_readout);
}

QString GradientMap::title() const {
    return QCoreApplication::translate("GradientMap", "Gradients over time");
}

QString GradientMap::explanation() const {
    return QCoreApplication::translate(
        "GradientMap",
        "The gradients of one lane, times its loss scale, by power of two: the darker, the "
        "larger the share. The lowest strip shows zeros, the highest inf and nan, in red "
        "where a step was skipped. Dotted lines: below 2^-25 fp16 rounds to zero, below "
        "2^-14 it keeps fewer digits, and from 2^16 on it has no finite values. Between two "
        "counted steps the last count is shown, shifted with the loss scale. Unless you point at "
        "a step, the figures are those of the last count, as in the view of the gradients. "
        "\"Mostly\" means nine tenths of the gradients that are neither zero nor inf.");
}

void GradientMap::setLane(std::shared_ptr<const Run> run, int lane, const QString& label) {
    m_lane = lane;
    m_label = label;
    m_run = std::move(run);
    m_item->setColors(m_colors, lane);
}

void GradientMap::renameLanes(const QStringList& labels) { m_label = labels.value(m_lane); }

void GradientMap::keepFree(int width) { m_readout->keepFree(width); }

bool GradientMap::update(double from, double to, int pixels) {
    m_item->setVisible(!folded());
    if (folded() || !m_run) return true;
    placeTicks();
    m_item->setHistory(history(), from, to, pixels);
    m_item->setNote(noteOfEmpty());
    return true;
}

/// The header tells of the last count, and the picture would be blank without a reason.
QStringList GradientMap::noteOfEmpty() const {
    if (!history().empty() || history().isSaved() || m_run->step() < 1) return {};
    const QString when = QCoreApplication::translate(
        "GradientMap", "Gradients are counted only while this view is open.");
    const QString full =
        m_run->now().info().outcome
            ? QCoreApplication::translate("GradientMap", "%1 Continue counts those of further "
                                                         "steps.")
            : QCoreApplication::translate("GradientMap",
                                          "%1 They appear here from the next step on.");
    return {full.arg(when), when};
}

/// Sets the labels that there is room for, the most telling first.
void GradientMap::placeTicks() {
    struct Tick {
        double at;
        QString label;
    };
    using Item = GradientMapItem;
    const auto power = [](int exponent) {
        return Tick{static_cast<double>(exponent), QStringLiteral("2^%1").arg(exponent)};
    };
    const Tick ticks[] = {
        {(Item::kInfBottom + Item::kTop) / 2.0, QCoreApplication::translate("GradientMap", "inf")},
        {(Item::kBottom + Item::kZerosTop) / 2.0, QCoreApplication::translate("GradientMap", "0")},
        power(kHalfNormal),
        power(0),
        power(kHalfZero),
        power(kHalfInfinite)};
    const double row = m_rect.height() / double{Item::kTop - Item::kBottom};
    const int line = QFontMetrics(m_plot.font()).height();
    m_ticker->clear();
    std::vector<double> taken;
    for (const Tick& tick : ticks) {
        const bool touches = std::any_of(taken.begin(), taken.end(), [&](double at) {
            return std::abs(at - tick.at) * row < line;
        });
        if (touches) continue;
        taken.push_back(tick.at);
        m_ticker->addTick(tick.at, tick.label);
    }
}

void GradientMap::setColors(const Colors& colors) {
    m_colors = colors;
    setColorsOf(m_rect, colors, m_plot.font());
    m_item->setColors(colors, m_lane);
    m_readout->setTitle(title(), title(), QCoreApplication::translate("GradientMap", "Gradients"),
                        colors.text);
}

/// A saved run's last count is not known: what is counted then belongs to networks built like its
/// own.
const GradientRange* GradientMap::lastCount() const {
    const auto& last = m_run->now().sharedGradients();
    const auto lane = static_cast<size_t>(m_lane);
    const bool known = !history().isSaved() && lane < last->size() && (*last)[lane].step > 0;
    return known ? &(*last)[lane] : nullptr;
}

QStringList GradientMap::textsAt(std::optional<qint64> step) const {
    if (!m_run) return {};
    if (const GradientRange* const last = step ? nullptr : lastCount())
        return textsOf(
            GradientShares::of(*last), last->type,
            (haveNewScale(*last, m_run->now(), m_lane)
                 ? QCoreApplication::translate("GradientMap", " (after step %1, at the new scale)")
                 : QCoreApplication::translate("GradientMap", " (after step %1)"))
                .arg(countText(last->step - 1)));
    const auto column = history().at(step);
    if (!column && history().empty() && history().isSaved())
        return {QCoreApplication::translate("GradientMap", "not counted during this run"),
                QCoreApplication::translate("GradientMap", "not counted")};
    if (!column && history().empty() && m_run->now().info().outcome)
        return {QCoreApplication::translate("GradientMap", "not counted during this run: Continue "
                                                           "counts further steps, Reset and Play "
                                                           "all of them"),
                QCoreApplication::translate("GradientMap", "not counted: Continue counts further "
                                                           "steps"),
                QCoreApplication::translate("GradientMap", "Continue to count"),
                QCoreApplication::translate("GradientMap", "not counted")};
    if (!column && history().empty())
        return {QCoreApplication::translate("GradientMap", "counting starts at the next step"),
                QCoreApplication::translate("GradientMap", "from the next step"),
                QCoreApplication::translate("GradientMap", "none yet")};
    if (!column) return {};
    const qint64 at = step.value_or(history().lastStep());
    QString when;
    if (column->merged)
        when = QCoreApplication::translate("GradientMap", " (steps %1 to %2)")
                   .arg(countText(column->from), countText(column->to - 1));
    else if (column->counted != at)
        when = QCoreApplication::translate("GradientMap", " (counted at step %1)")
                   .arg(countText(column->counted));
    return textsOf(column->shares, history().type(), when);
}

void GradientMap::showValues(std::optional<qint64> step) {
    const auto show = [this](const QString& text) {
        m_readout->setEntries(
            {{m_colors.lanePen(m_lane), m_colors.laneText(m_lane), m_label, text, text}});
        return m_readout->fits();
    };
    QStringList texts = textsAt(step);
    // a number cut in half would be another number: whole parts are left out, in the end all
    texts << QString();
    for (const QString& text : texts)
        if (show(text)) return;
}

QString GradientMap::spoken(std::optional<qint64> step) const {
    const QString text = textsAt(step).value(0);
    return text.isEmpty() ? QString() : title() + QStringLiteral(", ") + m_label + u' ' + text;
}

} // namespace halfscope
