// Decides from the memory plan alone which kernels may run row by row together: two kernels may
// unless one of them writes bytes that the other needs for another row.
#include "engine/cpu/row_chain.h"

#include "engine/core/error.h"
#include "engine/cpu/matmul.h"
#include "engine/ops/op_info.h"

#include <algorithm>
#include <numeric>

namespace halfscope {

namespace {

constexpr size_t kCacheLine = 64;
size_t wholeLines(size_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

RowAccess accessOf(const Graph& graph, const MemoryPlan& memory, NodeId id) {
    const size_t begin = memory.offset[static_cast<size_t>(id)];
    require(begin != MemoryPlan::kNowhere, "row chain: a value that is read has no place");
    return {begin, begin + graph[id].bytes(), 0, false, false};
}

// ---- a fused loop ------------------------------------------------------------------------------

class LoopRows final : public RowKernel {
public:
    LoopRows(const Graph& graph, const Kernel& kernel, const MemoryPlan& memory,
             const CpuLoop& loop)
        : m_loop(loop) {
        // Without values by column, a loop's rows are single elements; it takes those of a matrix's
        // row together if its tiles do.
        if (kernel.space.rank() == 2 && kernel.split == 2 &&
            loop.rowStep() % std::max<int64_t>(kernel.space[1], 1) == 0)
            m_group = kernel.space[1];
        rows = loop.rows() / m_group;
        unit = loop.rowUnit() / m_group;
        step = loop.rowStep() / m_group;
        const auto rowBytes = [&](NodeId id) {
            return graph[id].bytes() / static_cast<size_t>(rows);
        };
        for (NodeId id : kernel.loads) {
            RowAccess read = accessOf(graph, memory, id);
            if (readsInPlace(graph, kernel, id)) read.rowBytes = rowBytes(id);
            accesses.push_back(read);
        }
        for (NodeId id : kernel.stores) {
            RowAccess write = accessOf(graph, memory, id);
            write.writes = true;
            write.atEnd = infoOf(graph[id].op).flags.has(OpFlag::Reduction);
            if (!write.atEnd) write.rowBytes = rowBytes(id);
            accesses.push_back(write);
        }
    }

    size_t scratchBytes(int threads) const override {
        return static_cast<size_t>(threads) * stride() + m_loop.partialDoubles() * sizeof(double);
    }
    void prepare(const RowSetting& setting) override {
        m_setting = setting;
        m_partials = reinterpret_cast<double*>(
            setting.scratch + static_cast<size_t>(setting.pool->threads()) * stride());
        m_begun.assign(static_cast<size_t>(setting.pool->threads()), 0);
    }
    void run(int64_t begin, int64_t end, int thread) override {
        const auto index = static_cast<size_t>(thread);
        auto* scratch = reinterpret_cast<float*>(m_setting.scratch + index * stride());
        if (m_begun[index] == 0) m_loop.fillSteady(m_setting.arena, scratch);
        m_begun[index] = 1;
        m_loop.runRows(m_setting.arena, scratch, m_partials, begin * m_group, end * m_group);
    }
    void finish() override { m_loop.finish(m_setting.arena, m_partials); }

private:
    /// Whether element i is read only for element i.
    static bool readsInPlace(const Graph& graph, const Kernel& kernel, NodeId load) {
        return graph[load].shape == kernel.space &&
               std::none_of(kernel.members.begin(), kernel.members.end(), [&](NodeId id) {
                   return infoOf(graph[id].op).flags.has(OpFlag::StridedRead) &&
                          graph[id].in[0] == load;
               });
    }
    size_t stride() const { return wholeLines(m_loop.scratchFloats() * sizeof(float)); }

    const CpuLoop& m_loop;
    int64_t m_group = 1; ///< rows of the loop that count as one row here
    RowSetting m_setting;
    double* m_partials = nullptr;
    std::vector<char> m_begun; ///< by thread
};

// ---- a matrix product --------------------------------------------------------------------------

class MatmulRows final : public RowKernel {
public:
    MatmulRows(const Graph& graph, NodeId id, const MemoryPlan& memory, const MatmulPlan& plan)
        : m_node(graph[id]), m_plan(plan) {
        rows = Matmul::rowsOf(plan);
        unit = Matmul::rowUnit(plan);
        step = Matmul::rowStep(plan);
        for (NodeId in : m_node.in) {
            RowAccess read = accessOf(graph, memory, in);
            const bool byRow = in == m_node.in[0] || (plan.split() && in == m_node.in[1]);
            if (byRow) read.rowBytes = graph[in].bytes() / static_cast<size_t>(rows);
            accesses.push_back(read);
            m_in.push_back({nullptr, &graph[in].shape, graph[in].dtype});
        }
        // A tensor that is both operands is needed as a whole.
        if (m_node.in[0] == m_node.in[1] && !plan.split()) accesses[0].rowBytes = 0;
        RowAccess write = accessOf(graph, memory, id);
        write.writes = true;
        write.atEnd = plan.split();
        if (!plan.split()) write.rowBytes = m_node.bytes() / static_cast<size_t>(rows);
        accesses.push_back(write);
    }

    size_t scratchBytes(int threads) const override {
        return m_plan.scratchFloats(threads) * sizeof(float);
    }
    void prepare(const RowSetting& setting) override {
        for (size_t i = 0; i < m_in.size(); ++i)
            m_in[i].data = setting.arena.at(accesses[i].begin);
        m_matmul.reset();
        m_call.emplace(CpuCall{m_node,
                               m_in,
                               setting.arena.at(accesses.back().begin),
                               *setting.pool,
                               {setting.scratch, scratchBytes(setting.pool->threads())},
                               setting.stop});
        m_matmul.emplace(*m_call, m_plan);
        m_matmul->prepare();
    }
    void run(int64_t begin, int64_t end, int thread) override {
        m_matmul->rows(begin, end, thread);
    }
    void finish() override { m_matmul->finish(); }

private:
    const Node& m_node;
    MatmulPlan m_plan;
    std::vector<CpuTensor> m_in;
    std::optional<CpuCall> m_call;
    std::optional<Matmul> m_matmul;
};

// ---- what may run together ---------------------------------------------------------------------

bool overlap(const RowAccess& a, const RowAccess& b) { return a.begin < b.end && b.begin < a.end; }
bool sameRows(const RowAccess& a, const RowAccess& b) {
    return a.rowBytes != 0 && a.rowBytes == b.rowBytes && a.begin == b.begin;
}

/// Whether `later` may work on some rows before `earlier` has done all of its own.
bool mayOverlap(const RowKernel& earlier, const RowKernel& later) {
    for (const RowAccess& a : earlier.accesses)
        for (const RowAccess& b : later.accesses) {
            // What is written at the end is written in the kernels' order, after all rows.
            if (b.atEnd || !overlap(a, b) || !(a.writes || b.writes)) continue;
            if (a.atEnd || !sameRows(a, b)) return false;
        }
    return true;
}

/// Whether a kernel covers more bytes than stay in a core's cache until the next kernel.
bool isLong(const RowKernel& kernel) {
    constexpr size_t kCacheBytes = size_t{1} << 20;
    size_t bytes = 0;
    for (const RowAccess& access : kernel.accesses)
        if (access.rowBytes != 0) bytes += access.end - access.begin;
    return bytes > kCacheBytes;
}

/// Returns what a kernel reads and writes, regardless of rows.
std::vector<RowAccess> accessesOf(const Program& program, const Kernel& kernel) {
    std::vector<RowAccess> accesses;
    for (NodeId id : kernel.loads)
        accesses.push_back(accessOf(program.graph, program.memory, id));
    for (NodeId id : kernel.stores) {
        accesses.push_back(accessOf(program.graph, program.memory, id));
        accesses.back().writes = true;
    }
    return accesses;
}

/// Whether kernels with these accesses must run in their order.
bool conflict(const std::vector<RowAccess>& a, const std::vector<RowAccess>& b) {
    return std::any_of(a.begin(), a.end(), [&](const RowAccess& x) {
        return std::any_of(b.begin(), b.end(), [&](const RowAccess& y) {
            return overlap(x, y) && (x.writes || y.writes);
        });
    });
}

} // namespace

std::unique_ptr<RowKernel> RowKernel::make(const Graph& graph, const Kernel& kernel,
                                           const MemoryPlan& memory, const CpuLoop* loop) {
    if (loop != nullptr)
        return loop->runsByRows() ? std::make_unique<LoopRows>(graph, kernel, memory, *loop)
                                  : nullptr;
    const NodeId id = kernel.members.front();
    const Node& node = graph[id];
    if (node.op != Op::Matmul || node.dtype == DType::F64 || node.elements() == 0) return nullptr;
    const Node& a = graph[node.in[0]];
    if (a.dtype == DType::F64) return nullptr;
    const MatmulPlan plan(node, a.shape, a.dtype);
    if (!Matmul::runsByRows(plan)) return nullptr;
    return std::make_unique<MatmulRows>(graph, id, memory, plan);
}

bool RowChain::add(std::unique_ptr<RowKernel>& kernel) {
    // Enough tasks for the threads to end at about the same time.
    constexpr int64_t kTasksPerThread = 4;
    if (!kernel) return false;
    if (m_kernels.empty() && !isLong(*kernel)) return false;
    const int64_t step = std::lcm(m_step, kernel->step);
    const int64_t unit = std::lcm(std::lcm(m_unit, kernel->unit), step);
    if (kernel->rows / unit < kTasksPerThread * m_threads) return false;
    for (const auto& earlier : m_kernels)
        if (earlier->rows != kernel->rows || !mayOverlap(*earlier, *kernel)) return false;
    m_step = step;
    m_unit = unit;
    m_kernels.push_back(std::move(kernel));
    return true;
}

std::optional<RowChain> RowChain::from(const Program& program,
                                       std::span<const std::optional<CpuLoop>> loops, size_t first,
                                       int threads) {
    constexpr size_t kMaxBetween = 8; // kernels to look past for the next member
    RowChain chain(threads);
    // A step that is given up must not have changed a state, so no chain extends beyond the point
    // of no return.
    const size_t end =
        first < program.pointOfNoReturn ? program.pointOfNoReturn : program.kernels.size();
    std::vector<std::vector<RowAccess>> members, skipped; // what they access; skipped: run after
    const auto meets = [](const auto& others, const std::vector<RowAccess>& accesses) {
        return std::any_of(others.begin(), others.end(),
                           [&](const auto& other) { return conflict(other, accesses); });
    };
    std::vector<size_t> before, after; // those since the last member
    for (size_t i = first; i < end && before.size() + after.size() <= kMaxBetween; ++i) {
        const CpuLoop* loop = loops[i] ? &*loops[i] : nullptr;
        auto kernel = RowKernel::make(program.graph, program.kernels[i], program.memory, loop);
        const auto accesses = accessesOf(program, program.kernels[i]);
        if (!meets(skipped, accesses) && chain.add(kernel)) {
            members.push_back(accesses);
            chain.m_before.insert(chain.m_before.end(), before.begin(), before.end());
            chain.m_after.insert(chain.m_after.end(), after.begin(), after.end());
            chain.m_end = i + 1;
            before.clear();
            after.clear();
        } else if (i == first) {
            return std::nullopt;
        } else if (!meets(members, accesses) && !meets(skipped, accesses)) {
            before.push_back(i);
        } else {
            after.push_back(i);
            skipped.push_back(accesses);
        }
    }
    if (chain.m_kernels.size() < 2) return std::nullopt;
    return chain;
}

size_t RowChain::scratchBytes() const {
    size_t bytes = 0;
    for (const auto& kernel : m_kernels)
        bytes += wholeLines(kernel->scratchBytes(m_threads));
    return bytes;
}

void RowChain::run(const RowSetting& setting) {
    RowSetting own = setting;
    for (const auto& kernel : m_kernels) {
        kernel->prepare(own);
        own.scratch += wholeLines(kernel->scratchBytes(m_threads));
    }
    const int64_t rows = m_kernels.front()->rows;
    const int64_t tasks = (rows + m_unit - 1) / m_unit;
    const auto runOne = [&](int64_t task, int thread) {
        const int64_t end = std::min(rows, (task + 1) * m_unit);
        for (int64_t row = task * m_unit; row < end; row += m_step)
            for (const auto& kernel : m_kernels) {
                if (setting.stop && setting.stop->load(std::memory_order_relaxed)) return;
                kernel->run(row, std::min(end, row + m_step), thread);
            }
    };
    setting.pool->run(tasks, runOne, setting.sweep);
    for (const auto& kernel : m_kernels)
        kernel->finish();
}

} // namespace halfscope
