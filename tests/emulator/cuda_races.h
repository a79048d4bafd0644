// Which accesses of a launch are in no order: two threads touch the same byte, one of them writes,
// and no barrier, no exchange of their warp and no ticket with its fences lies between. The
// emulator reports every access of an instrumented text; the order in which it happens to run them
// does not matter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halfscope::test {

class Races {
public:
    void startLaunch(int blocks, int threads, const char* arena, const char* scratch);
    /// Threads of another block follow; its shared memory is [shared, shared + sharedBytes).
    void startBlock(int block, const char* shared, size_t sharedBytes);
    void barrier(); ///< of the whole block
    void exchange(int warp);
    void fence(int thread);
    void atomic(int thread, const char* at);
    void access(int thread, const char* at, size_t bytes, bool isWrite);

    /// What is wrong, or nothing.
    const std::string& fault() const { return m_fault; }

private:
    static constexpr int kLanes = 32;
    static constexpr size_t kPageBytes = 1024;
    /// By block: its accesses in epochs below this one are known to have happened.
    using Clock = std::vector<uint32_t>;

    static constexpr uint32_t kNobody = ~0u;
    static constexpr uint32_t kMaxThreads = 1024;
    static constexpr uint32_t kMostCounted = 65535;
    static constexpr size_t kMaxGrain = 4;
    struct Access {
        uint32_t owner = kNobody; ///< block x kMaxThreads + thread
        /// Barriers of the block so far, and of the warp the exchanges since. Narrow: to fetch
        /// cells is what a search takes its time for.
        uint16_t epoch = 0, exchanges = 0;

        uint32_t block() const { return owner / kMaxThreads; }
        uint32_t thread() const { return owner % kMaxThreads; }
    };
    struct Cell {
        Access write, lastRead, otherRead; ///< otherRead: by another thread than lastRead's
    };
    /// A cell for every `grain` bytes: as wide as the narrowest access to the page so far.
    struct Page {
        uint64_t launch = 0;
        size_t grain = kMaxGrain;
        std::vector<Cell> cells{kPageBytes / kMaxGrain};
    };
    /// What a thread gave or got beyond its block's last barrier.
    struct Thread {
        Clock released; ///< by its last fence
        Clock drawn;    ///< from tickets, seen by nobody before a fence
        Clock known;    ///< after that fence
    };

    static void join(Clock& to, const Clock& from);
    bool isOrdered(const Access& before, const Access& now) const;
    void check(const Access& before, bool wasWrite, const Access& now, bool isWrite,
               const char* at) {
        if (before.owner != kNobody && !isOrdered(before, now))
            report(before, wasWrite, now, isWrite, at);
    }
    void record(Cell&, const Access& now, bool isWrite, const char* at);
    void report(const Access& before, bool wasWrite, const Access& now, bool isWrite,
                const char* at);
    bool isShared(const char* at) const { return at >= m_shared && at < m_shared + m_sharedBytes; }
    std::string place(const char* at) const;
    Page& pageOf(uintptr_t number);
    static void refine(Page&, size_t grain);

    uint64_t m_launch = 0;
    int m_blocks = 0;
    uint32_t m_block = 0;
    uint32_t m_epoch = 0; ///< barriers of this block so far
    const char* m_arena = nullptr;
    const char* m_scratch = nullptr;
    const char* m_shared = nullptr;
    size_t m_sharedBytes = 0;
    Clock m_known; ///< by all threads of the block
    std::vector<Thread> m_threads;
    std::vector<uint32_t> m_exchanges;      ///< by warp, since the last barrier
    std::map<const char*, Clock> m_tickets; ///< by address
    std::unordered_map<uintptr_t, std::unique_ptr<Page>> m_pages; ///< by address / kPageBytes
    /// The page last used of those with the same low bits of their number.
    std::array<std::pair<uintptr_t, Page*>, 256> m_recent{};
    std::string m_fault;
};

} // namespace halfscope::test
