// Painted by hand: a few hundred rectangles a second need no plot.
#include "ui/plots/gradient_view.h"

#include "engine/core/half_limits.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/models/lane_titles.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"

#include <QFontMetrics>
#include <QLocale>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace halfscope {

namespace {

using Counts = MagnitudeCounts;

constexpr int kSideMargin = 8, kBetweenBars = 4;
constexpr int kBarHeight = 34, kLeastBarHeight = 20;
constexpr int kColumns = Counts::kBuckets + 4; // zeros, and inf and nan, at the ends, each with a
                                               // gap
constexpr double kNoteFont = 0.85;
constexpr int kShade = 70; // alpha, of 255

QFont small(const QFont& font) { return scaledFont(font, kNoteFont); }

QString percent(int64_t part, int64_t all) {
    return percentText(all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0);
}

/// Returns how many values that are not zero fp16 would round to zero.
int64_t lostInHalf(const Counts& counts) { return counts.below(kHalfZero); }

/// Returns how many values fp16 stores, or would store, as subnormal numbers.
int64_t subnormalInHalf(const Counts& counts) {
    return counts.below(kHalfNormal) - counts.below(kHalfZero);
}

/// Returns the heights by column: zeros, a gap, the buckets, a gap, inf and nan.
std::array<double, kColumns> columnsOf(const Counts& counts) {
    std::array<double, kColumns> columns{};
    const double total = std::max<double>(1, static_cast<double>(counts.total()));
    columns.front() = static_cast<double>(counts.zeros) / total;
    columns.back() = static_cast<double>(counts.notFinite) / total;
    for (size_t i = 0; i < counts.buckets.size(); ++i)
        columns[i + 2] = static_cast<double>(counts.buckets[i]) / total;
    // the root of the shares, so that a few values in a hundred are visible
    for (double& column : columns)
        column = std::sqrt(column);
    return columns;
}

} // namespace

GradientView::GradientView(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("gradients"));
    setAccessibleName(tr("Sizes of the gradients"));
    setToolTip(about());
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setSizePolicy(policy);
    setFocusPolicy(Qt::StrongFocus); // for its menu
}

void GradientView::setRun(std::shared_ptr<const Run> run, bool anew) {
    m_run = std::move(run);
    m_seen = 0;
    m_last = nullptr;
    m_anew = anew;
    setLanes(m_run ? laneTitlesOf(m_run->now()) : QStringList());
    refresh();
}

void GradientView::refresh() {
    if (!m_run || m_run->version() + 1 == m_seen) return;
    m_seen = m_run->version() + 1; // so that 0 means that the run was not looked at
    const auto& last = m_run->now().sharedGradients();
    const QStringList names = laneTitlesOf(m_run->now());
    if (names != m_names) renameLanes(names);
    if (last->empty() || last == m_last) return;
    m_last = last;
    setRanges(*last, m_anew);
}

void GradientView::setLanes(const QStringList& names) {
    m_names = names;
    m_ranges.clear();
    updateGeometry();
    describe();
    update();
}

void GradientView::renameLanes(const QStringList& names) {
    m_names = names;
    describe();
    update();
}

void GradientView::setRanges(std::vector<GradientRange> ranges, bool anew) {
    m_ranges = std::move(ranges);
    m_anew = anew;
    describe();
    update();
}

void GradientView::setNote(const QString& text) {
    if (text == m_note) return;
    m_note = text;
    describe();
    update();
}

bool GradientView::hasNewScale() const {
    if (!m_run || m_anew) return false;
    for (size_t lane = 0; lane < m_ranges.size(); ++lane)
        if (haveNewScale(m_ranges[lane], m_run->now(), static_cast<int>(lane))) return true;
    return false;
}

QString GradientView::heading() const {
    if (m_ranges.empty()) return tr("Gradients");
    // counts as the pictures do: the step that has these gradients is not trained yet
    const auto trained = static_cast<qlonglong>(std::max<int64_t>(0, m_ranges.front().step - 1));
    const QString step = QLocale().toString(trained);
    const bool scaled = std::any_of(m_ranges.begin(), m_ranges.end(),
                                    [](const GradientRange& range) { return range.scale != 1; });
    if (m_anew)
        return scaled ? tr("Scaled gradients of a new training")
                      : tr("Gradients of a new training");
    if (hasNewScale())
        return (scaled ? tr("Scaled gradients after step %1, at the new scale")
                       : tr("Gradients after step %1, at the new scale"))
            .arg(step);
    return scaled ? tr("Scaled gradients after step %1").arg(step)
                  : tr("Gradients after step %1").arg(step);
}

QString GradientView::headingIn(int width, const QFontMetrics& metrics) const {
    QStringList forms{heading()};
    if (m_anew) {
        forms << tr("Gradients of a new training") << tr("New training");
    } else if (!m_ranges.empty()) {
        const auto trained = std::max<int64_t>(0, m_ranges.front().step - 1);
        const QString step = QLocale().toString(static_cast<qlonglong>(trained));
        if (hasNewScale()) forms << tr("After step %1, at the new scale").arg(step);
        forms << tr("Gradients after step %1").arg(step) << tr("After step %1").arg(step);
    }
    return widest(forms, metrics, width);
}

QString GradientView::figures(int lane, bool brief) const {
    if (lane < 0 || lane >= static_cast<int>(m_ranges.size())) return {};
    const GradientRange& range = m_ranges[static_cast<size_t>(lane)];
    const int64_t total = range.total();
    QStringList parts;
    if (range.notFinite() > 0) parts << tr("%1 inf or nan").arg(percent(range.notFinite(), total));
    parts << tr("%1 zero").arg(percent(range.zeros(), total));
    if (range.notFinite() > 0) return parts.join(QStringLiteral(", ")); // nothing else matters then
    if (range.type == DType::F16) // over all, although FP32 keeps the digits of some gradients
        parts << (brief ? tr("%1 subnormal") : tr("%1 subnormal in fp16"))
                     .arg(percent(subnormalInHalf(range.outputs) + subnormalInHalf(range.weights),
                                  total));
    else
        parts << tr("in fp16 another %1")
                     .arg(percent(lostInHalf(range.outputs) + lostInHalf(range.weights), total));
    return parts.join(QStringLiteral(", "));
}

QString GradientView::legend() const {
    const QString what = tr("Bars: gradients of layer outputs. Line: of weights.");
    const bool half = std::any_of(m_ranges.begin(), m_ranges.end(), [](const GradientRange& range) {
        return range.type == DType::F16;
    });
    const QString marks = half ? tr("Hatched: zero or inf in fp16. Grey: subnormal.")
                               : tr("Dotted lines: limits of fp16 (zero, subnormal, inf).");
    return what + u'\n' + marks;
}

QFont GradientView::legendFont() const {
    const QFont usual = small(font());
    int widest = 1;
    for (const QString& line : legend().split(u'\n'))
        widest = std::max(widest, QFontMetrics(usual).horizontalAdvance(line));
    const double room = width() - 2.0 * kSideMargin;
    constexpr double kSpare = 0.98; // letters do not shrink evenly
    return room < widest ? scaledFont(usual, std::max(0.5, kSpare * room / widest)) : usual;
}

QString GradientView::about() const {
    const RunConfig config = m_run ? m_run->now().info().config : RunConfig();
    int scaled = 0, skipping = 0;
    const int lanes = static_cast<int>(m_run ? config.lanes.size() : 0);
    for (int lane = 0; lane < lanes; ++lane) {
        if (!laneScales(config, lane)) continue;
        const ScalerConfig& scaler = config.lanes[static_cast<size_t>(lane)].scaler;
        ++scaled;
        skipping += scaler.onOverflow == OverflowAction::Skip;
    }
    QStringList parts;
    parts << (m_anew ? tr("What the gradients of a new training with the settings of this saved "
                          "run are: no file has those with which it would go on.")
                     : tr("What the gradients are after this step: the next step will use them."));
    parts << (scaled == lanes ? tr("They are multiplied by the loss scale.")
              : scaled > 0    ? tr("Those of lanes with a loss scale are multiplied by it.")
                              : tr("No lane has a loss scale."));
    parts << tr("Each bar shows how many lie between two powers of two. Heights are square roots "
                "of shares, so that small shares remain visible. Zeros are on the left; ReLU and "
                "causal masks cause some in every precision, so compare with FP32.");
    parts << (skipping == lanes ? tr("Inf and nan are on the right: the next step will be skipped.")
              : skipping > 0
                  ? tr("Inf and nan are on the right: a lane whose loss scaler skips such steps "
                       "will skip the next one, and any other lane will take it.")
                  : tr("Inf and nan are on the right: the next step will be taken with them."));
    parts << tr("Bars are gradients of layer outputs, lines are gradients of weights. View > "
                "Gradients by layer shows those of each layer.");
    if (scaled > 0 || lanes == 0)
        parts << tr("Edit > Set the loss scale shows what another scale would do.");
    return parts.join(u' ');
}

void GradientView::describe() {
    if (const QString tip = about(); tip != toolTip()) setToolTip(tip);
    QStringList parts{heading()};
    if (!m_note.isEmpty()) parts << m_note;
    for (int lane = 0; lane < m_names.size(); ++lane)
        if (const QString text = figures(lane); !text.isEmpty())
            parts << laneLabel(lane, m_names[lane]) + QStringLiteral(": ") + text;
    setAccessibleDescription(parts.join(QStringLiteral("; ")));
}

int GradientView::heightFor(int barHeight) const {
    const int line = fontMetrics().lineSpacing();
    const int smallLine = QFontMetrics(small(font())).lineSpacing();
    const int lanes = std::max(1, static_cast<int>(m_names.size()));
    return line + kBetweenBars + lanes * (line + barHeight + kBetweenBars) + 3 * smallLine +
           3 * kBetweenBars;
}

QSize GradientView::sizeHint() const {
    // six lanes get the room of three
    const int lanes = static_cast<int>(m_names.size());
    return {280, heightFor(lanes > 3 ? kLeastBarHeight : kBarHeight)};
}

QSize GradientView::minimumSizeHint() const { return {200, heightFor(kLeastBarHeight)}; }

double GradientView::placeOf(int exponent, const QRectF& bars) const {
    return bars.left() + bars.width() * (exponent - Counts::kLowest + 2) / kColumns;
}

void GradientView::paintEvent(QPaintEvent*) {
    const Colors colors = colorsFor(palette());
    QPainter painter(this);
    if (hasFocus()) {
        painter.setPen(palette().color(QPalette::Highlight));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
    const QFontMetrics metrics(font());
    const int line = metrics.lineSpacing();
    const QRect room = rect().adjusted(kSideMargin, 0, -kSideMargin, 0);
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(QRect(room.left(), 0, room.width(), line), Qt::AlignLeft,
                     headingIn(room.width(), painter.fontMetrics()));
    painter.setFont(font());
    if (m_ranges.empty() && !m_note.isEmpty()) {
        painter.drawText(room.adjusted(0, line + kBetweenBars, 0, 0),
                         Qt::AlignLeft | Qt::TextWordWrap, m_note);
        return;
    }
    const int lanes = std::max(1, static_cast<int>(m_names.size()));
    const int rest = height() - heightFor(0);
    const double barHeight = std::max(1, rest / lanes);
    double top = line + kBetweenBars;
    QRectF bars(room);
    const Captions above = captions();
    for (int lane = 0; lane < m_names.size(); ++lane) {
        bars = QRectF(room.left(), top + line, room.width(), barHeight);
        paintRow(painter, colors, lane, above, bars);
        top = bars.bottom() + kBetweenBars;
    }
    paintAxis(painter, colors, bars, static_cast<int>(top));
    const int smallLine = QFontMetrics(small(font())).lineSpacing();
    painter.setFont(m_note.isEmpty() ? legendFont() : small(font()));
    painter.setPen(colors.muted);
    painter.drawText(
        QRectF(room.left(), top + smallLine + kBetweenBars, room.width(), 2.0 * smallLine),
        Qt::AlignLeft | Qt::TextWordWrap | Qt::TextDontClip, m_note.isEmpty() ? legend() : m_note);
}

/// Returns the most figures that leave room for a label beside them; nothing where none do.
std::optional<QString> GradientView::figuresBeside(const QString& label, int lane, int room) const {
    const QFontMetrics metrics(font());
    const QString full = figures(lane), brief = figures(lane, true);
    for (const QString& text : {full, brief, brief.section(QStringLiteral(", "), 0, 0)})
        if (metrics.horizontalAdvance(label + text) <= room) return text;
    return std::nullopt;
}

GradientView::Captions GradientView::captions() const {
    const QFontMetrics metrics(font());
    const int room = width() - 3 * kSideMargin; // one of them between a label and figures
    const int lanes = static_cast<int>(m_names.size());
    const std::vector<QStringList> forms = formsTogether(laneLabels(m_names));
    Captions made;
    // figures leave room for what the lanes are: nothing else in the rows says it, while the legend
    // says "in fp16", too, and the picture shows the rest
    for (size_t form = kBriefestNames; form < forms.size(); ++form) {
        made.figures.clear();
        for (int lane = 0; lane < lanes; ++lane)
            if (const auto text = figuresBeside(forms[form][lane], lane, room))
                made.figures << *text;
            else if (form + 1 == forms.size())
                made.figures << figures(lane, true).section(QStringLiteral(", "), 0, 0);
        if (made.figures.size() == lanes) break;
    }
    const auto fit = [&](const QStringList& labels) {
        for (int lane = 0; lane < lanes; ++lane)
            if (metrics.horizontalAdvance(labels[lane]) +
                    metrics.horizontalAdvance(made.figures[lane]) >
                room)
                return false;
        return true;
    };
    const auto fitting = std::find_if(forms.begin(), forms.end(), fit);
    made.labels = fitting == forms.end() ? forms.back() : *fitting;
    return made;
}

void GradientView::paintRow(QPainter& painter, const Colors& colors, int lane,
                            const Captions& captions, const QRectF& bars) const {
    const int height = fontMetrics().lineSpacing();
    const QRectF line(bars.left(), bars.top() - height, bars.width(), height);
    painter.setPen(colors.laneText(lane));
    painter.drawText(line, Qt::AlignLeft, captions.labels[lane]);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(line, Qt::AlignRight, captions.figures[lane]);
    painter.fillRect(bars, colors.background);
    if (lane >= static_cast<int>(m_ranges.size())) return;
    paintZones(painter, colors, m_ranges[static_cast<size_t>(lane)], bars);
    paintBars(painter, colors, lane, bars);
}

/// Draws what fp16 cannot hold: filled when the lane stores fp16, else only the borders.
void GradientView::paintZones(QPainter& painter, const Colors& colors, const GradientRange& range,
                              const QRectF& bars) const {
    const double zero = placeOf(kHalfZero, bars), normal = placeOf(kHalfNormal, bars);
    const double infinite = placeOf(kHalfInfinite, bars);
    const double end = placeOf(Counts::kLowest + Counts::kBuckets, bars);
    const auto zone = [&](double from, double to) {
        return QRectF(from, bars.top(), to - from, bars.height());
    };
    if (range.type == DType::F16) {
        QColor shade = colors.muted;
        shade.setAlpha(kShade);
        painter.fillRect(zone(zero, normal), shade);
        for (const QRectF& gone : {zone(placeOf(Counts::kLowest, bars), zero), zone(infinite, end)})
            painter.fillRect(gone, QBrush(colors.error, Qt::BDiagPattern));
    }
    painter.setPen(QPen(colors.muted, 0, Qt::DotLine));
    for (const double border : {zero, normal, infinite})
        painter.drawLine(QPointF(border, bars.top()), QPointF(border, bars.bottom()));
}

void GradientView::paintBars(QPainter& painter, const Colors& colors, int lane,
                             const QRectF& bars) const {
    const GradientRange& range = m_ranges[static_cast<size_t>(lane)];
    const auto outputs = columnsOf(range.outputs), weights = columnsOf(range.weights);
    const auto highestOf = [](const auto& columns) {
        return std::max(*std::max_element(columns.begin(), columns.end()), 1e-9);
    };
    const double highest = highestOf(outputs), highestWeight = highestOf(weights);
    const double width = bars.width() / kColumns;
    const auto topOf = [&](double part) { return bars.bottom() - bars.height() * part; };
    QPainterPath line;
    line.moveTo(bars.bottomLeft());
    for (size_t i = 0; i < outputs.size(); ++i) {
        const double left = bars.left() + width * static_cast<double>(i);
        // a column that is not empty is at least a pixel high
        const double top = std::min(topOf(outputs[i] / highest), bars.bottom() - 1);
        if (outputs[i] > 0)
            painter.fillRect(QRectF(QPointF(left, top), QPointF(left + width, bars.bottom())),
                             colors.lane(lane));
        const double weight = topOf(weights[i] / highestWeight);
        line.lineTo(left, weight);
        line.lineTo(left + width, weight);
    }
    painter.setPen(QPen(colors.text, 0));
    painter.drawPath(line);
}

void GradientView::paintAxis(QPainter& painter, const Colors& colors, const QRectF& bars,
                             int top) const {
    painter.save();
    painter.setFont(small(font()));
    const QFontMetrics metrics(painter.font());
    painter.setPen(colors.text);
    const double column = bars.width() / kColumns;
    double free = bars.left();
    const auto put = [&](const QString& text, double middle) {
        const int width = metrics.horizontalAdvance(text);
        const double left = std::clamp(middle - width / 2.0, bars.left(), bars.right() - width);
        if (left < free) return;
        painter.drawText(QPointF(left, top + metrics.ascent()), text);
        free = left + width + metrics.horizontalAdvance(u' ');
    };
    put(QStringLiteral("0"), bars.left() + column / 2);
    for (const int exponent : {kHalfZero, kHalfNormal, 0})
        put(QStringLiteral("2^%1").arg(exponent), placeOf(exponent, bars));
    put(QStringLiteral("2^%1").arg(kHalfInfinite), placeOf(kHalfInfinite, bars));
    put(tr("inf"), bars.right() - column / 2);
    painter.restore();
}

} // namespace halfscope
