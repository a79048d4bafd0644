// The CPU executor: one arena, fused loops, node kernels on all cores. Small F64 nodes (loss
// scaler, metrics) run through the ops' reference functions.
#include "engine/core/error.h"
#include "engine/core/large_pages.h"
#include "engine/core/text.h"
#include "engine/core/usable_memory.h"
#include "engine/core/vector_set.h"
#include "engine/cpu/cpu_kernels.h"
#include "engine/cpu/loop.h"
#include "engine/cpu/row_chain.h"
#include "engine/cpu/tile_gemm.h"
#include "engine/exec/executor.h"
#include "engine/ops/op_info.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <set>
#include <sys/mman.h>
#include <thread>

namespace halfscope {

namespace {

constexpr size_t kAlignment = 64;
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kMaps = false; // the sanitizer watches the bounds of heap memory
#else
constexpr bool kMaps = true;
#endif

/// Gives memory back to where it came from.
struct Release {
    size_t mapped = 0; ///< bytes; 0 when it came from the heap
    void operator()(std::byte* p) const {
        if (mapped > 0)
            munmap(p, mapped);
        else
            std::free(p);
    }
};

/// Zeroed memory, aligned to cache lines, or to large pages if it is big enough. Large amounts are
/// mapped, not written: their pages appear when the first step touches them, on all cores, and
/// loading does not wait for gigabytes of zeros.
class AlignedBytes {
public:
    AlignedBytes() = default;
    explicit AlignedBytes(size_t bytes) {
        if (kMaps && bytes >= kLargePage) {
            map((bytes + kLargePage - 1) / kLargePage * kLargePage);
            return;
        }
        const size_t whole =
            std::max((bytes + kAlignment - 1) / kAlignment, size_t{1}) * kAlignment;
        m_data.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole)));
        if (!m_data) throw std::bad_alloc();
        std::memset(m_data.get(), 0, whole);
    }
    std::byte* data() const { return m_data.get(); }

private:
    /// Maps one large page more than needed, and returns what is before and behind the aligned
    /// part.
    void map(size_t whole) {
        void* taken = mmap(nullptr, whole + kLargePage, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (taken == MAP_FAILED) throw std::bad_alloc();
        auto* begin = static_cast<std::byte*>(taken);
        const size_t before =
            (kLargePage - reinterpret_cast<uintptr_t>(begin) % kLargePage) % kLargePage;
        if (before > 0) munmap(begin, before);
        if (before < kLargePage) munmap(begin + before + whole, kLargePage - before);
        m_data = {begin + before, Release{whole}};
        adviseLargePages(m_data.get(), whole);
    }

    std::unique_ptr<std::byte, Release> m_data;
};

std::string processorName() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.rfind("model name", 0) == 0)
            if (const size_t colon = line.find(": "); colon != std::string::npos)
                return line.substr(colon + 2);
    return "CPU";
}

/// Converts a stored tensor to doubles, and back with one rounding.
RefTensor toReference(const Node& node, const std::byte* data) {
    RefTensor tensor{node.shape, std::vector<double>(static_cast<size_t>(node.elements()))};
    for (size_t i = 0; i < tensor.values.size(); ++i) {
        if (node.dtype == DType::F64) {
            std::memcpy(&tensor.values[i], data + i * sizeof(double), sizeof(double));
        } else if (node.dtype == DType::I32) {
            int32_t value = 0;
            std::memcpy(&value, data + i * sizeof value, sizeof value);
            tensor.values[i] = value;
        } else {
            float value = 0;
            loadAsFloat(node.dtype, data + i * bytesOf(node.dtype), &value, 1);
            tensor.values[i] = static_cast<double>(value);
        }
    }
    return tensor;
}
void fromReference(const Node& node, const RefTensor& tensor, std::byte* data) {
    for (size_t i = 0; i < tensor.values.size(); ++i) {
        const double rounded = roundTo(node.dtype, tensor.values[i]);
        if (node.dtype == DType::F64) {
            std::memcpy(data + i * sizeof rounded, &rounded, sizeof rounded);
        } else if (node.dtype == DType::I32) {
            const auto value = static_cast<int32_t>(rounded);
            std::memcpy(data + i * sizeof value, &value, sizeof value);
        } else {
            const auto value = static_cast<float>(rounded);
            storeFromFloat(node.dtype, &value, data + i * bytesOf(node.dtype), 1);
        }
    }
}

std::string vectorsInUse() {
    const VectorSet set = usedVectorSet();
    if (set == VectorSet::Avx512 && hasVectorSet(VectorSet::Avx512Bf16) && pairsAreSlow())
        return "avx512 vectors (pairs of bf16 are slower here)";
    if (set < VectorSet::Amx || hasTileGemm()) return std::string(nameOf(set)) + " vectors";
    return std::string(nameOf(VectorSet::Avx512Bf16)) + " vectors (AMX multiplies wrongly here)";
}

class CpuExecutor final : public Executor {
public:
    explicit CpuExecutor(int threads) : m_pool(threads, prepareGemmThread) {
        checkVectorVariable();
        limitGemmLibrary();
        m_device.kind = "cpu";
        m_device.name = processorName() + " (" + std::to_string(m_pool.threads()) +
                        (m_pool.threads() == 1 ? " thread)" : " threads)");
        m_device.libraries = gemmLibrary() + ", " + vectorsInUse();
        m_device.memoryBytes = usableMemory();
    }

    const DeviceInfo& device() const override { return m_device; }
    CompileOptions compileOptions() const override {
        return {.rewrites = Rewrites::SavePasses,
                .channelSums = true,
                .wideBias = true,
                .takesChannelsLast = cpuTakesChannelsLast};
    }
    void load(std::shared_ptr<const Program>) override;
    RunResult run(RunMode, const Visitor&) override;
    void upload(NodeId id, std::span<const std::byte> bytes) override;
    void lend(NodeId id, std::span<const std::byte> bytes,
              std::shared_ptr<const void> owner) override;
    void download(NodeId id, std::span<std::byte> bytes) override {
        checkSize(id, bytes.size());
        std::copy_n(at(id), bytes.size(), bytes.begin());
    }
    ThreadPool* pool() override { return &m_pool; }
    void requestStop() override { m_stop = true; }
    size_t workspaceBytes() const override { return m_workspaceBytes; }
    size_t bytesToFill() const override;
    double lastStepSeconds() const override { return m_seconds; }

private:
    const Graph& graph() const { return m_program->graph; }
    std::byte* at(NodeId id) const {
        const size_t offset = m_program->memory.offset[static_cast<size_t>(id)];
        require(offset != MemoryPlan::kNowhere, "cpu: a value that is asked for is not stored");
        return m_arena.at(offset);
    }
    void checkSize(NodeId id, size_t bytes) const {
        require(m_program != nullptr, "cpu: no program is loaded");
        require(graph()[id].bytes() == bytes, "cpu: transfer of a wrong number of bytes");
    }
    void takeBack();
    void requireMemory(size_t wanted) const;
    void requireFree(size_t wanted) const;
    void makeKernels();
    void findChains();
    void allocate();
    void runKernel(size_t index);
    void runChain(RowChain&);
    TaskOrder nextSweep() {
        return m_sweep = m_sweep == TaskOrder::Up ? TaskOrder::Down : TaskOrder::Up;
    }
    void runNode(NodeId id);
    void commitStates();

    ThreadPool m_pool;
    DeviceInfo m_device;
    std::shared_ptr<const Program> m_program;
    std::vector<std::optional<CpuLoop>> m_loops; ///< by kernel
    std::map<size_t, RowChain> m_chains;         ///< by their first kernel
    AlignedBytes m_values, m_workspace, m_loopScratch;
    Arena m_arena;             ///< m_values, and the lent input
    bool m_hasRun = false;     ///< since it was loaded
    std::set<NodeId> m_filled; ///< what has been uploaded before that
    NodeId m_lent = kNoNode;
    std::shared_ptr<const void> m_lender;
    size_t m_workspaceBytes = 0, m_nodeBytes = 0, m_loopStride = 0, m_partialDoubles = 0;
    int m_loopThreads = 1; ///< threads that run a loop's blocks, each with its own scratch
    std::vector<double> m_partials;
    std::vector<CpuTensor> m_operands; ///< of the running node; kept, to allocate once
    std::atomic<bool> m_stop{false};
    const std::atomic<bool> m_never{false};
    TaskOrder m_sweep = TaskOrder::Up; ///< direction of the last long kernel
    bool m_mayStop = true;             ///< true before the point of no return
    double m_seconds = 0;
};

void CpuExecutor::load(std::shared_ptr<const Program> program) {
    takeBack();
    m_chains.clear(); // chains refer to the loops
    m_loops.clear();
    m_program.reset(); // when loading fails, nothing is loaded
    m_hasRun = false;
    m_filled.clear();
    for (AlignedBytes* const old : {&m_values, &m_workspace, &m_loopScratch})
        *old = AlignedBytes();                 // free for the next
    requireMemory(program->memory.arenaBytes); // first: what follows relies on its sizes
    m_program = std::move(program);
    try {
        makeKernels();
        allocate();
    } catch (...) {
        m_program.reset();
        throw;
    }
}

/// Uploads with all threads. Otherwise the thread that uploads would have the whole batch in its
/// own cache, from where the others would fetch it value by value during the products.
void CpuExecutor::upload(NodeId id, std::span<const std::byte> bytes) {
    checkSize(id, bytes.size());
    if (id == m_lent) takeBack();
    constexpr size_t kLarge = size_t{1} << 24; // smaller ones need no look at what is free
    if (!m_hasRun && m_filled.insert(id).second && bytes.size() >= kLarge)
        requireFree(bytes.size());
    constexpr size_t kPiece = 1 << 14;
    std::byte* const to = at(id);
    m_pool.run(static_cast<int64_t>((bytes.size() + kPiece - 1) / kPiece), [&](int64_t piece, int) {
        const size_t first = static_cast<size_t>(piece) * kPiece;
        const std::span<const std::byte> part =
            bytes.subspan(first, std::min(kPiece, bytes.size() - first));
        std::copy(part.begin(), part.end(), to + first);
    });
}

/// Reads one input where its owner keeps it; a second one is copied.
void CpuExecutor::lend(NodeId id, std::span<const std::byte> bytes,
                       std::shared_ptr<const void> owner) {
    if (m_lent != kNoNode && m_lent != id) return upload(id, bytes);
    checkSize(id, bytes.size());
    require(graph()[id].op == Op::Input, "cpu: only an input can be lent");
    m_arena.lend(m_program->memory.offset[static_cast<size_t>(id)], bytes);
    m_lent = id;
    m_lender = std::move(owner);
}

void CpuExecutor::takeBack() {
    m_arena.takeBack();
    m_lent = kNoNode;
    m_lender.reset();
}

void CpuExecutor::requireMemory(size_t wanted) const {
    if (m_device.memoryBytes != 0 && wanted > m_device.memoryBytes)
        throw EngineError(phrase("Devices", "cpu: the step needs %1 of memory, the machine has %2 "
                                            "for this program (a smaller picture, batch or width "
                                            "needs less)"),
                          sizeText(wanted), sizeText(m_device.memoryBytes));
}

size_t CpuExecutor::bytesToFill() const {
    if (!m_program || m_hasRun) return 0;
    size_t bytes = m_program->memory.arenaBytes + m_workspaceBytes;
    for (const NodeId id : m_filled)
        bytes -= std::min(bytes, graph()[id].bytes());
    return bytes;
}

/// Is asked before memory is filled that is only mapped until then. What a run fills is not asked
/// for here: a training asks once for all of its programs, and is not ended by one that runs late.
void CpuExecutor::requireFree(size_t wanted) const {
    if (const std::optional<size_t> free = freeMemory(); free && wanted > *free)
        throw EngineError(phrase("Devices", "cpu: the step needs %1 of memory, and only %2 is free "
                                            "(close other programs; a smaller picture, batch or "
                                            "width needs less)"),
                          sizeText(wanted), sizeText(*free));
}

void CpuExecutor::makeKernels() {
    size_t floats = 0, doubles = 0;
    m_nodeBytes = 0;
    m_loopThreads = 1;
    for (const Kernel& kernel : m_program->kernels) {
        m_loops.emplace_back();
        if (kernel.loop) {
            m_loops.back().emplace(graph(), kernel, m_program->memory);
            floats = std::max(floats, m_loops.back()->scratchFloats());
            doubles = std::max(doubles, m_loops.back()->partialDoubles());
            m_loopThreads =
                std::max(m_loopThreads, threadsFor(m_loops.back()->blocks(), m_pool.threads()));
        } else {
            const NodeId id = kernel.members.front();
            if (const CpuScratchFn scratch = cpuOpOf(graph()[id].op).scratch)
                m_nodeBytes = std::max(m_nodeBytes, scratch(graph(), id, m_pool.threads()));
        }
    }
    findChains();
    m_loopStride = (floats + 15) / 16 * 16;
    m_partialDoubles = doubles;
}

void CpuExecutor::allocate() {
    const size_t loopBytes = m_loopStride * sizeof(float) * static_cast<size_t>(m_loopThreads);
    m_workspaceBytes = m_nodeBytes + loopBytes + m_partialDoubles * sizeof(double);
    const size_t wanted = m_program->memory.arenaBytes + m_workspaceBytes;
    requireMemory(wanted);
    try {
        m_values = AlignedBytes(m_program->memory.arenaBytes);
        m_arena = Arena(m_values.data());
        m_workspace = AlignedBytes(m_nodeBytes);
        m_loopScratch = AlignedBytes(loopBytes);
        m_partials.assign(m_partialDoubles, 0.0);
    } catch (const std::bad_alloc&) {
        throw EngineError(phrase("Devices", "cpu: the step needs %1 of memory, which is not free "
                                            "(a smaller picture, batch or width needs less)"),
                          sizeText(wanted));
    }
}

/// Finds the chains. They use the scratch of a node, which never runs at the same time.
void CpuExecutor::findChains() {
    for (size_t first = 0; first < m_program->kernels.size();) {
        std::optional<RowChain> chain =
            RowChain::from(*m_program, m_loops, first, m_pool.threads());
        if (chain) m_nodeBytes = std::max(m_nodeBytes, chain->scratchBytes());
        const size_t next = chain ? chain->end() : first + 1;
        if (chain) m_chains.emplace(first, std::move(*chain));
        first = next;
    }
}

void CpuExecutor::runChain(RowChain& chain) {
    for (size_t index : chain.before())
        runKernel(index);
    chain.run({m_arena, m_workspace.data(), &m_pool, m_mayStop ? &m_stop : nullptr, nextSweep()});
    for (size_t index : chain.after())
        runKernel(index);
}

RunResult CpuExecutor::run(RunMode mode, const Visitor& visitor) {
    require(m_program != nullptr, "cpu: run without a program");
    m_hasRun = true;
    const auto start = std::chrono::steady_clock::now();
    // A visitor must see values that a chain would already have overwritten.
    const bool chains = mode == RunMode::Captured || !visitor;
    for (size_t index = 0; index < m_program->kernels.size(); ++index) {
        m_mayStop = index < m_program->pointOfNoReturn;
        if (const auto chain = m_chains.find(index); chains && chain != m_chains.end()) {
            runChain(chain->second);
            index = chain->second.end() - 1;
        } else {
            runKernel(index);
        }
        if (m_mayStop && m_stop.load(std::memory_order_relaxed)) {
            m_stop = false;
            return RunResult::Stopped;
        }
        if (mode == RunMode::Stepwise && visitor)
            for (NodeId id : m_program->kernels[index].stores)
                visitor(id, {at(id), graph()[id].bytes()});
    }
    commitStates();
    m_stop = false;
    m_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return RunResult::Done;
}

void CpuExecutor::runKernel(size_t index) {
    if (m_loops[index])
        m_loops[index]->run(m_arena, m_pool, reinterpret_cast<float*>(m_loopScratch.data()),
                            m_loopStride, m_partials.data(), m_mayStop ? m_stop : m_never,
                            m_loops[index]->isLong() ? nextSweep() : TaskOrder::Up);
    else
        runNode(m_program->kernels[index].members.front());
}

void CpuExecutor::runNode(NodeId id) {
    const Node& node = graph()[id];
    if (node.elements() == 0) return; // kernels divide by extents
    const CpuKernelFn kernel = cpuOpOf(node.op).kernel;
    const bool exact = std::any_of(node.in.begin(), node.in.end(),
                                   [&](NodeId in) { return graph()[in].dtype == DType::F64; });
    if (kernel != nullptr && !exact && node.dtype != DType::F64) {
        m_operands.clear();
        for (NodeId input : node.in)
            m_operands.push_back({at(input), &graph()[input].shape, graph()[input].dtype});
        kernel({node,
                m_operands,
                at(id),
                m_pool,
                {m_workspace.data(), m_nodeBytes},
                m_mayStop ? &m_stop : nullptr});
        return;
    }
    const OpInfo& info = infoOf(node.op);
    require(info.reference != nullptr, "cpu: an op cannot run: " + std::string(info.name));
    std::vector<RefTensor> in;
    for (NodeId input : node.in)
        in.push_back(toReference(graph()[input], at(input)));
    RefTensor out{node.shape, std::vector<double>(static_cast<size_t>(node.elements()))};
    info.reference(in, node.attrs, out);
    fromReference(node, out, at(id));
}

/// Copies the next values that are not already in the memory of their state.
void CpuExecutor::commitStates() {
    for (const StateInfo& state : graph().states()) {
        if (state.next == kNoNode || at(state.next) == at(state.node)) continue;
        std::memcpy(at(state.node), at(state.next), graph()[state.node].bytes());
    }
}

} // namespace

std::unique_ptr<Executor> makeCpuExecutor(int threads) {
    return std::make_unique<CpuExecutor>(threads);
}

} // namespace halfscope
