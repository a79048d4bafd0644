// The cards of the lanes, one below the other. Reads the RunModel; refreshed with the other
// figures.
#pragma once

#include "ui/panels/lane_card.h"

#include <QScrollArea>

#include <utility>
#include <vector>

namespace halfscope {

class ScaleDialog;

class ScalerPanel : public QScrollArea {
    Q_OBJECT
public:
    explicit ScalerPanel(QWidget* parent = nullptr);

    /// Makes one card for each lane.
    void setLanes(const std::vector<LaneFacts>&);
    void refresh(const RunModel&);
    /// Sets what waits, by lane; a refresh shows it. Lanes without an entry have nothing.
    void hold(std::vector<HeldEdits> held) { m_held = std::move(held); }
    /// Whether any lane scales its loss.
    bool scales() const;
    void setScaleObstacle(const QString& reason);
    /// Returns the labels of the lanes whose loss scale can be set now; empty texts for the others.
    QStringList lanesForScale() const;
    /// Asks the user for another loss scale of one of those lanes, with this dialog; null for any
    /// other lane.
    ScaleDialog* askForScale(int lane);
    /// Returns the height of all cards, in pixels.
    int contentHeight() const;
    /// Makes the cards compact when they would not fit into this height in full. Leaves out the
    /// legend when there is no room for it below them.
    void fitInto(int height);
    QSize sizeHint() const override;

signals:
    /// Emitted with the user's text for the loss scale of a lane, from the next step on.
    void scaleChosen(int lane, const QString& text);
    /// The user asks that the lane's scale grow as soon as there are at least as many clean steps
    /// as the interval.
    void atLeastChosen(int lane);

private:
    ScaleDialog* askForScale(int lane, double scale);

    int cardsHeight() const;
    int legendHeight() const;
    void setCompact(bool);

    std::vector<LaneCard*> m_cards; ///< children of the content
    std::vector<HeldEdits> m_held;  ///< by lane
    QString m_obstacle;             ///< see setScaleObstacle()
    bool m_compact = false;
    int m_fullHeight = 0;        ///< the height of the cards when they are shown in full
    QWidget* m_legend = nullptr; ///< child of the content; null when no causes are known
};

} // namespace halfscope
