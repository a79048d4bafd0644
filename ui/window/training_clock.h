// Tells how long a training has run since it began or went on, and calls somebody every second
// meanwhile: what is said of its time changes although no step may end.
#pragma once

#include "ui/session/experiment_controller.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <functional>

namespace halfscope {

class TrainingClock : public QObject {
public:
    TrainingClock(ExperimentController& controller, const std::function<void()>& tick) {
        constexpr int kBetweenTicks = 1000; // ms
        m_timer.setInterval(kBetweenTicks);
        connect(&m_timer, &QTimer::timeout, this, tick);
        connect(&controller, &ExperimentController::stateChanged, this, [this](SessionState now) {
            if (now != SessionState::Running) return m_timer.stop();
            m_since.start();
            m_timer.start();
        });
    }
    /// Returns 0 while nothing trains.
    double seconds() const {
        return m_timer.isActive() ? static_cast<double>(m_since.elapsed()) / 1000 : 0;
    }

private:
    QTimer m_timer;
    QElapsedTimer m_since;
};

} // namespace halfscope
