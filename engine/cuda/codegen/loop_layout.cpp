// Takes a loop kernel apart and distributes it over threads.
//
// A loop that moves much is bound by memory, so the layout is made for streams. Neighbouring lanes
// read neighbouring packs of 16 bytes (8 halves or 4 floats), and a thread has about 64 bytes of
// each batch in flight before it computes; with 1024 threads per multiprocessor that is more than
// the 25 KB or so that hide the latency of an H200's memory. A block that runs alone has 128. Row
// vectors (a bias, a batch norm's scale) are read once into registers when threads own columns.
// Example: in a column sum over (262144, 256) halves, a warp reads a whole row of 512 bytes, eight
// warps read eight rows, and four such batches are in flight; a thread adds 32 rows into 8
// registers, and 1024 blocks fill the device some two or three times over.
#include "engine/cuda/codegen/loop_layout.h"

#include "engine/core/error.h"
#include "engine/ops/op_info.h"

#include <algorithm>

namespace halfscope::cuda {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t powerOfTwoFrom(int64_t n) {
    int64_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

class Facts {
public:
    Facts(const Program& program, const Kernel& kernel) : m_program(program), m_kernel(kernel) {}

    LoopFacts run() {
        m_facts.graph = &m_program.graph;
        m_facts.space = m_kernel.space;
        for (int axis = 0; axis < m_kernel.space.rank(); ++axis)
            (axis < m_kernel.split ? m_facts.rows : m_facts.columns) *= m_kernel.space[axis];
        addDirectLoads();
        for (NodeId id : m_kernel.members)
            addMember(id);
        for (NodeId id : m_kernel.stores)
            if (!flags(id).has(OpFlag::Reduction)) m_facts.stores.push_back({id, offsetOf(id)});
        return std::move(m_facts);
    }

private:
    const Node& node(NodeId id) const { return m_program.graph[id]; }
    OpFlags flags(NodeId id) const { return infoOf(node(id).op).flags; }
    size_t offsetOf(NodeId id) const {
        const size_t offset = m_program.memory.offset[static_cast<size_t>(id)];
        require(offset != MemoryPlan::kNowhere, "cuda loop: a value that is read has no place");
        return offset;
    }

    /// Adds the stored values of the loop's shape that members read at their own index.
    void addDirectLoads() {
        for (NodeId load : m_kernel.loads) {
            const bool direct =
                std::any_of(m_kernel.members.begin(), m_kernel.members.end(), [&](NodeId id) {
                    const auto& in = node(id).in;
                    return !flags(id).has(OpFlag::StridedRead) && !flags(id).has(OpFlag::Product) &&
                           std::find(in.begin(), in.end(), load) != in.end();
                });
            if (direct) addLoad(load, load, m_kernel.space.strides());
        }
    }

    void addLoad(NodeId value, NodeId memory, const Shape& strides) {
        LoopLoad load{value, node(memory).dtype, offsetOf(memory),
                      loadKind(m_kernel.space, m_kernel.split, strides), strides};
        // The only element is read where it is overwritten, so by the thread that writes it.
        if (m_facts.elements() == 1) load.kind = LoadKind::Full;
        m_facts.levels[value] = levelOf(load.kind);
        m_facts.loads.push_back(load);
    }

    static Level levelOf(LoadKind kind) {
        switch (kind) {
        case LoadKind::Row: return Level::Row;
        case LoadKind::Column: return Level::Column;
        case LoadKind::Scalar: return Level::Scalar;
        case LoadKind::Full:
        case LoadKind::Strided: break;
        }
        return Level::Full;
    }

    void addMember(NodeId id) {
        if (flags(id).has(OpFlag::Product) || flags(id).has(OpFlag::View)) {
            m_facts.levels[id] = Level::Full; // element by element, see given
            m_facts.given.push_back(id);
            return;
        }
        if (flags(id).has(OpFlag::StridedRead)) {
            addLoad(id, node(id).in[0], loadStrides(m_program.graph, id));
            return;
        }
        if (flags(id).has(OpFlag::Reduction)) {
            addReduction(id);
            return;
        }
        Level level = Level::Scalar;
        for (NodeId in : node(id).in) {
            const Level other = m_facts.levels.at(in);
            if (level == Level::Scalar || other == Level::Scalar)
                level = std::max(level, other);
            else if (level != other)
                level = Level::Full;
        }
        m_facts.levels[id] = level;
        m_facts.computed.push_back(id);
    }

    void addReduction(NodeId id) {
        LoopReduction reduction{
            id, node(id).in[0],
            reduceKind(m_kernel.space, m_kernel.split, std::get<AxesAttrs>(node(id).attrs).axes),
            offsetOf(id), 1};
        require(reduction.kind != ReduceKind::Other && reduction.kind != ReduceKind::Channels &&
                    m_facts.levels.count(reduction.input) != 0,
                "cuda loop: a reduction that no loop can do");
        const int64_t inputs = m_kernel.space.elements();
        if (node(id).op == Op::Mean && inputs > 0)
            reduction.factor =
                static_cast<double>(node(id).elements()) / static_cast<double>(inputs);
        m_facts.reductions.push_back(reduction);
    }

    const Program& m_program;
    const Kernel& m_kernel;
    LoopFacts m_facts;
};

class Layout {
public:
    Layout(const LoopFacts& facts, int maxBlocks, const DeviceTraits& traits)
        : m_facts(facts), m_maxBlocks(std::max(maxBlocks, 1)),
          m_processors(std::max(traits.multiprocessors, 1)) {}

    LoopLayout run() {
        // Grid strides may run past the end by less than this.
        constexpr int64_t kIndexEnd = int64_t{1} << 31;
        m_out.wideIndex = m_facts.elements() >= kIndexEnd;
        const bool sums = m_facts.reduces(ReduceKind::Rows) || m_facts.reduces(ReduceKind::Columns);
        // Without sums: two dimensions avoid reading row vectors again when there is much to do.
        constexpr int64_t kMuch = 1 << 16;
        const bool keepsRows = m_facts.has(Level::Row) && m_facts.elements() >= kMuch &&
                               m_facts.columns > 1 && m_facts.rows >= 64;
        m_out.flat = !sums && !keepsRows;
        chooseVector();
        if (m_out.flat)
            layFlat();
        else if (m_facts.reduces(ReduceKind::Columns) && !m_facts.reduces(ReduceKind::Rows))
            layAlongRows();
        else
            layDownColumns();
        return m_out;
    }

private:
    /// Chooses the elements of a pack: 16 bytes of the widest stream, but no more than are
    /// contiguous.
    void chooseVector() {
        size_t widest = 0, all = 0;
        for (const LoopLoad& load : m_facts.loads)
            if (m_facts.level(load.value) == Level::Full) {
                widest = std::max(widest, bytesOf(load.dtype));
                all += bytesOf(load.dtype);
            }
        for (const LoopStore& store : m_facts.stores)
            widest = std::max(widest, bytesOf(m_facts.node(store.value).dtype));
        int64_t vector = widest > 2 ? 4 : 8;
        // Registers: every column sum keeps a float and at times a double for each element, and
        // every member is written out for each element of each pack.
        const int rowSums = m_facts.reductionsOf(ReduceKind::Rows);
        constexpr int64_t kMaxStatements = 1024;
        const auto statements = static_cast<int64_t>(m_facts.computed.size()) + 1;
        while (vector > 1 && (vector * rowSums > 12 || vector * statements > kMaxStatements))
            vector /= 2;
        // A pack stays inside a row, except in flat loops, which end in a tail of single elements.
        const bool small = m_facts.elements() < 4096;
        while (vector > 1 && (!m_out.flat || small) &&
               (m_out.flat ? m_facts.elements() : m_facts.columns) % vector != 0)
            vector /= 2;
        // For few elements, more threads are better than wider ones.
        while (vector > 1 && m_facts.elements() / vector < kThreads && m_out.flat)
            vector /= 2;
        m_out.vector = static_cast<int>(vector);
        // a single block has a multiprocessor for itself, and nothing else hides what it waits for
        const int64_t inFlight = m_maxBlocks > 1 ? 64 : 128;
        const int64_t bytes = std::max<int64_t>(static_cast<int64_t>(all) * vector, 1);
        int64_t unroll = 1;
        while (unroll < 8 && unroll * 2 * bytes <= inFlight &&
               unroll * 2 * vector * statements <= kMaxStatements)
            unroll *= 2;
        m_out.unroll = static_cast<int>(unroll);
    }

    int64_t wanted(int64_t perProcessor) const {
        return std::min<int64_t>(m_maxBlocks, perProcessor * m_processors);
    }

    void layFlat() {
        const bool sums = !m_facts.reductions.empty();
        const int64_t packs = ceilDiv(m_facts.elements(), m_out.vector);
        // A small loop has one pack per thread; sums have more, because each block costs a merge.
        const int64_t perThread = sums ? std::max(m_out.unroll, 4) : 1;
        m_out.blocks = std::clamp<int64_t>(ceilDiv(packs, kThreads * perThread), 1,
                                           wanted(kBlocksOfAProcessor));
        while (m_out.unroll > 1 && m_out.blocks * kThreads * m_out.unroll >= 2 * packs)
            m_out.unroll /= 2;
    }

    /// Lays out threads that own columns and walk down rows.
    void layDownColumns() {
        const int64_t packs = ceilDiv(m_facts.columns, m_out.vector);
        m_out.lanes = static_cast<int>(std::min<int64_t>(powerOfTwoFrom(packs), kThreads));
        // Narrower when that leaves fewer lanes without work; at least a warp, which keeps rows
        // coalesced. A single block takes the whole width at once.
        const auto idle = [&](int64_t lanes) { return ceilDiv(packs, lanes) * lanes - packs; };
        if (m_maxBlocks > 1)
            for (int64_t lanes = m_out.lanes / 2; lanes >= kWarpLanes; lanes /= 2)
                if (idle(lanes) < idle(m_out.lanes)) m_out.lanes = static_cast<int>(lanes);
        m_out.rowsAtOnce = kThreads / m_out.lanes;
        m_out.columnsPerTile = int64_t{m_out.lanes} * m_out.vector;
        m_out.tiles = ceilDiv(m_facts.columns, m_out.columnsPerTile);
        m_out.columnBlocks = std::min<int64_t>(m_out.tiles, m_maxBlocks);
        const bool sums = !m_facts.reductions.empty();
        const int64_t perThread = sums ? std::max(m_out.unroll, 4) : m_out.unroll;
        splitRows(m_out.rowsAtOnce * perThread, wanted(kBlocksOfAProcessor));
        while (m_out.unroll > 1 && m_out.rowsPerBlock <= m_out.rowsAtOnce * m_out.unroll / 2)
            m_out.unroll /= 2;
    }

    /// Lays out threads that walk along rows, which they sum: one warp per row, or one block per
    /// row when there are few rows.
    void layAlongRows() {
        const int64_t packs = ceilDiv(m_facts.columns, m_out.vector);
        constexpr int64_t kStepsOfAWarp = 8;
        const bool few = m_facts.rows < 64 || packs > kWarpLanes * kStepsOfAWarp;
        m_out.lanes =
            static_cast<int>(std::min<int64_t>(powerOfTwoFrom(packs), few ? kThreads : kWarpLanes));
        m_out.rowsAtOnce = kThreads / m_out.lanes;
        const int64_t steps = ceilDiv(packs, m_out.lanes);
        // Rows first; columns are only cut when rows alone do not fill the device.
        constexpr int64_t kLeastSteps = 4;
        const int64_t rowBlocks = ceilDiv(m_facts.rows, m_out.rowsAtOnce);
        m_out.columnBlocks = std::clamp<int64_t>(wanted(kBlocksOfAProcessor) / rowBlocks, 1,
                                                 std::max<int64_t>(steps / kLeastSteps, 1));
        m_out.columnSteps = ceilDiv(steps, m_out.columnBlocks);
        m_out.columnsPerTile = m_out.columnSteps * m_out.lanes * m_out.vector;
        m_out.tiles = m_out.columnBlocks = ceilDiv(m_facts.columns, m_out.columnsPerTile);
        splitRows(m_out.rowsAtOnce, wanted(kBlocksOfAProcessor));
        const int64_t most = m_out.columnSteps > 1 ? m_out.columnSteps
                                                   : ceilDiv(m_out.rowsPerBlock, m_out.rowsAtOnce);
        while (m_out.unroll > 1 && m_out.unroll > most)
            m_out.unroll /= 2;
    }

    /// Divides the rows among the remaining blocks, a multiple of `least` rows each.
    void splitRows(int64_t least, int64_t blocks) {
        const int64_t rowBlocks = std::max<int64_t>(blocks / m_out.columnBlocks, 1);
        m_out.rowsPerBlock = ceilDiv(ceilDiv(m_facts.rows, rowBlocks), least) * least;
        m_out.rowBlocks = ceilDiv(m_facts.rows, m_out.rowsPerBlock);
        m_out.blocks = m_out.rowBlocks * m_out.columnBlocks;
    }

    static constexpr int64_t kWarpLanes = 32;
    /// Two to four of them run at once, depending on their registers: with this many rounds, the
    /// last one, which does not fill the device, counts little.
    static constexpr int64_t kBlocksOfAProcessor = 8;
    const LoopFacts& m_facts;
    int m_maxBlocks, m_processors;
    LoopLayout m_out;
};

} // namespace

bool LoopFacts::reduces(ReduceKind kind) const { return reductionsOf(kind) > 0; }
int LoopFacts::reductionsOf(ReduceKind kind) const {
    return static_cast<int>(
        std::count_if(reductions.begin(), reductions.end(),
                      [&](const LoopReduction& reduction) { return reduction.kind == kind; }));
}
bool LoopFacts::has(Level wanted) const {
    return std::any_of(loads.begin(), loads.end(),
                       [&](const LoopLoad& load) { return level(load.value) == wanted; });
}

LoopFacts factsOf(const Program& program, const Kernel& kernel) {
    return Facts(program, kernel).run();
}

LoopLayout layOut(const LoopFacts& facts, int maxBlocks, const DeviceTraits& traits) {
    return Layout(facts, maxBlocks, traits).run();
}

} // namespace halfscope::cuda
