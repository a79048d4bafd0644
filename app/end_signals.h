// Turns SIGTERM, SIGINT and SIGHUP into events of the window's loop.
#pragma once

#include <QSocketNotifier>

#include <array>
#include <functional>
#include <memory>

namespace halfscope {

/// Only one may exist at a time. While it lives, the first signal calls `ended` from the event loop
/// with the signal's number; a second signal ends the program at once.
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
