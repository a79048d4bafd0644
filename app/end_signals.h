// SIGTERM, SIGINT and SIGHUP as events of the window's loop.
#pragma once

#include <QSocketNotifier>

#include <array>
#include <functional>
#include <memory>

namespace halfscope {

/// One at a time. While it lives, `ended` is called from the event loop with the signal's number;
/// a second signal ends the program at once.
class EndSignals {
public:
    explicit EndSignals(std::function<void(int)> ended);
    ~EndSignals();
    EndSignals(const EndSignals&) = delete;
    EndSignals& operator=(const EndSignals&) = delete;

private:
    std::array<int, 2> m_pipe{-1, -1};
    std::unique_ptr<QSocketNotifier> m_notifier;
};

} // namespace halfscope
