// The plot of gradients over time among the others: when it is there, and whose gradients it shows.
#include "ui/look/owned.h"
#include "ui/models/lane_titles.h"
#include "ui/plots/gradient_map.h"
#include "ui/plots/plot_stack.h"
#include "ui/plots/readout_item.h"

#include <QMenu>
#include <QToolButton>

#include <algorithm>

namespace halfscope {

namespace {
constexpr int kBelowScale = 2; // its row: the band climbs and falls with the curve above it
} // namespace

void PlotStack::buildLaneBox() {
    m_laneBox = make<QToolButton>(this);
    m_laneBox->setObjectName(QStringLiteral("gradientLane"));
    m_laneBox->setAutoRaise(true);
    m_laneBox->setFocusPolicy(Qt::TabFocus);
    m_laneBox->setToolTip(tr("The lane whose gradients are shown over time"));
    m_laneMenu = make<QMenu>(m_laneBox);
    m_laneBox->hide();
    connect(m_laneBox, &QToolButton::clicked, this,
            [this] { m_laneMenu->popup(m_laneBox->mapToGlobal(m_laneBox->rect().bottomLeft())); });
    connect(m_plot.get(), &QCustomPlot::afterLayout, this, &PlotStack::placeLaneBox);
}

void PlotStack::startGradients(const QStringList& names, const std::vector<bool>& scales) {
    m_gradients.assign(static_cast<size_t>(names.size()), GradientHistory());
    m_laneChosen = m_laneChosen && names == m_names; // a reset leaves it
    if (m_laneChosen) return;
    const auto scaled = std::find(scales.begin(), scales.end(), true);
    m_gradientLane = scaled == scales.end() ? 0 : static_cast<int>(scaled - scales.begin());
}

void PlotStack::showGradients(bool shows) {
    if (shows == showsGradients()) return;
    QCPLayoutGrid& rows = *m_plot->plotLayout();
    if (shows) {
        auto* rect = make<QCPAxisRect>(m_plot.get());
        rows.insertRow(kBelowScale);
        rows.addElement(kBelowScale, 0, rect);
        m_map = std::make_unique<GradientMap>(*m_plot, *rect, *m_overlay);
        rows.setRowStretchFactor(kBelowScale, m_map->stretch());
        addCrosshairLine(*rect);
    } else {
        for (GradientHistory& history : m_gradients)
            history.interrupt();
        m_plot->removeItem(m_crosshairLines.back());
        m_crosshairLines.pop_back();
        QCPAxisRect* rect = &m_map->rect();
        m_map.reset();
        rows.remove(rect);
        rows.simplify();
    }
    showGradientLane();
    applyMargins();
    applyColors();
}

void PlotStack::addGradients(const std::vector<GradientRange>& ranges) {
    if (!m_map) return; // counted before it was known that nobody looks
    for (size_t lane = 0; lane < std::min(ranges.size(), m_gradients.size()); ++lane)
        m_gradients[lane].add(ranges[lane]);
    m_dirty = true;
}

void PlotStack::setSavedGradients(const std::vector<GradientHistory>& histories) {
    std::copy_n(histories.begin(), std::min(histories.size(), m_gradients.size()),
                m_gradients.begin()); // in place: the plot looks at one of them
    m_dirty = true;
}

void PlotStack::chooseGradientLane(int lane) {
    if (lane < 0 || lane >= m_labels.size()) return;
    m_gradientLane = lane;
    m_laneChosen = true;
    showGradientLane();
}

void PlotStack::showGradientLane() {
    const int lane = m_gradientLane;
    m_dirty = true;
    m_laneBox->setVisible(m_map && m_labels.size() > 1);
    if (lane >= m_labels.size()) return; // before there are lanes
    m_laneBox->setText(laneLetter(lane) + QStringLiteral(" \u25be"));
    m_laneBox->setAccessibleName(tr("Lane of the gradients over time: %1").arg(m_labels[lane]));
    m_laneMenu->clear();
    for (int i = 0; i < m_labels.size(); ++i) {
        QAction* action = m_laneMenu->addAction(m_labels[i], this, [this, i] {
            chooseGradientLane(i);
            refresh();
        });
        action->setCheckable(true);
        action->setChecked(i == lane);
    }
    if (!m_map) return;
    m_map->setLane(lane, m_labels[lane], m_gradients[static_cast<size_t>(lane)]);
    m_map->showValues(m_crosshair);
}

/// At the right end of the header, as the slider is at the loss'.
void PlotStack::placeLaneBox() {
    if (!m_map) return;
    constexpr int kBeside = 4; // pixels
    const QRect rect = m_map->rect().rect();
    const int header = ReadoutItem::heightFor(m_plot->font());
    const int width = m_laneBox->sizeHint().width();
    m_laneBox->setGeometry(kFocusBorder + rect.right() + 1 - width,
                           kFocusBorder + rect.top() - header, width, header);
    m_map->keepFree(m_labels.size() > 1 ? width + kBeside : 0);
}

std::vector<StackedPlot*> PlotStack::shownPlots() const {
    std::vector<StackedPlot*> plots;
    for (const auto& panel : m_panels)
        plots.push_back(panel.get());
    if (m_map) plots.insert(plots.begin() + kBelowScale, m_map.get());
    return plots;
}

} // namespace halfscope
