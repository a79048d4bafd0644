// Tells whether a training has just ended by itself: a key that is pressed then was meant for the
// training that still ran.
#pragma once

#include "ui/session/experiment_controller.h"

#include <QElapsedTimer>
#include <QObject>

namespace halfscope {

class RecentEnd : public QObject {
public:
    /// A time in ms in which nobody sees that the training has ended and decides to go on.
    static constexpr qint64 kRecentMs = 1000;

    explicit RecentEnd(ExperimentController& controller) : m_state(controller.state()) {
        connect(&controller, &ExperimentController::stateChanged, this, [this](SessionState now) {
            // an end that a checkpoint was taken at has been seen
            const bool ends = m_state != SessionState::Building && m_state != now;
            if (now == SessionState::Finished && ends)
                m_since.start();
            else if (now != SessionState::Finished)
                m_since.invalidate();
            m_state = now;
        });
    }
    bool isRecent() const { return m_since.isValid() && m_since.elapsed() < kRecentMs; }

private:
    SessionState m_state;
    QElapsedTimer m_since;
};

} // namespace halfscope
