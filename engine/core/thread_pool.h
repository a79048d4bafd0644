// A fixed set of threads that run numbered tasks. Results never depend on which thread runs a task:
// tasks are cut by size, not by the number of threads, and partial sums are added in task order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace halfscope {

/// Returns how many of a pool's threads may run the tasks: a single task runs on the calling
/// thread, and any thread may take one of several.
inline int threadsFor(int64_t tasks, int threads) { return tasks == 1 ? 1 : threads; }

class ThreadPool {
public:
    /// With 0 threads, makes one for each hardware thread. The caller of run() is one of them.
    /// `threadStart` is called on each worker at its start and on a thread that begins to call
    /// run(); it must not throw.
    explicit ThreadPool(int threads = 0, std::function<void()> threadStart = {});
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const;
    /// Calls task(index, thread) for each index in [0, count), and returns when all are done.
    /// thread is in [0, threadsFor(count, threads())), for scratch memory. Rethrows the first
    /// exception.
    void run(int64_t count, const std::function<void(int64_t index, int thread)>& task);

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace halfscope
