// The thread, and the token that cancels it.
#include "ui/session/file_job.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "ui/session/job_link.h"
#include "ui/session/last_signal.h"
#include "ui/session/left_threads.h"

#include <system_error>
#include <utility>

namespace halfscope {
namespace {

constexpr std::chrono::milliseconds kPatience{50}; // how long to wait for a thread that was asked
                                                   // to stop

} // namespace

/// What the thread uses, even after it was left to itself.
struct FileJob::Shared {
    std::packaged_task<void(std::stop_token)> task;
    JobLink<FileJob> job;
};

FileJob::FileJob(std::function<void()> work, Leaving leaving)
    : m_leaving(leaving), m_shared(new Shared{{}, JobLink(this)}) {
    m_shared->task =
        std::packaged_task<void(std::stop_token)>([work = std::move(work)](std::stop_token stop) {
            const Cancellable scope(std::move(stop));
            work();
        });
    m_result = m_shared->task.get_future();
    try {
        m_thread = std::jthread([shared = m_shared](const std::stop_token& stop) {
            shared->task(stop);
            emitLast([&] { return stop.stop_requested(); },
                     [&] { shared->job.call([](FileJob& job) { job.tell(); }); });
        });
    } catch (const std::system_error& error) {
        throw RunError(phrase("Files", "Cannot start a thread to read a file: %1"), error.what());
    }
}

FileJob::~FileJob() {
    cancel();
    if (m_leaving == Leaving::Waits) return; // the thread's destructor joins it
    m_shared->job.cut();
    if (isDone(kPatience)) return;
    m_thread.detach();
    countLeftThread();
}

bool FileJob::isDone(std::chrono::milliseconds patience) const {
    if (!m_result.valid()) return true; // the result has been taken
    return m_result.wait_for(patience) == std::future_status::ready;
}

/// Through the queue: whoever made the job may not have connected yet, and a handler destroys it.
void FileJob::tell() { QMetaObject::invokeMethod(this, &FileJob::done, Qt::QueuedConnection); }

void FileJob::result() { m_result.get(); }

} // namespace halfscope
