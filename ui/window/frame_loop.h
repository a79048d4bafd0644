// The frames of the window, about 30 a second. Each one shows what has arrived of a run, and its
// cost decides when the next one comes.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <functional>
#include <vector>

class QLabel;

namespace halfscope {

class FrameLoop : public QObject {
    Q_OBJECT
public:
    explicit FrameLoop(QLabel& rate, QObject* parent = nullptr);

    /// What a frame did.
    struct Done {
        bool busy = false;     ///< something was drawn or arrived, or will
        bool competes = false; ///< a training uses the processors that draw
    };
    /// `frame` is called for each of them, until stop().
    void start(std::function<Done()> frame);
    void stop() { m_timer.stop(); }
    /// Something happened: it takes some quiet frames again until settled().
    void stir() { m_quietFrames = 0; }

signals:
    /// Nothing has arrived and nothing was drawn for some frames.
    void settled();

private:
    void frame();
    void pace(bool competes);
    void showRate();

    QLabel& m_rate;
    std::function<Done()> m_frame;
    QTimer m_timer;
    QElapsedTimer m_clock;
    std::vector<qint64> m_times;              ///< ms, of the last second
    double m_usedBefore = 0, m_frameCost = 0; ///< processor time of this thread, ms
    int m_quietFrames = 0;
};

} // namespace halfscope
