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
class QToolButton;

namespace halfscope {

class LaneCard : public QFrame {
    Q_OBJECT
public:
    LaneCard(int lane, bool scales, QWidget* parent = nullptr);
    void show(const LaneStatus&);

signals:
    /// Another loss scale is wanted; `scale` is the one at hand.
    void scaleEditRequested(double scale);

protected:
    void changeEvent(QEvent*) override;

private:
    QLabel* addFigure(QGridLayout&, int row, const QString& name, int columns = 2);
    void addScale(QGridLayout&, int row);
    void applyColors();

    int m_lane;
    bool m_scales;
    double m_lastScale = 0;    ///< 0: no step yet
    QLabel* m_title = nullptr; ///< child, as all below; the scaler's are null without one
    QLabel* m_loss = nullptr;
    QLabel* m_scale = nullptr;
    QToolButton* m_setScale = nullptr;
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

signals:
    /// The user's text for the loss scale of a lane, from the next step on.
    void scaleChosen(int lane, const QString& text);

private:
    void askForScale(int lane, double scale);

    std::vector<LaneCard*> m_cards; ///< children of the content
};

} // namespace halfscope
