// Implements the watch with sigtimedwait: no code runs inside a signal handler, so the reaction may
// lock and call the engine.
#include "app/cli_signals.h"

#include "app/cli_output.h"

#include "engine/core/error.h"

#include <cstdlib>
#include <ctime>
#include <string>
#include <system_error>

namespace halfscope::cli {

namespace {

constexpr timespec kPoll{0, 20'000'000};
constexpr std::chrono::milliseconds kSameRequest{500};

bool isIgnored(int number) {
    struct sigaction action {};
    return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

} // namespace

SignalWatch::SignalWatch() {
    sigemptyset(&m_signals);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        if (!isIgnored(number)) sigaddset(&m_signals, number); // nohup and `&` ignore some
    }
    pthread_sigmask(SIG_BLOCK, &m_signals, &m_before);
    try {
        m_thread = std::thread([this] { watch(); });
    } catch (const std::system_error& error) {
        pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
        throw RunError(Message::data(
            std::string("cannot start the thread that waits for Ctrl+C: ") + error.what()));
    }
}

SignalWatch::~SignalWatch() {
    m_done = true;
    m_thread.join();
    pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
}

void SignalWatch::setStop(std::function<void()> stop) {
    const std::lock_guard lock(m_mutex);
    m_stop = std::move(stop);
}

void SignalWatch::watch() {
    while (!m_done) {
        const int number = sigtimedwait(&m_signals, nullptr, &kPoll);
        const std::lock_guard lock(m_mutex);
        if (number > 0) react(number);
        if (m_interrupted && m_stop) m_stop();
    }
}

void SignalWatch::react(int number) {
    const auto now = std::chrono::steady_clock::now();
    if (!m_interrupted && m_stop) {
        m_interrupted = true;
        m_first = now;
        return;
    }
    if (!m_interrupted) std::_Exit(kInterruptedExit);
    if (now - m_first < kSameRequest) return;
    // The second time, the program dies of the signal itself, as if nobody had caught it.
    printNote("\nhalfscope-cli: ended at once; the files of this run are not complete\n");
    std::signal(number, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    pthread_kill(pthread_self(), number);
}

} // namespace halfscope::cli
