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

    /// Steps a second at most; 0: no limit.
    void setPace(double stepsPerSecond);
    double pace() const { return m_pace; }
    /// The next slower or faster place of the slider.
    void moveBy(int places);
    QSlider* slider() const { return m_slider; }

signals:
    /// By the user.
    void paceChosen(double stepsPerSecond);

private:
    void choose(int place);
    void showPace();

    QSlider* m_slider = nullptr; ///< child, as the label
    FigureLabel* m_figure = nullptr;
    double m_pace = 0;
};

} // namespace halfscope
