// Turns a loop kernel's members into instructions over scratch slots: decides which values are read
// in place, which are converted, and when a slot is free again.
#include "engine/cpu/loop_lowering.h"

#include "engine/core/error.h"
#include "engine/cpu/op_table.h"
#include "engine/ops/op_info.h"

#include <algorithm>

namespace halfscope {

namespace {

void copyLoop(const LoopArgs& args) { std::copy_n(args.in[0], args.n, args.out); }

} // namespace

CpuLoop::Lowering::Lowering(CpuLoop& loop, const Graph& graph, const Kernel& kernel,
                            const MemoryPlan& memory)
    : m_loop(loop), m_graph(graph), m_kernel(kernel), m_memory(memory) {}

void CpuLoop::Lowering::run() {
    for (NodeId id : m_kernel.members)
        if (isReduction(id))
            m_sumsWholeRows = m_sumsWholeRows || kindOf(id) == ReduceKind::Columns ||
                              kindOf(id) == ReduceKind::Channels;
    m_loop.setGeometry(m_kernel, m_sumsWholeRows);
    findLastUses();
    for (NodeId id : m_kernel.loads)
        if (m_lastUse.count(id) && m_graph[id].shape == m_kernel.space)
            addLoad(id, id, m_kernel.space.strides());
    for (NodeId id : m_kernel.members)
        addMember(id);
    addLast();
}

/// Adds sums after everything else, so that the instructions before them are one section, but
/// before stores that may overwrite what they read.
void CpuLoop::Lowering::addLast() {
    std::vector<Instruction>& program = m_loop.m_program;
    const bool readsMemory =
        std::any_of(m_reduces.begin(), m_reduces.end(),
                    [](const Instruction& reduce) { return reduce.in[0].slot < 0; });
    if (readsMemory) program.insert(program.end(), m_reduces.begin(), m_reduces.end());
    program.insert(program.end(), m_deferred.begin(), m_deferred.end());
    if (!readsMemory) program.insert(program.end(), m_reduces.begin(), m_reduces.end());
}

bool CpuLoop::Lowering::isReduction(NodeId id) const {
    return infoOf(m_graph[id].op).flags.has(OpFlag::Reduction);
}
bool CpuLoop::Lowering::isStridedRead(NodeId id) const {
    return infoOf(m_graph[id].op).flags.has(OpFlag::StridedRead);
}
ReduceKind CpuLoop::Lowering::kindOf(NodeId id) const {
    return reduceKind(m_kernel.space, m_kernel.split, std::get<AxesAttrs>(m_graph[id].attrs).axes);
}
bool CpuLoop::Lowering::isStore(NodeId id) const {
    return std::find(m_kernel.stores.begin(), m_kernel.stores.end(), id) != m_kernel.stores.end();
}
size_t CpuLoop::Lowering::offsetOf(NodeId id) const {
    const size_t offset = m_memory.offset[static_cast<size_t>(id)];
    require(offset != MemoryPlan::kNowhere, "cpu loop: a value that is read has no place");
    return offset;
}

/// Finds the last member that reads each value; casts that change nothing pass their reads on.
void CpuLoop::Lowering::findLastUses() {
    const int end = static_cast<int>(m_kernel.members.size());
    for (int i = 0; i < end; ++i) {
        const NodeId id = m_kernel.members[static_cast<size_t>(i)];
        if (isStridedRead(id)) continue;
        for (NodeId in : m_graph[id].in)
            m_lastUse[in] = isReduction(id) ? end : std::max(i, m_lastUse[in]);
    }
    for (int i = end - 1; i >= 0; --i) {
        const NodeId id = m_kernel.members[static_cast<size_t>(i)];
        if (!isAlias(id)) continue;
        const NodeId in = m_graph[id].in[0];
        const auto mine = m_lastUse.find(id);
        if (mine != m_lastUse.end()) m_lastUse[in] = std::max(m_lastUse[in], mine->second);
        if (isStore(id)) m_lastUse[in] = std::max(m_lastUse[in], i);
    }
}

bool CpuLoop::Lowering::isAlias(NodeId id) const {
    const Node& node = m_graph[id];
    return node.op == Op::Cast && holdsAll(node.dtype, m_graph[node.in[0]].dtype);
}

int CpuLoop::Lowering::takeSlot() {
    if (!m_free.empty()) {
        const int slot = m_free.back();
        m_free.pop_back();
        return slot;
    }
    return m_loop.m_slots++;
}

/// Frees the slots of values whose last reader is member `index`.
void CpuLoop::Lowering::freeAfter(int index) {
    for (auto& [value, slot] : m_owned) {
        if (slot < 0) continue;
        const auto last = m_lastUse.find(value);
        if (last != m_lastUse.end() && last->second > index) continue;
        m_free.push_back(slot);
        slot = -1;
    }
}

namespace {

/// Of the first `axes` axes, finds as few as possible along which the same elements are walked in
/// the same order: a value for each channel of an image has one run over all its pixels.
void mergeAxes(const Shape& space, const Shape& strides, int axes, Shape& extents, Shape& merged) {
    extents = merged = {};
    for (int axis = 0; axis < axes; ++axis) {
        if (space[axis] == 1) continue;
        const int last = extents.rank() - 1;
        if (last >= 0 && merged[last] == strides[axis] * space[axis]) {
            extents[last] *= space[axis];
            merged[last] = strides[axis];
        } else {
            extents.push(space[axis]);
            merged.push(strides[axis]);
        }
    }
    if (extents.empty()) {
        extents.push(1);
        merged.push(0);
    }
}

} // namespace

void CpuLoop::Lowering::addLoad(NodeId value, NodeId memory, const Shape& strides) {
    Load load;
    load.dtype = m_graph[memory].dtype;
    load.offset = offsetOf(memory);
    load.kind = loadKind(m_kernel.space, m_kernel.split, strides);
    if (m_kernel.space.elements() == 1) load.kind = LoadKind::Full;
    load.byRow =
        load.kind == LoadKind::Column ||
        (load.kind == LoadKind::Strided && isOfRows(m_kernel.space, m_kernel.split, strides));
    mergeAxes(m_kernel.space, strides, load.byRow ? m_kernel.split : m_kernel.space.rank(),
              load.extents, load.strides);
    if (load.kind == LoadKind::Full)
        m_loop.m_streams.emplace_back(load.offset, bytesOf(load.dtype));
    if (load.kind == LoadKind::Full && load.dtype == DType::F32) {
        m_places[value] = {-1, load.offset};
        return;
    }
    const bool steady = load.kind == LoadKind::Scalar ||
                        (load.kind == LoadKind::Row && m_loop.m_tileColumns == m_loop.m_columns);
    addLoadTo(value, load, steady);
}

void CpuLoop::Lowering::addLoadTo(NodeId value, Load load, bool steady) {
    // Each thread fills the slots of steady values once, so nothing may use them before or after;
    // those of gathers and of values by row are filled at the beginning of a tile.
    const bool gathers = load.byRow || load.kind == LoadKind::Strided;
    const bool own = steady || gathers;
    load.slot = own ? m_loop.m_slots++ : takeSlot();
    m_places[value] = {load.slot, 0};
    if (!own) m_owned[value] = load.slot;
    m_loop.m_loads.push_back(load);
    const size_t index = m_loop.m_loads.size() - 1;
    if (steady) {
        m_loop.m_steadyLoads.push_back(index);
        return;
    }
    Instruction instruction;
    instruction.kind = Instruction::Kind::Load;
    instruction.index = index;
    // There is no vector code for gathers. They come first, so that they do not cut the rest into
    // sections.
    std::vector<Instruction>& program = m_loop.m_program;
    program.insert(gathers ? program.begin() + m_gathers++ : program.end(), instruction);
    if (!load.byRow) return;
    Instruction spread;
    spread.kind = Instruction::Kind::Spread;
    spread.in[0] = {load.slot, 0};
    spread.out = {m_loop.m_slots++, 0};
    spread.index = index;
    program.insert(program.begin() + m_gathers + m_spreads++, spread);
    m_places[value] = spread.out;
}

void CpuLoop::Lowering::addMember(NodeId id) {
    const int index = m_index++;
    const Node& node = m_graph[id];
    if (isReduction(id)) {
        addReduction(id);
    } else if (node.op == Op::Constant) {
        Load load;
        load.isConstant = true;
        load.constant =
            static_cast<float>(roundTo(node.dtype, std::get<ConstantAttrs>(node.attrs).value));
        addLoadTo(id, load, true);
        if (isStore(id)) addStore(id);
    } else if (isStridedRead(id)) {
        addLoad(id, node.in[0], loadStrides(m_graph, id));
        if (isStore(id)) addStore(id);
    } else if (isAlias(id)) {
        m_places[id] = m_places.at(node.in[0]);
        if (isStore(id)) addStore(id);
    } else {
        addCompute(id, index);
    }
    freeAfter(index);
}

void CpuLoop::Lowering::addCompute(NodeId id, int index) {
    const Node& node = m_graph[id];
    Instruction compute;
    compute.op = node.op;
    compute.function = node.op == Op::Cast ? copyLoop : cpuOpOf(node.op).loop;
    require(compute.function != nullptr,
            "cpu loop: an op has no loop: " + std::string(nameOf(node.op)));
    compute.attrs = &node.attrs;
    compute.inputs = static_cast<int>(node.in.size());
    for (int i = 0; i < compute.inputs; ++i)
        compute.in[i] = m_places.at(node.in[static_cast<size_t>(i)]);
    compute.dtype = node.dtype;
    compute.rounds = node.dtype != DType::F32 && !infoOf(node.op).flags.has(OpFlag::KeepsPrecision);
    // Inputs that die here may be overwritten: loops read an element before they write it.
    freeAfter(index);
    const bool direct = isStore(id) && node.dtype == DType::F32 && !overlaysLoad(id);
    if (direct) {
        compute.out = {-1, offsetOf(id)};
    } else {
        compute.out = {takeSlot(), 0};
        m_owned[id] = compute.out.slot;
    }
    m_places[id] = compute.out;
    m_loop.m_program.push_back(compute);
    if (isStore(id) && !direct) addStore(id);
}

/// Whether a stored member is in memory that the kernel still reads for something else.
bool CpuLoop::Lowering::overlaysLoad(NodeId id) const {
    return std::any_of(m_kernel.loads.begin(), m_kernel.loads.end(), [&](NodeId load) {
        return m_memory.offset[static_cast<size_t>(load)] == offsetOf(id);
    });
}

void CpuLoop::Lowering::addStore(NodeId id) {
    Instruction store;
    store.kind = Instruction::Kind::Store;
    store.in[0] = m_places.at(id);
    store.dtype = m_graph[id].dtype;
    store.out = {-1, offsetOf(id)};
    if (!overlaysLoad(id)) {
        m_loop.m_program.push_back(store);
        return;
    }
    // It replaces a value that other members may still read in this tile, so it is written when all
    // are done, and its slot stays taken until then.
    m_lastUse[id] = static_cast<int>(m_kernel.members.size());
    if (isAlias(id)) {
        Instruction copy;
        copy.function = copyLoop;
        copy.in[0] = store.in[0];
        copy.inputs = 1;
        copy.out = {takeSlot(), 0};
        m_loop.m_program.push_back(copy);
        store.in[0] = copy.out;
    }
    m_deferred.push_back(store);
}

void CpuLoop::Lowering::addReduction(NodeId id) {
    const Node& node = m_graph[id];
    Reduction reduction;
    reduction.kind = kindOf(id);
    reduction.dtype = node.dtype;
    reduction.offset = offsetOf(id);
    reduction.count = node.elements();
    const int64_t inputs = m_kernel.space.elements();
    if (node.op == Op::Mean)
        reduction.factor = static_cast<double>(node.elements()) / static_cast<double>(inputs);
    reduction.partial = m_loop.m_partialDoubles;
    if (reduction.kind == ReduceKind::Rows)
        m_loop.m_partialDoubles += static_cast<size_t>(m_loop.m_rowBlocks * m_loop.m_columns);
    else if (reduction.kind == ReduceKind::All)
        m_loop.m_partialDoubles += static_cast<size_t>(m_loop.m_rowBlocks * m_loop.m_columnBlocks);
    else
        m_loop.m_partialDoubles += static_cast<size_t>(m_loop.m_rows);
    Instruction instruction;
    instruction.kind = Instruction::Kind::Reduce;
    instruction.in[0] = m_places.at(node.in[0]);
    instruction.index = m_loop.m_reductions.size();
    m_reduces.push_back(instruction);
    m_loop.m_reductions.push_back(reduction);
}

} // namespace halfscope
