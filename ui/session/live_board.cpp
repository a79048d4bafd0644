// The thread looks at the run four times a second.
#include "ui/session/live_board.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/runs/tensorboard.h"
#include "ui/session/left_threads.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

namespace halfscope {
namespace {

using namespace std::chrono_literals;
constexpr auto kPause = 250ms;
constexpr auto kWindowWaits = 100ms; ///< how long a window waits for the last look
constexpr auto kHurryWaits = 30ms;   ///< how long it waits after telling that look to give up

} // namespace

/// What the thread uses.
struct LiveBoard::Work {
    explicit Work(std::string to) : folder(std::move(to)) {}

    void run(const std::stop_token&);
    void writeUntil(const std::stop_token&);
    void look();
    /// Waits at most `patience`; returns whether the thread has finished writing.
    bool isDone(std::chrono::milliseconds patience) {
        std::unique_lock lock(mutex);
        return ended.wait_for(lock, patience, [this] { return done; });
    }

    const std::string folder;
    std::mutex mutex; ///< guards what follows, up to the thread's own members
    std::condition_variable_any wake, ended;
    bool done = false; ///< the thread has finished writing
    std::shared_ptr<const Run> wanted;
    std::exception_ptr failure;
    std::shared_ptr<const Run> followed; ///< the thread's own, as is `follower`
    std::optional<TensorBoardFollower> follower;
    std::stop_source hurries; ///< asks the thread to give up in the middle
};

LiveBoard::LiveBoard(std::string folder) : m_work(std::make_shared<Work>(std::move(folder))) {
    try {
        m_thread = std::jthread([work = m_work](const std::stop_token& stop) { work->run(stop); });
    } catch (const std::system_error& error) {
        throw RunError(phrase("Files", "%1: cannot start a thread that writes there: %2"),
                       m_work->folder, error.what());
    }
}

LiveBoard::~LiveBoard() {
    m_thread.request_stop();
    if (m_work->isDone(kWindowWaits)) return;
    m_work->hurries.request_stop();
    if (m_work->isDone(kHurryWaits)) return;
    m_thread.detach();
    countLeftThread();
}

const std::string& LiveBoard::folder() const { return m_work->folder; }

void LiveBoard::follow(std::shared_ptr<const Run> run) {
    const std::lock_guard lock(m_work->mutex);
    m_work->wanted = std::move(run);
}

Message LiveBoard::problem() const {
    const std::lock_guard lock(m_work->mutex);
    return m_work->failure ? messageOf(m_work->failure) : Message();
}

void LiveBoard::Work::run(const std::stop_token& stop) {
    const Cancellable scope(hurries.get_token());
    writeUntil(stop);
    const std::lock_guard lock(mutex);
    done = true;
    ended.notify_all();
}

void LiveBoard::Work::writeUntil(const std::stop_token& stop) {
    for (bool last = false; !last;) {
        {
            std::unique_lock lock(mutex);
            wake.wait_for(lock, stop, kPause, [] { return false; });
        }
        last = stop.stop_requested();
        try {
            look();
        } catch (const std::exception&) { // there may be no memory for a sentence now
            follower.reset();
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
            return;
        }
    }
}

void LiveBoard::Work::look() {
    const auto run = [this] {
        const std::lock_guard lock(mutex);
        return wanted;
    }();
    if (!run || run->version() == 0) return;
    const RunSnapshot now = run->snapshot();
    if (now.step() < 1) return;
    if (run != followed) {
        if (follower) follower->write(followed->snapshot()); // its last steps
        follower.reset();
        follower.emplace(folder, now, startOf(now));
        followed = run;
    }
    follower->write(now);
}

} // namespace halfscope
