// The frames of the window, about 30 a second. Each one shows what has arrived from a run, and its
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
        bool busy = false;     ///< something was drawn or arrived, or is about to
        bool competes = false; ///< a training uses the processors that draw
    };
    /// Calls `frame` for each frame, until stop().
    void start(std::function<Done()> frame);
    void stop() { m_timer.stop(); }
    /// Tells that something happened: settled() comes only after some quiet frames again.
    void stir() { m_quietFrames = 0; }

signals:
    /// Emitted when nothing has arrived and nothing was drawn for some frames.
    void settled();

private:
    void frame();
    void pace(bool competes);
    void showRate();

    QLabel& m_rate;
    std::function<Done()> m_frame;
    QTimer m_timer;
    QElapsedTimer m_clock;
    std::vector<qint64> m_times;              ///< of the frames in the last second, in ms
    double m_usedBefore = 0, m_frameCost = 0; ///< processor time of this thread, in ms
    int m_quietFrames = 0;
};

} // namespace halfscope
