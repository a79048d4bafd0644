// The counters of each lane as cards: loss, loss scale, how far the next growth is, skipped steps,
// and what happened last. Reads the RunModel; called once a frame.
#pragma once

#include "ui/models/run_model.h"

#include <QFrame>
#include <QScrollArea>
#include <vector>

class QGridLayout;
class QLabel;
class QProgressBar;

namespace halfscope {

class LaneCard : public QFrame {
    Q_OBJECT
public:
    LaneCard(int lane, bool scales, QWidget* parent = nullptr);
    void show(const LaneStatus&);

protected:
    void changeEvent(QEvent*) override;

private:
    QLabel* addFigure(QGridLayout&, int row, const QString& name);
    void applyColors();

    int m_lane;
    bool m_scales;
    QLabel* m_title = nullptr; ///< child, as all below; the scaler's are null without one
    QLabel* m_loss = nullptr;
    QLabel* m_scale = nullptr;
    QLabel* m_skipped = nullptr;
    QLabel* m_clean = nullptr;
    QProgressBar* m_progress = nullptr;
    QLabel* m_event = nullptr;
    QWidget* m_swatch = nullptr;
};

class ScalerPanel : public QScrollArea {
    Q_OBJECT
public:
    explicit ScalerPanel(QWidget* parent = nullptr);

    /// One card for each lane; `scales`: whether the lane has a loss scale.
    void setLanes(const std::vector<bool>& scales);
    void refresh(const RunModel&);
    QSize sizeHint() const override;

private:
    std::vector<LaneCard*> m_cards; ///< children of the content
};

} // namespace halfscope
