// Writes the runs of a window for TensorBoard while they train, as halfscope-cli run --tensorboard
// does: a thread of its own follows the run, so that neither the window nor the training waits for
// a disk.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/tensorboard.h"

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace halfscope {

/// Any thread may call.
class LiveBoard {
public:
    /// RunError where there is no thread for it.
    explicit LiveBoard(std::string folder);
    /// What the run has now is written when this returns, unless that takes longer than a window
    /// may wait: a long run from its first step, say.
    ~LiveBoard();
    LiveBoard(const LiveBoard&) = delete;
    LiveBoard& operator=(const LiveBoard&) = delete;

    const std::string& folder() const { return m_folder; }
    /// From now on this run, from its first step; once that is there, its files take the place of
    /// those of the one before. Null: none.
    void follow(std::shared_ptr<const Run>);
    /// Why nothing more is written; empty while all is well.
    Message problem() const;

private:
    void work(const std::stop_token&);
    void writeUntil(const std::stop_token&);
    void look();

    const std::string m_folder;
    mutable std::mutex m_mutex; ///< of what follows, up to the thread's own
    std::condition_variable_any m_wake, m_ended;
    bool m_isDone = false; ///< the thread writes no more
    std::shared_ptr<const Run> m_run;
    std::exception_ptr m_failure;
    std::shared_ptr<const Run> m_followed; ///< the thread's own, as the next one
    std::optional<TensorBoardFollower> m_follower;
    std::stop_source m_hurries; ///< gives up in the middle
    std::jthread m_thread;      ///< last: it uses the rest
};

} // namespace halfscope
