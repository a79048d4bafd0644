// The slider for the pace of a training, from one step a second to as fast as possible.
#pragma once

#include <QWidget>

class QSlider;

namespace halfscope {

class FigureLabel;

class PaceSlider : public QWidget {
    Q_OBJECT
public:
    explicit PaceSlider(QWidget* parent = nullptr);

    /// Sets the most steps a second; 0 means no limit.
    void setPace(double stepsPerSecond);
    double pace() const { return m_pace; }
    /// Moves the slider by so many places; positive is faster.
    void moveBy(int places);
    /// Whether that changes anything: at either end it does not.
    bool canMoveBy(int places) const;
    QSlider* slider() const { return m_slider; }

signals:
    /// Emitted when the user chooses a pace.
    void paceChosen(double stepsPerSecond);
    /// Emitted after every change, whoever made it.
    void moved();

private:
    void choose(int place);
    void showPace();

    QSlider* m_slider = nullptr; ///< child, as is the label
    FigureLabel* m_figure = nullptr;
    double m_pace = 0;
};

} // namespace halfscope
