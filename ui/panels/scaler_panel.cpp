// Makes room for the cards, and passes on what their buttons ask for.
#include "ui/panels/scaler_panel.h"

#include "ui/dialogs/scale_dialog.h"
#include "ui/look/owned.h"
#include "ui/look/tab_order.h"
#include "ui/look/theme.h"
#include "ui/panels/card_column.h"
#include "ui/panels/memory_bar.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include <algorithm>

namespace halfscope {

ScalerPanel::ScalerPanel(QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Counters of each lane"));
    setFocusPolicy(Qt::ClickFocus); // Tab goes to what the cards hold, F6 here without any
}

QSize ScalerPanel::sizeHint() const { return {280, widget() ? contentHeight() : 240}; }

/// Asks each card itself: the layout around the cards learns only later that one has changed.
int ScalerPanel::cardsHeight() const {
    const QMargins margins = widget()->layout()->contentsMargins();
    int height = margins.top() + margins.bottom();
    for (const LaneCard* card : m_cards)
        height += card->layout()->totalSizeHint().height() + widget()->layout()->spacing();
    return height;
}

void ScalerPanel::fitInto(int height) {
    if (!widget() || height <= 0) return;
    if (!m_compact) m_fullHeight = cardsHeight();
    if (m_compact != (m_fullHeight > height)) setCompact(!m_compact);
    if (m_legend && !m_compact) m_legend->setHidden(m_fullHeight + legendHeight() > height);
}

int ScalerPanel::legendHeight() const {
    return m_legend->sizeHint().height() + widget()->layout()->spacing();
}

void ScalerPanel::setCompact(bool on) {
    m_compact = on;
    for (LaneCard* card : m_cards)
        card->setCompact(on);
    if (m_legend) m_legend->setVisible(!on);
}

int ScalerPanel::contentHeight() const {
    if (!widget()) return 0;
    int height = cardsHeight();
    if (m_legend && !m_legend->isHidden()) height += legendHeight();
    return height;
}

void ScalerPanel::setLanes(const std::vector<LaneFacts>& lanes) {
    auto* content = make<CardColumn>(*this);
    auto* column = make<QVBoxLayout>(content);
    column->setContentsMargins(4, 4, 4, 4);
    column->setSpacing(4);
    // what compact cards would need in full is known only of those that had figures
    const int known = m_compact && m_cards.size() == lanes.size() ? m_fullHeight : 0;
    m_cards.clear();
    bool hasCauses = false; // whether any lane's memory is known by cause
    for (size_t i = 0; i < lanes.size(); ++i) {
        m_cards.push_back(make<LaneCard>(static_cast<int>(i), lanes[i], content));
        column->addWidget(m_cards.back());
        m_cards.back()->setScaleObstacle(m_obstacle);
        connect(m_cards.back(), &LaneCard::scaleEditRequested, this,
                [this, lane = static_cast<int>(i)](double scale) { askForScale(lane, scale); });
        // queued: the change makes the cards anew, and the button with them
        connect(
            m_cards.back(), &LaneCard::atLeastRequested, this,
            [this, lane = static_cast<int>(i)] { emit atLeastChosen(lane); }, Qt::QueuedConnection);
        hasCauses = hasCauses || !memoryParts(lanes[i].memory).empty();
    }
    m_legend = hasCauses ? make<MemoryLegend>(content) : nullptr;
    if (m_legend) {
        auto* legend = make<QHBoxLayout>();
        legend->setContentsMargins(20, 0, 8, 0); // below the texts of the cards
        legend->addWidget(m_legend);
        column->addLayout(legend);
    }
    column->addStretch(1);
    setWidget(content); // deletes the cards of the earlier run
    m_fullHeight = std::max(known, cardsHeight());
    if (m_compact) setCompact(true);
    orderTabs(*content, this); // new cards would otherwise come after the events
}

bool ScalerPanel::scales() const {
    return std::ranges::any_of(m_cards, [](const LaneCard* card) { return card->scales(); });
}

void ScalerPanel::setScaleObstacle(const QString& reason) {
    m_obstacle = reason;
    for (LaneCard* card : m_cards)
        card->setScaleObstacle(reason);
}

QStringList ScalerPanel::lanesForScale() const {
    QStringList labels;
    for (const LaneCard* card : m_cards)
        labels << (card->takesScale() ? card->accessibleName() : QString());
    return labels;
}

ScaleDialog* ScalerPanel::askForScale(int lane) {
    const auto i = static_cast<size_t>(lane);
    const bool takes = i < m_cards.size() && m_cards[i]->takesScale();
    return takes ? askForScale(lane, m_cards[i]->scale()) : nullptr;
}

ScaleDialog* ScalerPanel::askForScale(int lane, double scale) {
    auto* dialog = make<ScaleDialog>(laneLetter(lane), scale, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &ScaleDialog::chosen, this,
            [this, lane](const QString& text) { emit scaleChosen(lane, text); });
    dialog->open(); // training goes on
    return dialog;
}

void ScalerPanel::refresh(const RunModel& run) {
    const int64_t few = run.smallBatch(), next = run.nextValidation();
    for (size_t i = 0; i < m_cards.size() && static_cast<int>(i) < run.lanes(); ++i) {
        const LaneStatus& status = run.lane(static_cast<int>(i));
        const HeldEdits held = i < m_held.size() ? m_held[i] : HeldEdits();
        m_cards[i]->show(status, status.last.step == run.step() ? few : 0, held, next);
    }
}

} // namespace halfscope
