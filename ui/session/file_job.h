// Reads a file on a thread of its own: however slow the file is, the window stays responsive, and
// closing does not wait for it.
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
    /// What happens to a thread that does not end, such as one that a dead network holds.
    enum class Leaving {
        Waits,    ///< the destructor joins it: the work uses what belongs to the maker of the job
        Abandons, ///< it is left to itself soon after the job is destroyed: the work owns all that
                  ///< it uses
    };

    /// How long to wait for work before it goes on aside.
    static constexpr std::chrono::milliseconds kAtOnce{50};

    /// Starts `work`, which is cancellable (core/cancel.h) and touches nothing of the window.
    /// Throws RunError when the system has no thread to give.
    explicit FileJob(std::function<void()> work, Leaving = Leaving::Waits);
    /// Cancels the work, and joins the thread unless it is abandoned.
    ~FileJob() override;
    FileJob(const FileJob&) = delete;
    FileJob& operator=(const FileJob&) = delete;

    /// Asks the work to stop; the job is done when it has stopped. done() may not be emitted then.
    void cancel() { m_thread.request_stop(); }
    /// Waits at most `patience`; returns whether the job is done.
    bool isDone(std::chrono::milliseconds patience = {}) const;
    /// Throws what the work threw. The job must be done.
    void result();

signals:
    /// Emitted also when the work threw. It comes from the event loop of the thread that made the
    /// job, so it is heard by whoever connects before going back there, and never once the job is
    /// gone. A handler may destroy the job.
    void done();

private:
    void tell();

    struct Shared;
    Leaving m_leaving;
    std::shared_ptr<Shared> m_shared; ///< shared with the thread
    std::future<void> m_result;
    std::jthread m_thread; ///< last member: it uses the others
};

} // namespace halfscope
