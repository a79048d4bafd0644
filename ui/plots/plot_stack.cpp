// Layout, shared range, crosshair and export of the plots; plot_stack_input.cpp has mouse and keys.
#include "ui/plots/plot_stack.h"

#include "ui/owned.h"
#include "ui/plots/readout_item.h"
#include "ui/plots/tickers.h"

#include <QEvent>
#include <QLocale>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace halfscope {

namespace {
constexpr double kEmptyEnd = 10;     // steps shown before there are any
constexpr double kMarkRoom = 7;      // pixels beside the first and the newest step, for their marks
constexpr int kBelowPlot = 5;        // pixels between a plot and the next header
constexpr int kFocusBorder = 1;      // pixels around the plot for the focus frame
constexpr int kDescribeEvery = 1000; // milliseconds: screen readers must not be flooded
constexpr double kRowStretch[] = {3, 2, 1.5, 1.2};
enum PanelIndex : size_t {
    kLossPanel,
    kScalePanel,
    kRatePanel,
    kSkipPanel
}; // order of buildPlot()
} // namespace

PlotStack::PlotStack(QWidget* parent) : QWidget(parent), m_plot(std::make_unique<QCustomPlot>()) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Plots of loss, loss scale, throughput and skipped steps"));
    auto* box = make<QVBoxLayout>(this);
    box->setContentsMargins(kFocusBorder, kFocusBorder, kFocusBorder, kFocusBorder);
    box->addWidget(m_plot.get());
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->setMinimumSize(1, 1); // QCustomPlot complains about painting on nothing
    m_live = make<QToolButton>(this);
    m_live->setText(tr("Back to live"));
    m_live->setToolTip(tr("Show the whole run and follow the newest step (F)"));
    m_live->setAccessibleName(m_live->text());
    m_live->setFocusPolicy(Qt::TabFocus);
    m_live->hide();
    connect(m_live, &QToolButton::clicked, this, [this] { setFollow(true); });
    buildPlot();
    connectMouse();
    setLanes({});
    m_described.start();
}

PlotStack::~PlotStack() {
    // a dying widget below the pointer still gets a Leave event, when the panels are gone already
    m_plot->removeEventFilter(this);
    m_plot->disconnect(this);
}

void PlotStack::buildPlot() {
    // thin lines without antialiasing are 20 to 60 times faster; only the few marks are smoothed
    m_plot->setNotAntialiasedElements(QCP::aeAll);
    m_plot->setAntialiasedElements(QCP::aeScatters);
    m_plot->setInteractions(QCP::Interactions());
    m_plot->plotLayout()->clear();
    m_plot->plotLayout()->setRowSpacing(0);
    m_plot->addLayer(QStringLiteral("crosshair"), nullptr, QCustomPlot::limAbove);
    m_overlay = m_plot->layer(QStringLiteral("crosshair"));
    m_overlay->setMode(QCPLayer::lmBuffered);
    int row = 0;
    std::vector<QCPAxisRect*> rects;
    for (const Measure measure :
         {Measure::Loss, Measure::LossScale, Measure::Throughput, Measure::Skipped}) {
        auto* rect = make<QCPAxisRect>(m_plot.get());
        m_plot->plotLayout()->addElement(row, 0, rect);
        m_plot->plotLayout()->setRowStretchFactor(row, kRowStretch[row]);
        m_panels.push_back(std::make_unique<PlotPanel>(*m_plot, *rect, *m_overlay, measure));
        rects.push_back(rect);
        ++row;
    }
    m_eventRect = make<QCPAxisRect>(m_plot.get());
    m_plot->plotLayout()->addElement(row, 0, m_eventRect);
    m_events = std::make_unique<EventLane>(*m_plot, *m_eventRect);
    rects.push_back(m_eventRect);
    for (QCPAxisRect* rect : rects) {
        for (QCPAxis* axis : rect->axes())
            axis->setLayer(QStringLiteral("axes"));
        rect->setAutoMargins(QCP::msNone);
        auto* line = make<QCPItemStraightLine>(m_plot.get());
        line->setClipAxisRect(rect);
        for (QCPItemPosition* position : line->positions()) {
            position->setAxisRect(rect);
            position->setTypeX(QCPItemPosition::ptPlotCoords);
            position->setTypeY(QCPItemPosition::ptAxisRectRatio);
            position->setAxes(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
        }
        line->setLayer(m_overlay);
        line->setVisible(false);
        m_crosshairLines.push_back(line);
    }
    // the crosshair's step, over the axis labels; on the overlay like the lines themselves
    m_stepTag = make<QCPItemText>(m_plot.get());
    m_stepTag->setClipToAxisRect(false);
    m_stepTag->position->setAxisRect(m_eventRect);
    m_stepTag->position->setAxes(m_eventRect->axis(QCPAxis::atBottom),
                                 m_eventRect->axis(QCPAxis::atLeft));
    m_stepTag->position->setTypeX(QCPItemPosition::ptPlotCoords);
    m_stepTag->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    m_stepTag->setPositionAlignment(Qt::AlignTop | Qt::AlignHCenter);
    m_stepTag->setPadding(QMargins(5, 1, 5, 1));
    m_stepTag->setLayer(m_overlay);
    m_stepTag->setVisible(false);
}

/// Margins by the font alone: the plots line up, and nothing jumps when labels grow.
void PlotStack::applyMargins() {
    const QFontMetrics metrics(m_plot->font());
    const int left = metrics.horizontalAdvance(QStringLiteral("9.9e-99")) + 12;
    // room for half of the last step's label
    const int right = metrics.horizontalAdvance(QStringLiteral("9,999,999")) / 2 + 2;
    const int header = ReadoutItem::heightFor(m_plot->font());
    for (auto& panel : m_panels) {
        panel->rect().setMargins(QMargins(left, header, right, kBelowPlot));
    }
    m_eventRect->setMargins(QMargins(left, 4, right, 2 * metrics.height() + 10));
    const int height = EventLane::heightFor(static_cast<int>(m_labels.size()));
    m_eventRect->setMinimumSize(20, height);
    m_eventRect->setMaximumSize(QWIDGETSIZE_MAX, height);
    foldPlots();
}

/// Four plots of a few pixels each tell nothing: where there is little room the first ones get it,
/// and of the others stay the headers with their values.
void PlotStack::foldPlots() {
    const int line = QFontMetrics(m_plot->font()).height();
    const int around = ReadoutItem::heightFor(m_plot->font()) + kBelowPlot; // of each plot
    const QMargins events = m_eventRect->margins();
    double room = height() - 2 * kFocusBorder - events.top() - events.bottom() -
                  m_eventRect->minimumSize().height();
    double stretch = std::accumulate(std::begin(kRowStretch), std::end(kRowStretch), 0.0);
    size_t open = m_panels.size();
    const auto lowest = [&] { return room * kRowStretch[open - 1] / stretch - around; };
    while (open > 1 && lowest() < line) {
        --open;
        stretch -= kRowStretch[open];
        room -= around;
    }
    for (size_t i = 0; i < m_panels.size(); ++i)
        m_panels[i]->setFolded(i >= open);
}

void PlotStack::applyColors() {
    m_colors = colorsFor(palette());
    m_plot->setBackground(QBrush(m_colors.background));
    for (auto& panel : m_panels)
        panel->setColors(m_colors);
    m_events->setColors(m_colors);
    QPen pen(m_colors.text, 0);
    for (QCPItemStraightLine* line : m_crosshairLines)
        line->setPen(pen);
    m_stepTag->setFont(m_plot->font());
    m_stepTag->setColor(m_colors.background);
    m_stepTag->setBrush(QBrush(m_colors.text));
    m_stepTag->setPen(pen);
    updateReadouts();
    m_dirty = true;
}

void PlotStack::setLanes(const QStringList& names, const std::vector<bool>& scales) {
    m_labels.clear();
    for (int i = 0; i < static_cast<int>(names.size()); ++i)
        m_labels << laneLabel(i, names[i]);
    for (auto& panel : m_panels)
        panel->setLanes(m_labels);
    for (size_t i = 0; i < scales.size(); ++i)
        setScales(static_cast<int>(i), scales[i]);
    m_events->setLanes(names);
    clear();
    applyMargins();
    applyColors();
}

void PlotStack::setScales(int lane, bool scales) {
    if (lane >= 0 && lane < m_labels.size()) m_panels[kScalePanel]->setAbsent(lane, !scales);
    m_dirty = true;
}

void PlotStack::append(int lane, const StepRecord& record) {
    if (lane < 0 || lane >= m_labels.size()) return;
    m_panels[kLossPanel]->append(lane, record.step, static_cast<double>(record.loss));
    m_panels[kScalePanel]->append(lane, record.step, static_cast<double>(record.scale));
    if (const auto rate = m_rates[static_cast<size_t>(lane)].add(record.deviceSeconds))
        m_panels[kRatePanel]->append(lane, record.step, *rate);
    m_panels[kSkipPanel]->append(lane, record.step, static_cast<double>(record.skippedSoFar));
    m_lastStep = std::max(m_lastStep, qint64{record.step});
    m_dirty = true;
}

void PlotStack::addEvent(const Event& event) {
    m_events->add(event);
    m_lastStep = std::max(m_lastStep, qint64{event.step});
    m_dirty = true;
}

void PlotStack::clear() {
    for (auto& panel : m_panels)
        panel->clear();
    m_events->clear();
    m_rates.assign(static_cast<size_t>(m_labels.size()), RateMeter());
    m_lastStep = 0;
    clearCrosshair();
    setFollow(true);
    m_dirty = true;
}

bool PlotStack::refresh() {
    if (!m_dirty) return false;
    m_dirty = false;
    const int pixels = plotWidth();
    if (m_following) {
        // a little more at both ends, or the marks there are cut in half
        const double all = std::max(static_cast<double>(m_lastStep), kEmptyEnd);
        const double room = kMarkRoom / std::max(1.0, pixels - 2 * kMarkRoom) * all;
        m_from = -room;
        m_to = all + room;
    }
    for (auto& panel : m_panels) {
        panel->rect().axis(QCPAxis::atBottom)->setRange(m_from, m_to);
        panel->update(m_from, m_to, pixels);
    }
    m_eventRect->axis(QCPAxis::atBottom)->setRange(m_from, m_to);
    m_events->update(m_from, m_to, pixels);
    updateReadouts();
    m_plot->replot(QCustomPlot::rpQueuedRefresh);
    describe(false);
    return true;
}

int PlotStack::plotWidth() const { return std::max(1, m_panels.front()->rect().width()); }

void PlotStack::setFollow(bool follow) {
    if (follow == m_following) return;
    m_following = follow;
    m_live->setVisible(!follow);
    m_dirty = true;
    Q_EMIT followChanged(follow);
}

void PlotStack::setRange(double from, double to) {
    constexpr double kNarrowest = 4; // steps
    const double all = std::max(static_cast<double>(m_lastStep), kEmptyEnd);
    const double width = std::clamp(to - from, kNarrowest, std::max(kNarrowest, 1.2 * all));
    // half a screen of empty space at either end is enough to pan into
    m_from = std::clamp((from + to - width) / 2, -width / 2, all - width / 2);
    m_to = m_from + width;
    setFollow(false);
    m_dirty = true;
    refresh();
}

void PlotStack::zoom(double about, double factor) {
    setRange(about - (about - m_from) / factor, about + (m_to - about) / factor);
}

void PlotStack::showStep(qint64 step) {
    const auto middle = static_cast<double>(step);
    const bool seen = middle >= m_from && middle <= m_to;
    const double half = (m_to - m_from) / 2;
    m_crosshair = step;
    setRange(seen ? m_from : middle - half, seen ? m_to : middle + half);
    drawCrosshair();
}

void PlotStack::setCrosshair(qint64 step) {
    m_crosshair = std::clamp(step, qint64{0}, std::max(m_lastStep, qint64{0}));
    drawCrosshair();
}

void PlotStack::clearCrosshair() {
    if (!m_crosshair) return;
    m_crosshair.reset();
    drawCrosshair();
}

void PlotStack::updateReadouts() {
    for (auto& panel : m_panels)
        panel->showValues(m_crosshair);
    for (QCPItemStraightLine* line : m_crosshairLines) {
        line->setVisible(m_crosshair.has_value());
        if (m_crosshair) {
            line->point1->setCoords(static_cast<double>(*m_crosshair), 0);
            line->point2->setCoords(static_cast<double>(*m_crosshair), 1);
        }
    }
    m_stepTag->setVisible(m_crosshair.has_value());
    if (m_crosshair) {
        m_stepTag->setText(QLocale().toString(*m_crosshair));
        m_stepTag->position->setCoords(static_cast<double>(*m_crosshair), 1.03);
    }
}

/// Only the crosshair's layer is painted anew; the curves stay in their buffer.
void PlotStack::drawCrosshair() {
    updateReadouts();
    m_overlay->replot();
    describe(false);
}

void PlotStack::describe(bool now) {
    if (!now && m_described.isValid() && m_described.elapsed() < kDescribeEvery) return;
    m_described.start();
    QStringList parts;
    for (const auto& panel : m_panels)
        if (const QString text = panel->spoken(m_crosshair); !text.isEmpty()) parts << text;
    parts << tr("%n event(s)", nullptr, m_events->count());
    setAccessibleDescription(tr("Step %1: %2")
                                 .arg(QLocale().toString(m_crosshair.value_or(m_lastStep)))
                                 .arg(parts.join(QStringLiteral("; "))));
}

double PlotStack::stepAt(const QPointF& position) const {
    return m_eventRect->axis(QCPAxis::atBottom)->pixelToCoord(position.x());
}

bool PlotStack::exportSvg(const QString& path, QString* error) const {
    QSaveFile file(path);
    const auto fail = [&] {
        if (error) *error = tr("%1: %2").arg(path, file.errorString());
        return false;
    };
    if (!file.open(QIODevice::WriteOnly)) return fail();
    {
        QSvgGenerator generator;
        generator.setOutputDevice(&file);
        generator.setSize(m_plot->size());
        generator.setViewBox(QRect(QPoint(0, 0), m_plot->size()));
        generator.setTitle(tr("Halfscope plots"));
        QCPPainter painter;
        painter.begin(&generator);
        m_plot->toPainter(&painter, m_plot->width(), m_plot->height());
    }
    return file.commit() || fail();
}

bool PlotStack::exportPng(const QString& path, QString* error) const {
    QSaveFile file(path);
    const bool written = file.open(QIODevice::WriteOnly) &&
                         m_plot->toPixmap(0, 0, 2.0).save(&file, "PNG") && file.commit();
    if (!written && error) *error = tr("%1: %2").arg(path, file.errorString());
    return written;
}

double PlotStack::refreshMilliseconds() const { return m_plot->replotTime(true); }

QSize PlotStack::sizeHint() const { return {760, 460}; }

QSize PlotStack::minimumSizeHint() const { return {240, 220}; }

void PlotStack::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    const bool font = event->type() == QEvent::FontChange;
    if (font || event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) {
        m_plot->setFont(this->font());
        applyMargins();
        applyColors();
        refresh();
    }
}

void PlotStack::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    foldPlots();
    m_live->adjustSize();
    m_live->move(width() - m_live->width() - 18,
                 ReadoutItem::heightFor(m_plot->font()) + kFocusBorder + 4);
    m_dirty = true;
}

void PlotStack::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(hasFocus() ? palette().color(QPalette::Highlight)
                              : palette().color(QPalette::Mid));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

} // namespace halfscope
