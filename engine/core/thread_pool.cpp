// The pool: workers spin for a moment, then sleep; tasks are taken from one atomic counter a
// thread. Built for about a hundred calls of some 50 us in a row, so a call takes no lock that
// others hold.
#include "engine/core/thread_pool.h"

#include "engine/core/error.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halfscope {
namespace {

// Longer than the pause between two kernels of a step, and too short to be noticed; waking a
// sleeping thread costs about as much.
constexpr auto kSpinTime = std::chrono::microseconds(50);

void pauseBriefly() {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

// Returns true as soon as ready() does, or false when the time is over.
template <class Ready>
bool spinUntil(const Ready& ready) {
    constexpr int kChecksPerClock = 16;
    const auto end = std::chrono::steady_clock::now() + kSpinTime;
    do {
        for (int check = 0; check < kChecksPerClock; ++check) {
            if (ready()) return true;
            pauseBriefly();
        }
    } while (std::chrono::steady_clock::now() < end);
    return ready();
}

int hardwareThreads() {
    const unsigned count = std::thread::hardware_concurrency();
    return count == 0 ? 1 : static_cast<int>(count);
}

// Returns a number that no other thread has ever had: a thread's id may be that of one that ended.
uint64_t threadNumber() {
    static std::atomic<uint64_t> last{0};
    thread_local const uint64_t number = ++last;
    return number;
}

// True on a thread that is inside a task of any pool.
thread_local bool t_inTask = false;

class InTask {
public:
    InTask() { t_inTask = true; }
    ~InTask() { t_inTask = false; }
    InTask(const InTask&) = delete;
    InTask& operator=(const InTask&) = delete;
};

} // namespace

struct ThreadPool::State {
    using Task = std::function<void(int64_t, int)>;

    // Odd while a job is open. A worker counts itself in before it reads the phase, the caller
    // closes the phase before it reads the count: so either the worker sees the job closed, or the
    // caller waits for it, and nobody reads the job while the next one is written.
    std::atomic<uint32_t> phase{0};
    std::atomic<int32_t> inside{0};
    std::atomic<bool> stopping{false};

    /// The tasks [begin, end) with which a thread begins.
    struct alignas(64) Share {
        std::atomic<int64_t> taken{0};
        int64_t begin = 0, end = 0;
    };

    const Task* task = nullptr;
    TaskOrder order = TaskOrder::Up;
    std::vector<Share> shares; ///< by thread

    std::mutex failureMutex;
    std::exception_ptr failure;
    int64_t failedIndex = 0;

    std::mutex callers;      ///< one run() at a time
    uint64_t lastCaller = 0; ///< threadNumber() of the last caller
    std::function<void()> threadStart;
    bool spins = true;
    std::vector<std::thread> workers;

    ~State() {
        stopping.store(true);
        phase.fetch_add(2);
        phase.notify_all();
        for (std::thread& worker : workers)
            worker.join();
    }

    template <class Value>
    void waitWhile(std::atomic<Value>& variable, Value old) {
        if (spins && spinUntil([&] { return variable.load() != old; })) return;
        variable.wait(old);
    }

    void fail(int64_t index) {
        const std::lock_guard lock(failureMutex);
        if (!failure || index < failedIndex) {
            failure = std::current_exception();
            failedIndex = index;
        }
        for (Share& share : shares)
            share.taken.store(share.end - share.begin);
    }

    void takeFrom(Share& share, int thread) {
        const int64_t count = share.end - share.begin;
        for (int64_t i = share.taken.fetch_add(1); i < count; i = share.taken.fetch_add(1)) {
            const int64_t index = order == TaskOrder::Up ? share.begin + i : share.end - 1 - i;
            try {
                (*task)(index, thread);
            } catch (...) {
                fail(index);
            }
        }
    }

    /// Takes those of the thread's own share, then what is left of the others.
    void takeTasks(int thread) {
        const InTask inTask;
        const auto first = static_cast<size_t>(thread);
        for (size_t i = first; i < shares.size(); ++i)
            takeFrom(shares[i], thread);
        for (size_t i = 0; i < first; ++i)
            takeFrom(shares[i], thread);
    }

    void work(int thread) {
        if (threadStart) threadStart();
        uint32_t seen = 0;
        for (;;) {
            waitWhile(phase, seen);
            inside.fetch_add(1);
            seen = phase.load();
            // Read after the phase: the destructor sets it before it moves the phase, so a worker
            // that has seen the last phase never waits for another one.
            const bool last = stopping.load();
            if (!last && seen % 2 == 1) takeTasks(thread);
            if (inside.fetch_sub(1) == 1) inside.notify_all();
            if (last) return;
        }
    }

    void open(const Task& job, int64_t tasks, TaskOrder wanted) {
        task = &job;
        order = wanted;
        const auto threads = static_cast<int64_t>(shares.size());
        int64_t begin = 0;
        for (int64_t i = 0; i < threads; ++i) {
            Share& share = shares[static_cast<size_t>(i)];
            share.begin = begin;
            begin = tasks / threads * (i + 1) + (tasks % threads * (i + 1) + threads - 1) / threads;
            share.end = begin;
            share.taken.store(0);
        }
        phase.fetch_add(1);
        if (tasks - 1 >= static_cast<int64_t>(workers.size()))
            phase.notify_all();
        else
            for (int64_t i = 1; i < tasks; ++i)
                phase.notify_one();
    }

    void close() {
        phase.fetch_add(1);
        for (int32_t busy = inside.load(); busy != 0; busy = inside.load())
            waitWhile(inside, busy);
        task = nullptr;
    }
};

ThreadPool::ThreadPool(int threads, std::function<void()> threadStart)
    : m_state(std::make_unique<State>()) {
    require(threads >= 0, "a thread pool of fewer than 0 threads");
    if (threads == 0) threads = hardwareThreads();
    m_state->threadStart = std::move(threadStart);
    m_state->spins = threads <= hardwareThreads(); // otherwise a spinning thread would keep a
                                                   // working one from running
    m_state->shares = std::vector<State::Share>(static_cast<size_t>(threads));
    m_state->workers.reserve(static_cast<size_t>(threads) - 1);
    try {
        for (int thread = 1; thread < threads; ++thread)
            m_state->workers.emplace_back([state = m_state.get(), thread] { state->work(thread); });
    } catch (const std::system_error& error) {
        throw EngineError(phrase("Devices", "cannot start %1 threads: %2"), threads, error.what());
    }
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::threads() const { return static_cast<int>(m_state->workers.size()) + 1; }

void ThreadPool::run(int64_t count, const std::function<void(int64_t index, int thread)>& task,
                     TaskOrder order) {
    require(!t_inTask, "ThreadPool::run inside a task");
    if (count <= 0) return;
    State& state = *m_state;
    const std::lock_guard oneCaller(state.callers);
    if (state.threadStart && state.lastCaller != threadNumber()) {
        state.threadStart();
        state.lastCaller = threadNumber();
    }
    if (count == 1 || state.workers.empty()) {
        const InTask inTask;
        for (int64_t i = 0; i < count; ++i)
            task(order == TaskOrder::Up ? i : count - 1 - i, 0);
        return;
    }
    state.open(task, count, order);
    state.takeTasks(0);
    state.close();
    if (state.failure) std::rethrow_exception(std::exchange(state.failure, nullptr));
}

} // namespace halfscope
