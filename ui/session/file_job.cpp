// The thread, and the token by which it is cancelled.
#include "ui/session/file_job.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "ui/session/last_signal.h"

#include <system_error>
#include <utility>

namespace halfscope {

FileJob::FileJob(std::function<void()> work)
    : m_task([work = std::move(work)](std::stop_token stop) {
          const Cancellable scope(std::move(stop));
          work();
      }),
      m_result(m_task.get_future()) {
    try {
        m_thread = std::jthread([this](const std::stop_token& stop) {
            m_task(stop);
            emitLast(stop, [this] { emit done(); });
        });
    } catch (const std::system_error& error) {
        throw RunError(phrase("Files", "Cannot start a thread to read a file: %1"), error.what());
    }
}

FileJob::~FileJob() = default;

bool FileJob::isDone(std::chrono::milliseconds patience) const {
    return m_result.wait_for(patience) == std::future_status::ready;
}

void FileJob::result() { m_result.get(); }

} // namespace halfscope
