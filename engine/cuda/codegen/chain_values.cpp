// Chooses the values that chains recompute: those of loops over large spaces whose readers are
// products or loops, as far as that costs little.
#include "engine/cuda/codegen/chain_values.h"

#include "engine/ops/op_info.h"
#include "engine/passes/fuse.h"

#include <algorithm>

namespace halfscope::cuda {

namespace {

/// The most members that may replace reading a tensor.
constexpr size_t kMaxReplaced = 16;
/// The number of operations from which a value that an operand of a product is computed from is
/// stored by that chain for its other readers: a pass over memory that the arithmetic hides costs
/// less than computing it twice.
constexpr size_t kKeepFrom = 12;

bool contains(const std::vector<NodeId>& list, NodeId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}

bool isExpensive(Op op) { return !infoOf(op).flags.has(OpFlag::Cheap); }
bool isOperation(Op op) { return op != Op::Expand && op != Op::Constant && op != Op::Reshape; }

} // namespace

ChainValues::ChainValues(const Program& program, const ChainOptions& options)
    : m_program(program), m_graph(program.graph), m_options(options) {
    indexKernels();
    chooseRecomputed();
    if (options.keepOperands) chooseKept();
}

void ChainValues::indexKernels() {
    for (const StateInfo& state : m_graph.states())
        m_maker[state.node] = kNoKernel;
    for (const InputInfo& input : m_graph.inputs())
        m_maker[input.node] = kNoKernel;
    for (size_t k = 0; k < m_program.kernels.size(); ++k) {
        for (NodeId id : kernel(k).stores)
            m_maker[id] = k;
        for (NodeId id : kernel(k).loads)
            m_readers[storageOf(m_graph, id)].emplace_back(k, id);
    }
    for (const OutputInfo& output : m_graph.outputs())
        m_pinned.insert(storageOf(m_graph, output.node));
    for (const StateInfo& state : m_graph.states())
        if (state.next != kNoNode) m_pinned.insert(storageOf(m_graph, state.next));
}

bool ChainValues::isWide(NodeId id) const {
    const Shape& shape = node(id).shape;
    return shape.rank() == 2 && shape[1] >= 4 * kNarrow && shape[0] >= 4 * shape[1] &&
           shape.elements() >= m_options.leastElements;
}
bool ChainValues::isProductKernel(size_t k) const {
    return !kernel(k).loop && kernel(k).members.size() == 1 &&
           node(kernel(k).members[0]).op == Op::Matmul;
}
/// Whether a product may become a chain that computes the operand `value` inside.
bool ChainValues::takes(NodeId product, NodeId value) const {
    const Node& it = node(product);
    if (m_refused.count(product)) return false;
    if (isNarrowDeep(m_graph, product))
        return it.in[static_cast<size_t>(wideOperand(m_graph, product))] == value;
    if (isDotProduct(m_graph, product)) return it.in[0] == value && it.in[1] != value;
    return isChainProduct(product) && (it.in[0] == value || isDeep(product));
}
bool ChainValues::isDeep(NodeId product) const {
    return std::get<MatmulAttrs>(node(product).attrs).transposeA;
}
bool ChainValues::isChainProduct(NodeId id) const {
    const Node& it = node(id);
    if (it.op != Op::Matmul || it.shape.rank() != 2 || m_refused.count(id)) return false;
    if (!m_options.products) return false;
    const Shape &a = node(it.in[0]).shape, &b = node(it.in[1]).shape;
    if (a.rank() != 2 || b.rank() != 2) return false;
    const MatmulAttrs& attrs = std::get<MatmulAttrs>(it.attrs);
    if (attrs.transposeA)
        return !attrs.transposeB && it.in.size() == 2 && isWide(it.in[0]) && isWide(it.in[1]);
    return isWide(id) && isWide(it.in[0]) && !isWide(it.in[1]);
}

bool ChainValues::isRecomputable(size_t k, NodeId value) const {
    if (!isWide(value) || m_pinned.count(value)) return false;
    const bool narrow = isProductKernel(k) && isNarrowProduct(m_graph, value);
    if (!narrow && (!kernel(k).loop || !isElementwise(m_graph, value))) return false;
    const auto readers = m_readers.find(value);
    if (readers == m_readers.end()) return false;
    for (const auto& [reader, as] : readers->second) {
        if (as != value) return false; // a view
        if (isProductKernel(reader) && takes(kernel(reader).members[0], value)) continue;
        if (!kernel(reader).loop || !(kernel(reader).space == node(value).shape)) return false;
        for (NodeId id : kernel(reader).members)
            if (infoOf(node(id).op).flags.has(OpFlag::StridedRead) && node(id).in[0] == value)
                return false;
    }
    return true;
}

void ChainValues::chooseRecomputed() {
    for (size_t k = 0; k < m_program.kernels.size(); ++k)
        for (NodeId id : kernel(k).stores)
            if (isRecomputable(k, id)) m_again.insert(id);
    for (;;) { // a value may cost too much once those that it reads are recomputed
        const auto dear = std::find_if(m_again.begin(), m_again.end(), [&](NodeId id) {
            const std::optional<Kernel> all = kernelOf({id}, kNoNode);
            return !all || all->members.size() > m_options.mostMembers ||
                   std::any_of(all->members.begin(), all->members.end(), [&](NodeId member) {
                       return isElementwise(m_graph, member) && isExpensive(node(member).op);
                   });
        });
        if (dear == m_again.end()) return;
        m_again.erase(dear);
    }
}

/// Chooses the values that a chain stores while it computes them for its product.
void ChainValues::chooseKept() {
    for (NodeId id : m_again) {
        const std::optional<Kernel> all = kernelOf({id}, kNoNode);
        const auto cost = std::count_if(all->members.begin(), all->members.end(),
                                        [&](NodeId at) { return isOperation(node(at).op); });
        const NodeId keeper = keeperOf(id);
        if (static_cast<size_t>(cost) >= kKeepFrom && keeper != kNoNode) m_kept[keeper] = id;
    }
    for (const auto& [product, value] : m_kept)
        m_again.erase(value);
}

/// Returns the product that could store the value while it computes its operand, when there are
/// other readers, too.
NodeId ChainValues::keeperOf(NodeId value) const {
    if (m_readers.at(value).size() < 2) return kNoNode;
    NodeId keeper = kNoNode;
    for (const auto& [reader, as] : m_readers.at(value)) {
        if (!isProductKernel(reader)) continue;
        const NodeId product = kernel(reader).members[0];
        // a TF32 product takes it rounded
        if (isChainProduct(product) && !isDeep(product) && node(product).math != MathMode::TF32)
            keeper = product;
    }
    return keeper;
}

NodeId ChainValues::keptBy(NodeId product) const {
    const auto kept = m_kept.find(product);
    return kept == m_kept.end() ? kNoNode : kept->second;
}

void ChainValues::refuse(NodeId product) {
    m_refused.insert(product);
    std::erase_if(m_again, [&](NodeId value) { return contains(node(product).in, value); });
}
void ChainValues::dropKept(NodeId product) {
    m_again.insert(m_kept.at(product));
    m_kept.erase(product);
}
void ChainValues::storeLoadsOf(size_t k) {
    std::erase_if(m_again, [&](NodeId id) {
        return isNarrowProduct(m_graph, id) || contains(kernel(k).loads, id);
    });
}

/// Returns everything that is computed from the given values.
std::vector<char> ChainValues::reachOf(const std::vector<NodeId>& from) const {
    std::vector<char> reached(static_cast<size_t>(m_graph.size()), 0);
    for (NodeId id : from)
        reached[static_cast<size_t>(id)] = 1;
    for (NodeId id = 0; id < m_graph.size(); ++id)
        for (NodeId in : node(id).in)
            if (reached[static_cast<size_t>(in)]) reached[static_cast<size_t>(id)] = 1;
    return reached;
}

bool ChainValues::isComputable(NodeId id) const {
    return isElementwise(m_graph, id) || node(id).op == Op::Expand || node(id).op == Op::Reshape ||
           isNarrowProduct(m_graph, id);
}

std::optional<Kernel> ChainValues::kernelOf(const std::vector<NodeId>& stores,
                                            NodeId product) const {
    std::set<NodeId> again;
    std::optional<Kernel> result = closureOf(stores, product, again);
    if (!result) return result;
    const std::vector<NodeId> loads = result->loads;
    for (NodeId load : loads) {
        const auto maker = m_maker.find(load);
        if (!isWide(load) || maker == m_maker.end() || maker->second == kNoKernel ||
            !kernel(maker->second).loop || !isElementwise(m_graph, load))
            continue;
        again.insert(load);
        std::optional<Kernel> other = closureOf(stores, product, again);
        if (other && savesReads(*result, *other))
            result = std::move(other);
        else
            again.erase(load);
    }
    return result;
}

/// Whether fewer tensors are read and little more is computed.
bool ChainValues::savesReads(const Kernel& with, const Kernel& without) const {
    const auto isTensor = [&](NodeId id) { return isWide(id); };
    const auto tensors = [&](const Kernel& kernel) {
        return std::count_if(kernel.loads.begin(), kernel.loads.end(), isTensor);
    };
    return tensors(without) < tensors(with) &&
           without.members.size() <= with.members.size() + kMaxReplaced &&
           std::none_of(without.members.begin(), without.members.end(), [&](NodeId id) {
               return !contains(with.members, id) && isElementwise(m_graph, id) &&
                      isExpensive(node(id).op);
           });
}

std::optional<Kernel> ChainValues::closureOf(const std::vector<NodeId>& stores, NodeId product,
                                             const std::set<NodeId>& again) const {
    std::vector<NodeId> roots = stores;
    if (product != kNoNode && !contains(roots, product)) roots.push_back(product);
    const std::vector<char> own = reachOf(roots);
    std::set<NodeId> members(roots.begin(), roots.end()), loads;
    std::vector<NodeId> open = roots;
    while (!open.empty()) {
        const NodeId at = open.back();
        open.pop_back();
        for (NodeId in : node(at).in) {
            if (members.count(in)) continue;
            const NodeId storage = storageOf(m_graph, in);
            if (isStored(storage) && again.count(in) == 0 && !own[static_cast<size_t>(storage)]) {
                loads.insert(in);
                continue;
            }
            const bool small = !isWide(in) && node(in).shape.rank() <= 2;
            if (!isComputable(in) ||
                (isStored(storage) && storage == in && !small && again.count(in) == 0))
                return std::nullopt;
            members.insert(in);
            open.push_back(in);
        }
    }
    Kernel result;
    result.members.assign(members.begin(), members.end());
    result.loads.assign(loads.begin(), loads.end());
    result.stores = stores;
    std::sort(result.stores.begin(), result.stores.end());
    return result;
}

bool ChainValues::isMoved(NodeId id) const {
    return m_again.count(id) != 0 ||
           std::any_of(m_kept.begin(), m_kept.end(),
                       [&](const auto& kept) { return kept.second == id; });
}
std::optional<Kernel> ChainValues::loopOf(const Kernel& old,
                                          const std::vector<NodeId>& stores) const {
    Kernel loop = old;
    std::set<NodeId> members(stores.begin(), stores.end()), loads;
    std::vector<NodeId> open = stores;
    while (!open.empty()) {
        const NodeId at = open.back();
        open.pop_back();
        for (NodeId in : node(at).in) {
            if (members.count(in)) continue;
            if (isStored(storageOf(m_graph, in)) && !contains(stores, in)) {
                loads.insert(in);
                continue;
            }
            if (node(in).op == Op::Matmul) return std::nullopt;
            members.insert(in);
            open.push_back(in);
        }
    }
    loop.members.assign(members.begin(), members.end());
    loop.loads.assign(loads.begin(), loads.end());
    loop.stores = stores;
    return loop;
}

} // namespace halfscope::cuda
