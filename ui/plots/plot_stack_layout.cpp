// Where the plots, their headers and what lies over them are, by font and size.
#include "ui/look/owned.h"
#include "ui/plots/gradient_map.h"
#include "ui/plots/plot_stack.h"
#include "ui/plots/readout_item.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QSlider>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfscope {

namespace {
constexpr int kBelowPlot = 5; // pixels between a plot and the next header
constexpr int kSliderSteps = 100, kSliderWidth = 80, kBesideSlider = 10; // the last two in pixels
constexpr int kLeastForSlider = 480; // pixels: below, the header needs its width for figures
} // namespace

void PlotStack::buildSmoothing() {
    m_smoothingBox = make<QWidget>(this);
    m_smoothingLabel = make<QLabel>(m_smoothingBox);
    m_slider = make<QSlider>(Qt::Horizontal, m_smoothingBox);
    m_slider->setRange(0, static_cast<int>(std::lround(kSliderSteps * Smoother::kMost)));
    m_slider->setPageStep(10);
    m_slider->setFocusPolicy(Qt::TabFocus); // a click leaves Space to Play
    m_slider->setFixedWidth(kSliderWidth);
    m_slider->setAccessibleName(tr("Smoothing of the loss"));
    m_slider->setToolTip(
        tr("Draws the trend of the loss: at 0.9 each point is a tenth of the newest "
           "value and nine tenths of the trend before it. The curve itself stays, "
           "faint. It changes the picture, not the training."));
    m_smoothingLabel->setToolTip(m_slider->toolTip());
    m_smoothingLabel->setBuddy(m_slider);
    auto* row = make<QHBoxLayout>(m_smoothingBox);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(6);
    row->addWidget(m_smoothingLabel);
    row->addWidget(m_slider);
    connect(m_slider, &QSlider::valueChanged, this,
            [this](int value) { setSmoothing(value / double{kSliderSteps}); });
}

void PlotStack::buildPlot() {
    // thin lines without antialiasing are 20 to 60 times faster; only the few marks are smoothed,
    // and what PlotPanel draws finely
    m_plot->setNotAntialiasedElements(QCP::aeAll & ~QCP::AntialiasedElements(QCP::aePlottables));
    m_plot->setAntialiasedElements(QCP::aeScatters);
    m_plot->setInteractions(QCP::Interactions());
    m_plot->plotLayout()->clear();
    m_plot->plotLayout()->setRowSpacing(0);
    m_plot->addLayer(QStringLiteral("crosshair"), nullptr, QCustomPlot::limAbove);
    m_overlay = m_plot->layer(QStringLiteral("crosshair"));
    m_overlay->setMode(QCPLayer::lmBuffered);
    m_eventRect = make<QCPAxisRect>(m_plot.get());
    m_plot->plotLayout()->addElement(0, 0, m_eventRect);
    m_events = std::make_unique<EventLane>(*m_plot, *m_eventRect);
    addCrosshairLine(*m_eventRect);
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

/// A rect and its axes behind everything else, and the crosshair's part in it.
void PlotStack::addCrosshairLine(QCPAxisRect& rect) {
    rect.setLayer(QStringLiteral("background")); // it fills its place
    for (QCPAxis* axis : rect.axes())
        axis->setLayer(QStringLiteral("axes"));
    rect.setAutoMargins(QCP::msNone);
    auto* line = make<QCPItemStraightLine>(m_plot.get());
    line->setClipAxisRect(&rect);
    for (QCPItemPosition* position : line->positions()) {
        position->setAxisRect(&rect);
        position->setTypeX(QCPItemPosition::ptPlotCoords);
        position->setTypeY(QCPItemPosition::ptAxisRectRatio);
        position->setAxes(rect.axis(QCPAxis::atBottom), rect.axis(QCPAxis::atLeft));
    }
    line->setLayer(m_overlay);
    line->setVisible(false);
    m_crosshairLines.push_back(line);
}

/// One below the other, the events last. Panels that are there already stay when nothing changes.
void PlotStack::buildPanels(const std::vector<Measure>& measures) {
    if (std::equal(m_panels.begin(), m_panels.end(), measures.begin(), measures.end(),
                   [](const auto& panel, Measure measure) { return panel->measure() == measure; }))
        return;
    QCPLayoutGrid& rows = *m_plot->plotLayout();
    while (m_crosshairLines.size() > 1) {
        m_plot->removeItem(m_crosshairLines.back());
        m_crosshairLines.pop_back();
    }
    std::vector<QCPAxisRect*> before;
    for (const auto& panel : m_panels)
        before.push_back(&panel->rect());
    m_panels.clear();
    for (QCPAxisRect* rect : before)
        rows.remove(rect);
    rows.take(m_eventRect);
    rows.simplify();
    int row = 0;
    for (const Measure measure : measures) {
        auto* rect = make<QCPAxisRect>(m_plot.get());
        rows.addElement(row, 0, rect);
        rows.setRowStretchFactor(row++, stretchOf(measure));
        m_panels.push_back(std::make_unique<PlotPanel>(*m_plot, *rect, *m_overlay, measure));
        addCrosshairLine(*rect);
    }
    rows.addElement(row, 0, m_eventRect);
    m_panels[kLossPanel]->setSmoothing(m_smoothing);
}

/// Margins by the font alone: the plots line up, and nothing jumps when labels grow.
void PlotStack::applyMargins() {
    const QFontMetrics metrics(m_plot->font());
    const int left = metrics.horizontalAdvance(QStringLiteral("9.9e-99")) + 12;
    // room for half of the last step's label
    const int right = metrics.horizontalAdvance(QStringLiteral("9,999,999")) / 2 + 2;
    const int header = ReadoutItem::heightFor(m_plot->font());
    for (StackedPlot* plot : shownPlots())
        plot->rect().setMargins(QMargins(left, header, right, kBelowPlot));
    m_eventRect->setMargins(QMargins(left, 4, right, 2 * metrics.height() + 10));
    const int height = EventLane::heightFor(static_cast<int>(m_labels.size()));
    m_eventRect->setMinimumSize(20, height);
    m_eventRect->setMaximumSize(QWIDGETSIZE_MAX, height);
    foldPlots();
}

/// Plots of a few pixels each tell nothing: where there is little room the first ones get it,
/// and of the others stay the headers with their values.
void PlotStack::foldPlots() {
    const int line = QFontMetrics(m_plot->font()).height();
    const int around = ReadoutItem::heightFor(m_plot->font()) + kBelowPlot; // of each plot
    const QMargins events = m_eventRect->margins();
    double room = height() - 2 * kFocusBorder - events.top() - events.bottom() -
                  m_eventRect->minimumSize().height();
    const std::vector<StackedPlot*> plots = shownPlots();
    const auto share = [&plots](size_t i) { return plots[i]->stretch(); };
    double stretch = 0;
    for (size_t i = 0; i < plots.size(); ++i)
        stretch += share(i);
    size_t open = plots.size();
    while (open > 1 && room * share(open - 1) / stretch - around < line) {
        --open;
        stretch -= share(open);
        room -= around;
    }
    for (size_t i = 0; i < plots.size(); ++i)
        plots[i]->setFolded(i >= open);
    m_moved = true;
}

/// The plot does so when it draws: too late for what is chosen by a rect's pixels.
void PlotStack::layOut() {
    if (!std::exchange(m_moved, false)) return;
    using Element = QCPLayoutElement;
    for (const auto phase : {Element::upPreparation, Element::upMargins, Element::upLayout})
        m_plot->plotLayout()->update(phase);
}

void PlotStack::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    foldPlots();
    placeOverlays();
    m_dirty = true;
}

/// The slider lies at the right end of the loss' header, the way back to live below it.
void PlotStack::placeOverlays() {
    const int header = ReadoutItem::heightFor(m_plot->font());
    m_live->adjustSize();
    m_live->move(width() - m_live->width() - 18, header + kFocusBorder + 4);
    m_smoothingLabel->setText(m_smoothing > 0
                                  ? tr("Smoothed %1").arg(QLocale().toString(m_smoothing, 'f', 2))
                                  : tr("Smooth"));
    m_smoothingBox->adjustSize();
    const int right = m_panels.front()->rect().margins().right();
    const bool room = width() >= kLeastForSlider;
    m_smoothingBox->setVisible(room);
    m_smoothingBox->setGeometry(width() - kFocusBorder - right - m_smoothingBox->width(),
                                kFocusBorder, m_smoothingBox->width(), header);
    m_panels.front()->keepFree(room ? m_smoothingBox->width() + kBesideSlider : 0);
}

void PlotStack::setSmoothing(double weight) {
    weight = Smoother(weight).weight();
    if (weight == m_smoothing) return;
    m_smoothing = weight;
    m_panels[kLossPanel]->setSmoothing(weight);
    m_slider->setValue(static_cast<int>(std::lround(weight * kSliderSteps)));
    placeOverlays();
    m_dirty = true;
    Q_EMIT smoothingChanged(weight);
}

} // namespace halfscope
