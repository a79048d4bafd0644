// What is drawn of which run, where the plots lie, and what mouse and keys do to them.
#include "ui/plots/plot_stack.h"

#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/models/lane_titles.h"
#include "ui/models/run_facts.h"
#include "ui/plots/crosshair.h"
#include "ui/plots/plot_controls.h"
#include "ui/plots/plot_mouse.h"
#include "ui/plots/plot_rows.h"
#include "ui/plots/plots_menu.h"
#include "ui/plots/readout_item.h"
#include "ui/plots/run_legend.h"
#include "ui/plots/stack_layout.h"
#include "ui/plots/tickers.h"
#include "ui/plots/whole_stack.h"

#include <qcustomplot.h>

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QPainter>
#include <QScopeGuard>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfscope {

namespace {
constexpr double kMarkRoom = 7;      // pixels beside the first and the newest step, for their marks
constexpr int kDescribeEvery = 1000; // milliseconds: screen readers must not be flooded
constexpr double kWheelStep = 1.25;  // zoom per notch of 120 eighths of a degree
} // namespace

PlotStack::PlotStack(QWidget* parent) : QWidget(parent), m_plot(std::make_unique<QCustomPlot>()) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Plots of loss, loss scale, throughput and skipped steps"));
    auto* box = make<QVBoxLayout>(this);
    box->setContentsMargins(kFocusBorder, kFocusBorder, kFocusBorder, kFocusBorder);
    box->setSpacing(0);
    box->addWidget(m_plot.get());
    m_runLegend = make<RunLegend>(this);
    box->addWidget(m_runLegend);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->setMinimumSize(1, 1); // QCustomPlot complains about painting on nothing
    m_controls = make<PlotControls>(*this);
    connect(m_controls, &PlotControls::liveAsked, this, [this] { setFollow(true); });
    connect(m_controls, &PlotControls::weightChanged, this, [this](double weight) {
        panelOf(metric::Loss).setSmoothing(weight);
        m_dirty = true;
        Q_EMIT smoothingChanged(weight);
    });
    connect(m_controls, &PlotControls::laneChosen, this, [this](int lane) {
        chooseGradientLane(lane);
        refresh();
    });
    connect(m_controls, &PlotControls::plotWanted, this, [this](const QString& title) {
        m_rows->want(title);
        applyMargins();
        m_dirty = true;
        refresh();
    });
    buildPlot();
    connect(m_plot.get(), &QCustomPlot::afterLayout, this, [this] {
        const int header = ReadoutItem::heightFor(m_plot->font());
        if (showsGradients()) m_controls->placeLane(*m_rows->map(), header, kFocusBorder);
    });
    connectMouse();
    setRun(nullptr);
    m_described.start();
}

PlotStack::~PlotStack() {
    // a dying widget below the pointer still gets a Leave event when the panels are already gone
    m_plot->removeEventFilter(this);
    m_plot->disconnect(this);
}

void PlotStack::buildPlot() {
    // thin lines without antialiasing are 20 to 60 times faster; PlotPanel draws some of them
    // finely
    m_plot->setNotAntialiasedElements(QCP::aeAll & ~QCP::AntialiasedElements(QCP::aePlottables));
    m_plot->setAntialiasedElements(QCP::aeScatters);
    m_plot->setInteractions(QCP::Interactions());
    m_plot->plotLayout()->clear();
    m_plot->plotLayout()->setRowSpacing(0);
    m_eventRect = make<QCPAxisRect>(m_plot.get());
    m_plot->plotLayout()->addElement(0, 0, m_eventRect);
    m_crosshair = std::make_unique<Crosshair>(*m_plot, *m_eventRect);
    m_events = std::make_unique<EventLane>(*m_plot, *m_eventRect);
    m_rows = std::make_unique<PlotRows>(*m_plot, *m_eventRect, *m_crosshair);
}

void PlotStack::setRun(std::shared_ptr<const Run> run) {
    const QStringList before = m_labels;
    const bool grows = run == m_run; // a lane was forked, or there is another metric
    m_run = std::move(run);
    m_info = nullptr;
    m_labels.clear();
    m_lastStep = 0;
    m_seen.reset();
    const bool gradients = showsGradients();
    showGradients(false);
    const std::vector<MetricId> plotted =
        m_run ? plottedMetrics(m_run->now())
              : std::vector<MetricId>{metric::Loss, metric::Scale, metric::DeviceSeconds,
                                      metric::SkippedSoFar};
    if (m_rows->build(m_run ? m_run->metrics() : knownMetrics(), plotted))
        panelOf(metric::Loss).setSmoothing(smoothing());
    if (m_run) m_labels = laneLabels(laneTitlesOf(m_run->now()));
    for (auto& panel : m_rows->panels())
        panel->setRun(m_run, m_labels);
    setOverlays(m_overlays, m_shown);
    m_events->setRun(m_run);
    m_laneChosen = m_laneChosen && (grows || before == m_labels); // a reset keeps the choice
    nameLanes();
    setFollow(true);
    pinCrosshair(std::nullopt);
    showGradients(gradients);
    showGradientLane();
    placeAnew();
}

void PlotStack::setOverlays(std::vector<Overlay> overlays, Overlay shown) {
    m_overlays = std::move(overlays);
    m_shown = std::move(shown);
    m_runLegend->setRuns(m_overlays, m_shown, lanes());
    m_seen.reset();
    for (auto& panel : m_rows->panels())
        panel->setOverlays(m_overlays);
    if (m_magnified > 1) applyMargins(); // the legend
    m_dirty = true;
}

PlotPanel& PlotStack::panelOf(MetricId id) const { return *m_rows->of(id); }

bool PlotStack::showsGradients() const { return m_rows->map() != nullptr; }

/// Returns whether a run changed. Makes the plots anew when its lanes or metrics are others now.
bool PlotStack::takeRun() {
    uint64_t seen = m_run ? m_run->version() : 0;
    for (const Overlay& overlay : m_overlays)
        seen += overlay.run->version();
    if (seen == m_seen) return false;
    m_seen = seen;
    if (!m_run) return true;
    const RunSnapshot& run = m_run->now();
    if (run.laneCount() != lanes() || !m_rows->has(plottedMetrics(run))) {
        const bool followed = m_following;
        const StepRange range = m_range;
        setRun(m_run);
        m_following = followed;
        m_range = range;
        offerWayBack();
        m_seen = seen;
    }
    m_lastStep = run.lastStep();
    if (!run.events().empty()) m_lastStep = std::max(m_lastStep, qint64{run.events().back().step});
    if (run.sharedInfo() != m_info) nameLanes();
    if (showsGradients()) showGradientLane();
    return true;
}

/// Names lanes by the present settings: a live edit may make them alike, or switch a scaler off.
void PlotStack::nameLanes() {
    if (!m_run) return;
    const RunSnapshot& run = m_run->now();
    m_info = run.sharedInfo();
    m_labels = laneLabels(laneTitlesOf(run));
    for (StackedPlot* plot : m_rows->shown())
        plot->renameLanes(m_labels);
    int telling = -1; // the last fork, or else the first lane with a loss scale
    for (int lane = 0; lane < lanes(); ++lane) {
        const bool scales = laneScales(run.info().config, lane);
        const bool forked = run.lanes()[static_cast<size_t>(lane)].parent >= 0;
        if (forked || (scales && telling < 0)) telling = lane;
        if (PlotPanel* scale = m_rows->of(metric::Scale)) scale->setAbsent(lane, !scales);
    }
    if (!m_laneChosen) m_gradientLane = std::max(0, telling);
    showGradientLane();
    m_dirty = true;
}

void PlotStack::showGradients(bool shows) {
    if (shows == showsGradients()) return;
    m_rows->showMap(shows);
    showGradientLane();
    placeAnew();
}

void PlotStack::hidePlots(const QStringList& columns) {
    m_rows->hide(columns);
    placeAnew();
}

const QStringList& PlotStack::hiddenPlots() const { return m_rows->hidden(); }

std::vector<Metric> PlotStack::plottable() const { return m_rows->metrics(); }

void PlotStack::chooseGradientLane(int lane) {
    if (lane < 0 || lane >= lanes()) return;
    m_gradientLane = lane;
    m_laneChosen = true;
    showGradientLane();
}

void PlotStack::showGradientLane() {
    m_dirty = true;
    const bool known = m_run && m_gradientLane < lanes(); // not before there are lanes
    const bool chooses = known && showsGradients() && lanes() > 1;
    m_controls->setLanes(chooses ? m_labels : QStringList(), m_gradientLane);
    if (!known || !showsGradients()) return;
    m_rows->map()->setLane(m_run, m_gradientLane, m_labels[m_gradientLane]);
    updateReadouts();
}

QCPRange PlotStack::allSteps() const { return stepsOf(m_run.get(), m_lastStep, m_overlays); }

double PlotStack::roomAtEnds() const { return roomFor(kMarkRoom * m_magnified, plotWidth()); }

bool PlotStack::refresh() {
    m_dirty = takeRun() || m_dirty;
    if (!m_dirty) return false;
    m_dirty = false;
    if (m_events->takeEvents()) applyMargins();
    if (std::exchange(m_moved, false)) layOutPlots(*m_plot);
    if (m_following) m_range.showAll(allSteps(), roomAtEnds());
    updatePlots();
    showSteps(*m_eventRect->axis(QCPAxis::atBottom), m_range.from(), m_range.to());
    m_events->update(m_range.from(), m_range.to(), plotWidth());
    m_stale = m_holds && !readStep();
    if (!m_stale) updateReadouts();
    m_plot->replot(QCustomPlot::rpQueuedRefresh);
    describe(false);
    return true;
}

void PlotStack::updatePlots() {
    for (auto& panel : m_rows->panels()) {
        panel->setResting(m_resting);
        panel->magnify(m_magnified);
        panel->setNamed(m_named);
    }
    for (StackedPlot* plot : m_rows->shown()) {
        showSteps(*plot->rect().axis(QCPAxis::atBottom), m_range.from(), m_range.to());
        m_dirty = !plot->update(m_range.from(), m_range.to(), plotWidth()) || m_dirty;
    }
}

void PlotStack::setSpeeds(SpeedsShown speeds) {
    if (std::exchange(m_speeds, speeds) == speeds) return;
    m_rows->setSpeeds(speeds);
    if (m_magnified > 1) placeAnew(); // a plot comes or goes
    m_dirty = true;
}

void PlotStack::magnify(double factor) {
    m_magnified = factor;
    m_events->magnify(factor);
    m_controls->setBare(factor > 1);
    m_rows->setBare(factor > 1);
    placeAnew();
}

void PlotStack::setFollow(bool follow) {
    if (follow) pinCrosshair(std::nullopt);
    if (follow == m_following) return;
    m_following = follow;
    offerWayBack();
    m_dirty = true;
    Q_EMIT followChanged(follow);
}

void PlotStack::setRange(double from, double to) {
    m_range.show(from, to, allSteps(), roomAtEnds());
    setFollow(false);
    m_dirty = true;
    refresh();
}

void PlotStack::zoom(double about, double factor) {
    setRange(about - (about - m_range.from()) / factor, about + (m_range.to() - about) / factor);
}

void PlotStack::showStep(qint64 step) {
    const auto middle = static_cast<double>(step);
    const bool seen = middle >= m_range.from() && middle <= m_range.to();
    const double half = m_range.width() / 2;
    if (!seen && !m_following) setRange(middle - half, middle + half);
    pinCrosshair(step);
}

std::optional<qint64> PlotStack::crosshair() const { return m_crosshair->step(); }

std::optional<qint64> PlotStack::readStep() const {
    const bool newest = m_range.to() >= static_cast<double>(m_lastStep);
    return crosshair() || newest ? crosshair()
                                 : std::max(qint64{0}, static_cast<qint64>(m_range.to()));
}

std::optional<qint64> PlotStack::pinnedStep() const { return m_crosshair->pinned(); }

std::optional<int> PlotStack::eventPointedAt() const {
    const auto at = [this](auto step) { return step ? m_events->eventOf(*step) : std::nullopt; };
    const std::optional<int> pinned = at(pinnedStep()), there = at(crosshair());
    return there && !(m_hovers && pinned) ? there : pinned;
}

void PlotStack::pinCrosshair(std::optional<qint64> step) {
    m_crosshair->pin(step);
    offerWayBack();
    moveCrosshair(step);
    updateReadouts(); // the way back leaves less room for names, even if the step is the same
    m_crosshair->layer().replot();
    emit pinned(step);
}

void PlotStack::offerWayBack() {
    const bool needed = !m_following || pinnedStep();
    m_controls->setWayBack(needed);
    Q_EMIT wayBackNeeded(needed);
}

void PlotStack::trainingStarts() {
    if (m_following && crosshair()) pinCrosshair(std::nullopt);
}

/// Only the crosshair's layer is painted again; the curves stay in their buffer.
void PlotStack::moveCrosshair(std::optional<qint64> step) {
    if (step) step = std::clamp(*step, qint64{0}, m_lastStep);
    if (!m_crosshair->moveTo(step)) return;
    updateReadouts();
    m_crosshair->layer().replot();
    describe(false);
}

void PlotStack::updateReadouts() {
    m_rows->showValues(readStep());
    if (m_controls->giveRoom()) m_rows->showValues(readStep());
}

void PlotStack::describe(bool now) {
    if (!now && m_described.isValid() && m_described.elapsed() < kDescribeEvery) return;
    m_described.start();
    QStringList parts = m_rows->spoken(readStep());
    const int events = m_events->count();
    parts << (events == 1 ? tr("1 event") : tr("%n events", nullptr, events));
    setAccessibleDescription(tr("Step %1: %2")
                                 .arg(QLocale().toString(readStep().value_or(m_lastStep)))
                                 .arg(parts.join(QStringLiteral("; "))));
}

void PlotStack::useColors(const Colors& colors) {
    m_colors = colors;
    m_runLegend->setColors(colors);
    m_plot->setBackground(QBrush(m_colors.background));
    for (StackedPlot* plot : m_rows->shown())
        plot->setColors(m_colors);
    m_events->setColors(m_colors);
    m_crosshair->setColors(m_colors);
    updateReadouts();
    m_dirty = true;
}

void PlotStack::applyMargins() {
    const std::vector<StackedPlot*> plots = m_rows->shown();
    const int legend = m_runLegend->place(size(), m_magnified > 1);
    m_named = legend > 0;
    for (int lines = 0; lines != m_events->lines();) { // of which the button takes room
        lines = m_events->lines();
        placePlots(plots, *m_events, height() - legend - 2 * kFocusBorder, m_plot->font());
        m_events->keepFree(m_controls->placeFolded(plots, kFocusBorder));
    }
    placeControls();
    m_moved = true;
}

void PlotStack::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    applyMargins();
    m_dirty = true;
}

void PlotStack::placeControls() {
    m_controls->place(*m_rows->panels().front(), ReadoutItem::heightFor(m_plot->font()),
                      kFocusBorder);
}

int PlotStack::plotWidth() const { return std::max(1, m_rows->panels().front()->rect().width()); }

void PlotStack::setSmoothing(double weight) { m_controls->setSmoothing(weight); }

double PlotStack::smoothing() const { return m_controls->smoothing(); }

template <class Draw>
auto PlotStack::drawFinely(Draw draw) {
    const auto before = qScopeGuard(
        [this, resting = std::exchange(m_resting, true), named = std::exchange(m_named, true)] {
            m_resting = resting;
            m_named = named;
            m_dirty = true; // draws the curves for the window again
        });
    updatePlots();
    return draw();
}

FigureLegend PlotStack::legendNow() const {
    const bool lacks = m_run && forkedSince(m_run->now(), readStep()); // headings leave those out
    return legendOf(m_colors, m_labels, m_shown, m_overlays, lacks);
}

QByteArray PlotStack::file(PlotForm form) {
    if (m_magnified > 1) return fileAsLaidOut(form);
    const auto places = qScopeGuard([this] { applyMargins(); });
    const WholeStack whole(*m_plot, *m_events, m_rows->shown(),
                           [this] { m_events->update(m_range.from(), m_range.to(), plotWidth()); });
    return fileAsLaidOut(form);
}

QByteArray PlotStack::fileAsLaidOut(PlotForm form) {
    const auto colors = qScopeGuard([this] { applyColors(); });
    useColors(paperColors());
    return drawFinely([&] { return plotFile(*m_plot, legendNow(), form); });
}

QImage PlotStack::picture() {
    return drawFinely([&] { return plotImage(*m_plot, legendNow()); });
}

PlotValues PlotStack::values(const QString& column) const {
    PlotPanel* panel = m_rows->named(column);
    return {m_range.from(), m_range.to(), panel ? panel->curves() : std::vector<PlottedCurve>()};
}

double PlotStack::refreshMilliseconds() const { return m_plot->replotTime(true); }

void PlotStack::connectMouse() {
    m_mouse = std::make_unique<PlotMouse>(*m_plot);
    connect(m_mouse.get(), &PlotMouse::pressed, this, [this] {
        setFocus(Qt::MouseFocusReason);
        m_dragged = m_range;
    });
    connect(m_mouse.get(), &PlotMouse::dragged, this, [this](int pixels) {
        const double shift = pixels * m_dragged.width() / plotWidth();
        setRange(m_dragged.from() - shift, m_dragged.to() - shift);
    });
    connect(m_mouse.get(), &PlotMouse::clicked, this, [this](const QPointF& position) {
        if (const auto index = m_events->eventAt(position))
            choose(*index);
        else if (m_lastStep > 0)
            pinOrUnpin(nearestStep(position));
    });
    connect(m_mouse.get(), &PlotMouse::doubleClicked, this, [this] {
        setFollow(true);
        refresh();
    });
    connect(m_mouse.get(), &PlotMouse::hovered, this, &PlotStack::hover);
    connect(m_mouse.get(), &PlotMouse::left, this,
            [this] { moveCrosshair(m_crosshair->pinned()); });
    connect(m_mouse.get(), &PlotMouse::wheelTurned, this, &PlotStack::turnWheel);
    connect(m_mouse.get(), &PlotMouse::menuAsked, this, &PlotStack::openMenu);
}

void PlotStack::choose(int event) {
    pinCrosshair(m_events->step(event));
    emit eventClicked(event);
}

void PlotStack::goToEvent(bool forward) {
    const auto index = m_events->eventBeside(crosshair(), forward);
    if (!index) return Q_EMIT noEventFound();
    goTo(m_events->step(*index));
    choose(*index);
}

void PlotStack::turnWheel(const QPointF& position, const QPoint& angle) {
    const double shift = angle.x() / 1200.0 * m_range.width();
    if (angle.y() != 0)
        zoom(stepAt(position), std::pow(kWheelStep, angle.y() / 120.0));
    else if (angle.x() != 0)
        setRange(m_range.from() - shift, m_range.to() - shift);
}

double PlotStack::stepAt(const QPointF& position) const {
    return m_eventRect->axis(QCPAxis::atBottom)->pixelToCoord(position.x());
}

qint64 PlotStack::nearestStep(const QPointF& position) const {
    return std::clamp<qint64>(std::llround(stepAt(position)), std::min<qint64>(1, m_lastStep),
                              m_lastStep);
}

void PlotStack::hover(const QPointF& position, const QPoint& onScreen) {
    const auto index = m_events->eventAt(position);
    const QString tip = wrappedTip(index ? m_events->text(*index) : helpAt(position.toPoint()));
    QToolTip::showText(onScreen, tip, m_plot.get()); // hides it where there is nothing to say
    if (m_lastStep == 0) return;
    m_hovers = true;
    moveCrosshair(index ? m_events->step(*index) : nearestStep(position));
}

void PlotStack::pinOrUnpin(qint64 step) {
    pinCrosshair(m_crosshair->pinned() == step ? std::nullopt : std::optional(step));
}

QString PlotStack::helpAt(const QPoint& position) const {
    if (const StackedPlot* plot = m_rows->withHeaderAt(position)) return plot->explanation();
    return m_events->explanationAt(position);
}

void PlotStack::keyPressEvent(QKeyEvent* event) {
    const qint64 newest = m_lastStep;
    // a whole step, or about a hundredth of the visible range
    const auto stride = std::max<qint64>(
        1, event->modifiers() & Qt::ShiftModifier ? std::llround(m_range.width() / 100) : 1);
    std::optional<qint64> target;
    const qint64 now = crosshair().value_or(newest);
    switch (event->key()) {
    case Qt::Key_Left: target = now - stride; break;
    case Qt::Key_Right: target = now + stride; break;
    case Qt::Key_Home: target = std::llround(std::max(m_range.from(), 1.0)); break;
    case Qt::Key_End: target = std::llround(m_range.to()); break;
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoom(static_cast<double>(now), kWheelStep); return;
    case Qt::Key_Minus: zoom(static_cast<double>(now), 1 / kWheelStep); return;
    case Qt::Key_F:
        setFollow(true);
        refresh();
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (crosshair()) pinOrUnpin(*crosshair());
        return;
    case Qt::Key_Escape:
        if (!crosshair()) break;
        pinCrosshair(std::nullopt);
        return;
    default: break;
    }
    if (!target || newest == 0) return QWidget::keyPressEvent(event);
    goTo(std::clamp(*target, qint64{1}, newest));
}

/// Moves the crosshair to a step and brings that step into view.
void PlotStack::goTo(qint64 step) {
    const auto middle = static_cast<double>(step);
    if (middle < m_range.from() || middle > m_range.to()) {
        const double half = m_range.width() / 2;
        setRange(middle - half, middle + half);
    }
    m_hovers = false;
    moveCrosshair(step);
    describe(true);
}

void PlotStack::contextMenuEvent(QContextMenuEvent* event) { openMenu(event->globalPos()); }

void PlotStack::openMenu(const QPoint& onScreen) {
    const PlotPanel* panel = m_lastStep > 0 ? m_rows->at(m_plot->mapFromGlobal(onScreen)) : nullptr;
    auto* menu = make<PlotsMenu>(*this, panel ? &panel->metric() : nullptr);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->popup(onScreen); // training is drawn meanwhile
}

void PlotStack::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    describe(true);
    update();
}

void PlotStack::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

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
