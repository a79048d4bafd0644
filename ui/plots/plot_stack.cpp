// Shared range, crosshair and export of the plots. plot_stack_layout.cpp has their places,
// plot_stack_input.cpp mouse and keys.
#include "ui/plots/plot_stack.h"

#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "ui/look/owned.h"
#include "ui/plots/gradient_map.h"

#include <qcustomplot.h>

#include <QBuffer>
#include <QEvent>
#include <QLocale>
#include <QPainter>
#include <QSvgGenerator>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfscope {

namespace {
constexpr double kEmptyEnd = 10;     // steps shown before there are any
constexpr double kMarkRoom = 7;      // pixels beside the first and the newest step, for their marks
constexpr int kDescribeEvery = 1000; // milliseconds: screen readers must not be flooded

/// False, and a sentence, when the file cannot be written.
bool written(const QString& path, const QByteArray& bytes, QString* error) {
    try {
        writeFileAtomically(path.toStdString(), bytes.toStdString());
        return true;
    } catch (const RunError& failure) {
        if (error) *error = QString::fromUtf8(failure.what());
        return false;
    }
}
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
    buildSmoothing();
    buildPlot();
    buildLaneBox();
    connectMouse();
    setLanes({});
    m_described.start();
}

PlotStack::~PlotStack() {
    // a dying widget below the pointer still gets a Leave event, when the panels are gone already
    m_plot->removeEventFilter(this);
    m_plot->disconnect(this);
}

void PlotStack::applyColors() {
    m_colors = colorsFor(palette());
    m_plot->setBackground(QBrush(m_colors.background));
    for (StackedPlot* plot : shownPlots())
        plot->setColors(m_colors);
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

void PlotStack::setLanes(const QStringList& names, const std::vector<bool>& scales,
                         const std::vector<Measure>& extra) {
    std::vector<Measure> measures{Measure::Loss, Measure::LossScale};
    measures.insert(measures.end(), extra.begin(), extra.end());
    measures.insert(measures.end(), {Measure::Throughput, Measure::Skipped});
    const bool gradients = showsGradients();
    showGradients(false);
    buildPanels(measures);
    startGradients(names, scales);
    m_names = names;
    m_labels = laneLabels(names);
    for (auto& panel : m_panels)
        panel->setLanes(m_labels);
    for (size_t i = 0; i < scales.size(); ++i)
        setScales(static_cast<int>(i), scales[i]);
    m_events->setLanes(names);
    clear();
    matchPrevious();
    showGradients(gradients);
    showGradientLane();
    applyMargins();
    placeOverlays();
    applyColors();
}

void PlotStack::keepLosses() {
    m_panels[kLossPanel]->setPrevious({}); // they point into m_kept
    std::vector<Series> losses = m_panels[kLossPanel]->takeSeries();
    if (std::any_of(losses.begin(), losses.end(), [](const Series& s) { return !s.isEmpty(); }))
        m_kept = {m_names, std::move(losses)};
}

void PlotStack::forgetLosses() {
    m_panels[kLossPanel]->setPrevious({});
    m_kept = {};
}

void PlotStack::showPrevious(bool shows) {
    m_showsPrevious = shows;
    matchPrevious();
    updateReadouts();
}

void PlotStack::matchPrevious() {
    std::vector<const Series*> previous;
    const bool alike = m_kept.names.size() == m_names.size();
    for (qsizetype i = 0; i < m_names.size() && m_showsPrevious && !m_kept.series.empty(); ++i) {
        const qsizetype from = alike ? i : m_kept.names.indexOf(m_names[i]);
        previous.push_back(from < 0 ? nullptr : &m_kept.series[static_cast<size_t>(from)]);
    }
    m_panels[kLossPanel]->setPrevious(previous);
    m_dirty = true;
}

void PlotStack::renameLanes(const QStringList& names) {
    m_names = names.first(std::min(names.size(), m_labels.size()));
    m_labels = laneLabels(m_names);
    for (StackedPlot* plot : shownPlots())
        plot->renameLanes(m_labels);
    showGradientLane();
    m_dirty = true;
}

void PlotStack::setScales(int lane, bool scales) {
    if (lane >= 0 && lane < m_labels.size()) m_panels[kScalePanel]->setAbsent(lane, !scales);
    m_dirty = true;
}

void PlotStack::append(int lane, const StepRecord& record) {
    if (lane < 0 || lane >= m_labels.size()) return;
    for (auto& panel : m_panels)
        if (const auto value = valueOf(panel->measure(), lane, record))
            panel->append(lane, record.step, *value);
    m_gradients[static_cast<size_t>(lane)].stepDone(record);
    m_lastStep = std::max(m_lastStep, qint64{record.step});
    m_dirty = true;
}

std::optional<double> PlotStack::valueOf(Measure measure, int lane, const StepRecord& record) {
    switch (measure) {
    case Measure::Loss: return static_cast<double>(record.loss);
    case Measure::LossScale: return static_cast<double>(record.scale);
    case Measure::LearningRate: return static_cast<double>(record.learningRate);
    case Measure::GradientNorm: return static_cast<double>(record.gradientNorm);
    case Measure::Throughput: return m_rates[static_cast<size_t>(lane)].add(record);
    case Measure::Skipped: break;
    }
    return static_cast<double>(record.skippedSoFar);
}

void PlotStack::addEvent(const Event& event) {
    m_events->add(event);
    m_lastStep = std::max(m_lastStep, qint64{event.step});
    m_dirty = true;
}

void PlotStack::clear() {
    for (auto& panel : m_panels)
        panel->clear();
    for (GradientHistory& history : m_gradients)
        history.clear();
    m_events->clear();
    m_rates.assign(static_cast<size_t>(m_labels.size()), RateMeter());
    m_lastStep = 0;
    setFollow(true);
    m_dirty = true;
}

bool PlotStack::refresh() {
    if (!m_dirty) return false;
    m_dirty = false;
    if (m_resting) finishRates();
    layOut();
    const int pixels = plotWidth();
    if (m_following) {
        // a little more at both ends, or the marks there are cut in half
        const double all = std::max(static_cast<double>(m_lastStep), kEmptyEnd);
        const double room = kMarkRoom / std::max(1.0, pixels - 2 * kMarkRoom) * all;
        m_from = -room;
        m_to = all + room;
    }
    updatePanels();
    m_eventRect->axis(QCPAxis::atBottom)->setRange(m_from, m_to);
    m_events->update(m_from, m_to, pixels);
    updateReadouts();
    m_plot->replot(QCustomPlot::rpQueuedRefresh);
    describe(false);
    return true;
}

void PlotStack::updatePanels() {
    for (auto& panel : m_panels)
        panel->setFine(m_resting);
    for (StackedPlot* plot : shownPlots()) {
        plot->rect().axis(QCPAxis::atBottom)->setRange(m_from, m_to);
        plot->update(m_from, m_to, plotWidth());
    }
}

void PlotStack::setResting(bool resting) {
    m_dirty = m_dirty || resting != m_resting;
    m_resting = resting;
}

/// A run's last steps count too, and the plot ends with the speed that stands above it.
void PlotStack::finishRates() {
    for (auto& panel : m_panels)
        for (size_t lane = 0; panel->measure() == Measure::Throughput && lane < m_rates.size();
             ++lane)
            if (const auto rate = m_rates[lane].rest())
                panel->append(static_cast<int>(lane), m_rates[lane].lastStep(), *rate);
}

int PlotStack::plotWidth() const { return std::max(1, m_panels.front()->rect().width()); }

void PlotStack::setFollow(bool follow) {
    if (follow) pinCrosshair(std::nullopt);
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
    setRange(seen ? m_from : middle - half, seen ? m_to : middle + half);
    pinCrosshair(step);
}

void PlotStack::pinCrosshair(std::optional<qint64> step) {
    m_pinned = step;
    moveCrosshair(step);
}

void PlotStack::moveCrosshair(std::optional<qint64> step) {
    if (step) step = std::clamp(*step, qint64{0}, m_lastStep);
    if (step == m_crosshair) return;
    m_crosshair = step;
    drawCrosshair();
}

void PlotStack::updateReadouts() {
    for (StackedPlot* plot : shownPlots())
        plot->showValues(m_crosshair);
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
    for (const StackedPlot* plot : shownPlots())
        if (const QString text = plot->spoken(m_crosshair); !text.isEmpty()) parts << text;
    const int events = m_events->count();
    parts << (events == 1 ? tr("1 event") : tr("%n events", nullptr, events));
    setAccessibleDescription(tr("Step %1: %2")
                                 .arg(QLocale().toString(m_crosshair.value_or(m_lastStep)))
                                 .arg(parts.join(QStringLiteral("; "))));
}

double PlotStack::stepAt(const QPointF& position) const {
    return m_eventRect->axis(QCPAxis::atBottom)->pixelToCoord(position.x());
}

template <class Draw>
void PlotStack::drawFinely(Draw draw) {
    const bool resting = std::exchange(m_resting, true);
    updatePanels();
    draw();
    m_resting = resting;
    m_dirty = true; // the curves are the window's again at the next refresh()
}

bool PlotStack::exportSvg(const QString& path, QString* error) {
    QBuffer buffer; // drawn there, a full disk would be no more than an unknown error
    buffer.open(QIODevice::WriteOnly);
    drawFinely([&] {
        QSvgGenerator generator;
        generator.setOutputDevice(&buffer);
        generator.setSize(m_plot->size());
        generator.setViewBox(QRect(QPoint(0, 0), m_plot->size()));
        generator.setTitle(tr("Halfscope plots"));
        QCPPainter painter;
        painter.begin(&generator);
        m_plot->toPainter(&painter, m_plot->width(), m_plot->height());
    });
    return written(path, buffer.data(), error);
}

bool PlotStack::exportPng(const QString& path, QString* error) {
    QPixmap picture;
    drawFinely([&] { picture = m_plot->toPixmap(0, 0, 2.0); });
    QBuffer buffer;
    picture.save(&buffer, "PNG");
    return written(path, buffer.data(), error);
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

void PlotStack::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(hasFocus() ? palette().color(QPalette::Highlight)
                              : palette().color(QPalette::Mid));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

} // namespace halfscope
