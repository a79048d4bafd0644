// The thread looks four times a second.
#include "ui/session/live_board.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"

#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

namespace halfscope {
namespace {

using namespace std::chrono_literals;
constexpr auto kPause = 250ms;
constexpr auto kWindowWaits = 100ms; ///< of a window, with the last look

} // namespace

LiveBoard::LiveBoard(std::string folder) : m_folder(std::move(folder)) {
    try {
        m_thread = std::jthread([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error& error) {
        throw RunError(phrase("Files", "%1: cannot start a thread that writes there: %2"), m_folder,
                       error.what());
    }
}

LiveBoard::~LiveBoard() {
    m_thread.request_stop();
    std::unique_lock lock(m_mutex);
    if (!m_ended.wait_for(lock, kWindowWaits, [this] { return m_isDone; }))
        m_hurries.request_stop();
    lock.unlock();
    m_thread.join();
}

void LiveBoard::follow(std::shared_ptr<const Run> run) {
    const std::lock_guard lock(m_mutex);
    m_run = std::move(run);
}

Message LiveBoard::problem() const {
    const std::lock_guard lock(m_mutex);
    return m_failure ? messageOf(m_failure) : Message();
}

void LiveBoard::work(const std::stop_token& stop) {
    const Cancellable scope(m_hurries.get_token());
    writeUntil(stop);
    const std::lock_guard lock(m_mutex);
    m_isDone = true;
    m_ended.notify_all();
}

void LiveBoard::writeUntil(const std::stop_token& stop) {
    for (bool last = false; !last;) {
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait_for(lock, stop, kPause, [] { return false; });
        }
        last = stop.stop_requested();
        try {
            look();
        } catch (const std::exception&) { // there may be no memory for a sentence
            m_follower.reset();
            const std::lock_guard lock(m_mutex);
            m_failure = std::current_exception();
            return;
        }
    }
}

void LiveBoard::look() {
    const auto run = [this] {
        const std::lock_guard lock(m_mutex);
        return m_run;
    }();
    if (!run || run->version() == 0) return;
    const RunSnapshot now = run->snapshot();
    if (now.step() < 1) return;
    if (run != m_followed) {
        if (m_follower) m_follower->write(m_followed->snapshot()); // its last steps
        m_follower.reset();
        m_follower.emplace(m_folder, now, startOf(now));
        m_followed = run;
    }
    m_follower->write(now);
}

} // namespace halfscope
