// Reads a file on a thread of its own: whatever it is, the window goes on, and closing does not
// wait for it.
#pragma once

#include <QObject>

#include <chrono>
#include <functional>
#include <future>
#include <thread>

namespace halfscope {

class FileJob : public QObject {
    Q_OBJECT
public:
    /// Starts `work`, which is cancellable (core/cancel.h) and touches nothing of the window.
    /// RunError where the system has no thread to give.
    explicit FileJob(std::function<void()> work);
    /// Cancels it and joins the thread.
    ~FileJob() override;
    FileJob(const FileJob&) = delete;
    FileJob& operator=(const FileJob&) = delete;

    /// Waits so long at most; whether it is done.
    bool isDone(std::chrono::milliseconds patience = {}) const;
    /// Of a job that is done: throws what the work threw.
    void result();

signals:
    /// Also when the work threw.
    void done();

private:
    std::packaged_task<void(std::stop_token)> m_task;
    std::future<void> m_result;
    std::jthread m_thread; ///< last: it uses the rest
};

} // namespace halfscope
