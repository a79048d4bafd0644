// Writes the runs of a window for TensorBoard while they train, as halfscope-cli run --tensorboard
// does. A thread of its own follows the run, so that neither the window nor the training waits for
// a disk.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/run.h"

#include <memory>
#include <string>
#include <thread>

namespace halfscope {

/// Any thread may call its functions.
class LiveBoard {
public:
    /// Throws RunError when the system has no thread to give.
    explicit LiveBoard(std::string folder);
    /// Writes what the run has now before it returns, unless that takes longer than a window may
    /// wait, as with a long run from its first step or a folder on a dead network. Then the thread
    /// is left to itself.
    ~LiveBoard();
    LiveBoard(const LiveBoard&) = delete;
    LiveBoard& operator=(const LiveBoard&) = delete;

    const std::string& folder() const;
    /// Follows this run from now on, from its first step; once the run has a step, its files
    /// replace those of the run before. Null stops following.
    void follow(std::shared_ptr<const Run>);
    /// Returns why nothing more is written; empty while all is well.
    Message problem() const;

private:
    struct Work;
    std::shared_ptr<Work> m_work; ///< shared with the thread
    std::jthread m_thread;
};

} // namespace halfscope
