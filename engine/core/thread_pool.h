// A fixed set of threads that run numbered tasks. Results never depend on which thread runs a task:
// tasks are cut by size, not by the number of threads, and partial sums are added in task order.
// Each thread begins with the same share of the numbers in every call, so that what it wrote is
// still in its own cache when a later call takes the same rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace halfscope {

/// Returns how many of a pool's threads may run the tasks: a single task runs on the calling
/// thread, and any thread may take one of several.
inline int threadsFor(int64_t tasks, int threads) { return tasks == 1 ? 1 : threads; }

/// The order in which a thread takes the tasks of its share. A call that begins where the one
/// before ended finds the end of a tensor in cache, even if the tensor does not fit as a whole:
/// this saves 2 % of a step of 16 MiB tensors.
enum class TaskOrder : uint8_t { Up, Down };

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
    /// thread is in [0, threadsFor(count, threads())), for scratch memory. A thread that has done
    /// its share helps with the others'. Rethrows the exception of the lowest index that failed.
    void run(int64_t count, const std::function<void(int64_t index, int thread)>& task,
             TaskOrder order = TaskOrder::Up);

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace halfscope
