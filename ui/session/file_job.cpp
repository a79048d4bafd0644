// The thread, and the token by which it is cancelled.
#include "ui/session/file_job.h"

#include "engine/core/cancel.h"

#include <utility>

namespace halfscope {

FileJob::FileJob(std::function<void()> work)
    : m_task([work = std::move(work)](std::stop_token stop) {
          const Cancellable scope(std::move(stop));
          work();
      }),
      m_result(m_task.get_future()), m_thread([this](std::stop_token stop) {
          m_task(std::move(stop));
          emit done();
      }) {}

FileJob::~FileJob() = default;

bool FileJob::isDone(std::chrono::milliseconds patience) const {
    return m_result.wait_for(patience) == std::future_status::ready;
}

void FileJob::result() { m_result.get(); }

} // namespace halfscope
