// Chains of kernels that run over the same rows: fused loops and matrix products. A thread takes
// some rows through all kernels of a chain, one after the other, so that what one kernel writes is
// still in cache when the next one reads it. Rows are cut as each kernel cuts them when it runs
// alone, so the results have the same bits.
#pragma once

#include "engine/core/thread_pool.h"
#include "engine/cpu/loop.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

/// Bytes [begin, end) of the arena that a kernel reads or writes.
struct RowAccess {
    size_t begin = 0, end = 0;
    size_t rowBytes =
        0; ///< row r is [begin + r rowBytes, + rowBytes); 0: any row may need them all
    bool writes = false;
    bool atEnd = false; ///< written when all rows are done
};

/// The memory and threads with which a chain runs.
struct RowSetting {
    Arena arena;
    std::byte* scratch = nullptr; ///< scratchBytes() of it, aligned to cache lines
    ThreadPool* pool = nullptr;
    const std::atomic<bool>* stop = nullptr; ///< once true, rows may be left undone; may be null
    TaskOrder sweep = TaskOrder::Up;
};

/// A kernel that runs in three stages: prepare, rows in any order, finish.
class RowKernel {
public:
    virtual ~RowKernel() = default;
    /// Returns null for a kernel that needs all rows at once.
    static std::unique_ptr<RowKernel> make(const Graph&, const Kernel&, const MemoryPlan&,
                                           const CpuLoop*);

    int64_t rows = 0;
    int64_t unit = 1; ///< rows that one thread takes in order, beginning at a multiple of it
    int64_t step = 1; ///< a range of rows begins at a multiple of it
    std::vector<RowAccess> accesses;

    virtual size_t scratchBytes(int threads) const = 0;
    virtual void prepare(const RowSetting&) = 0;
    virtual void run(int64_t begin, int64_t end, int thread) = 0;
    virtual void finish() = 0;
};

class RowChain {
public:
    /// Returns the chain that the kernels from `first` on make for this number of threads, or
    /// nothing when fewer than two do. `loops` are those of the kernels (nothing for single nodes)
    /// and must outlive it.
    static std::optional<RowChain>
    from(const Program&, std::span<const std::optional<CpuLoop>> loops, size_t first, int threads);

    size_t kernels() const { return m_kernels.size(); }
    /// Kernels between those of the chain: the ones that do not need the chain are run before it,
    /// the others after it.
    const std::vector<size_t>& before() const { return m_before; }
    const std::vector<size_t>& after() const { return m_after; }
    size_t end() const { return m_end; } ///< one past its last kernel
    size_t scratchBytes() const;
    void run(const RowSetting&);

private:
    explicit RowChain(int threads) : m_threads(threads) {}
    bool add(std::unique_ptr<RowKernel>&);

    int m_threads;
    int64_t m_unit = 1, m_step = 1;
    std::vector<std::unique_ptr<RowKernel>> m_kernels;
    std::vector<size_t> m_before, m_after;
    size_t m_end = 0;
};

} // namespace halfscope
