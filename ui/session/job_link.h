// The way from a thread to the job that it works for. The job may go while the thread works on.
#pragma once

#include <mutex>

namespace halfscope {

template <class Job>
class JobLink {
public:
    explicit JobLink(Job* job) : m_job(job) {}

    /// Calls `act` with the job, unless the job is gone. The job waits for the call before it goes.
    template <class Act>
    void call(Act act) {
        const std::lock_guard lock(m_mutex);
        if (m_job) act(*m_job);
    }
    /// Tells that the job goes: `act` is not called any more.
    void cut() {
        const std::lock_guard lock(m_mutex);
        m_job = nullptr;
    }

private:
    std::mutex m_mutex;
    Job* m_job; ///< null once the job is gone
};

} // namespace halfscope
