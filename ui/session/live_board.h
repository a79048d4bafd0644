// Writes the runs of a window for TensorBoard while they train, as halfscope-cli run --tensorboard
// does: a thread of its own follows the run, so that neither the window nor the training waits for
// a disk.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/run.h"

#include <memory>
#include <string>
#include <thread>

namespace halfscope {

/// Any thread may call.
class LiveBoard {
public:
    /// RunError where there is no thread for it.
    explicit LiveBoard(std::string folder);
    /// What the run has now is written when this returns, unless that takes longer than a window
    /// may wait: a long run from its first step, say, or a folder on a network that is dead. Then
    /// the thread is left to itself.
    ~LiveBoard();
    LiveBoard(const LiveBoard&) = delete;
    LiveBoard& operator=(const LiveBoard&) = delete;

    const std::string& folder() const;
    /// From now on this run, from its first step; once that is there, its files take the place of
    /// those of the one before. Null: none.
    void follow(std::shared_ptr<const Run>);
    /// Why nothing more is written; empty while all is well.
    Message problem() const;

private:
    struct Work;
    std::shared_ptr<Work> m_work; ///< with the thread
    std::jthread m_thread;
};

} // namespace halfscope
