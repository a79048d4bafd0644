// Reads a file on a thread of its own: whatever it is, the window goes on, and closing does not
// wait for it.
#pragma once

#include <QObject>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>

namespace halfscope {

class FileJob : public QObject {
    Q_OBJECT
public:
    /// What becomes of a thread that does not come back, such as one that a dead network holds.
    enum class Leaving {
        Waits,    ///< the work uses what belongs to the maker of the job
        Abandons, ///< the work owns all that it uses: it is left to itself soon after the job
    };

    /// Starts `work`, which is cancellable (core/cancel.h) and touches nothing of the window.
    /// RunError where the system has no thread to give.
    explicit FileJob(std::function<void()> work, Leaving = Leaving::Waits);
    /// Cancels it, and joins the thread unless that is abandoned.
    ~FileJob() override;
    FileJob(const FileJob&) = delete;
    FileJob& operator=(const FileJob&) = delete;

    /// Asks the work to stop; it is done when it has. done() need not come then.
    void cancel() { m_thread.request_stop(); }
    /// Waits so long at most; whether it is done.
    bool isDone(std::chrono::milliseconds patience = {}) const;
    /// Of a job that is done: throws what the work threw.
    void result();

signals:
    /// Also when the work threw.
    void done();

private:
    struct Shared;
    Leaving m_leaving;
    std::shared_ptr<Shared> m_shared; ///< with the thread
    std::future<void> m_result;
    std::jthread m_thread; ///< last: it uses the rest
};

} // namespace halfscope
