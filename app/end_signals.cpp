// A pipe from the signal handler to the event loop.
#include "app/end_signals.h"

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>

namespace halfscope {
namespace {

constexpr std::array kSignals{SIGTERM, SIGINT, SIGHUP};
std::atomic<int> g_pipe{-1};

void handle(int signal) {
    const auto byte = static_cast<unsigned char>(signal);
    if (write(g_pipe, &byte, 1) != 1) _exit(128 + signal);
    std::signal(signal, SIG_DFL);
}

} // namespace

EndSignals::EndSignals(std::function<void(int)> ended) {
    if (pipe2(m_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) return; // signals then end the program
    g_pipe = m_pipe[1];
    m_notifier = std::make_unique<QSocketNotifier>(m_pipe[0], QSocketNotifier::Read);
    QObject::connect(m_notifier.get(), &QSocketNotifier::activated, m_notifier.get(),
                     [this, ended = std::move(ended)] {
                         unsigned char signal = 0;
                         if (read(m_pipe[0], &signal, 1) == 1) ended(signal);
                     });
    for (const int signal : kSignals)
        if (std::signal(signal, handle) == SIG_IGN) std::signal(signal, SIG_IGN); // respects nohup
}

EndSignals::~EndSignals() {
    for (const int signal : kSignals)
        if (m_notifier) std::signal(signal, SIG_DFL);
    for (const int end : m_pipe)
        if (end >= 0) close(end);
}

} // namespace halfscope
