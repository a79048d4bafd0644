// Derives from a kernel what its chain computes: the product, what is summed, and which sums follow
// from others.
#include "engine/cuda/codegen/chain_shape.h"

#include "engine/cuda/codegen/chain_terms.h"
#include "engine/ops/op_info.h"

#include <algorithm>
#include <map>

namespace halfscope::cuda {

namespace {

constexpr size_t kMaxTerms = 8;

const MatmulAttrs& matmulAttrs(const Node& node) { return std::get<MatmulAttrs>(node.attrs); }

bool contains(const std::vector<NodeId>& list, NodeId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}

/// Whether it is a value of each column (or one for all), which an Expand over the rows reads.
bool isOverRows(const Graph& graph, NodeId id) {
    const Node& node = graph[id];
    if (node.op != Op::Expand || node.shape.rank() != 2) return false;
    const Node& in = graph[node.in[0]];
    return in.elements() == 1 ||
           (in.elements() == node.shape[1] && in.shape.back() == node.shape[1]);
}

class Reader {
public:
    Reader(const Graph& graph, const Kernel& kernel) : m_graph(graph), m_kernel(kernel) {}

    std::optional<ChainShape> run() {
        if (!findProduct()) return std::nullopt;
        if (m_shape.kind == ChainKind::Deep) {
            if (!readDeep()) return std::nullopt;
            return m_shape;
        }
        for (NodeId id : m_kernel.stores)
            if (id != m_shape.product && !readStore(id)) return std::nullopt;
        for (NodeId id : m_late)
            if (!readDerived(id)) return std::nullopt;
        return m_shape;
    }

private:
    const Node& node(NodeId id) const { return m_graph[id]; }
    bool isLocal(NodeId id) const { return contains(m_kernel.stores, id) && id != m_shape.product; }

    bool findProduct() {
        for (NodeId id : m_kernel.members) {
            if (node(id).op != Op::Matmul || isNarrowProduct(m_graph, id) ||
                isDotProduct(m_graph, id) || isNarrowDeep(m_graph, id))
                continue;
            if (m_shape.product != kNoNode) return false;
            m_shape.product = id;
        }
        if (m_shape.product != kNoNode) {
            const Node& product = node(m_shape.product);
            m_shape.kind = matmulAttrs(product).transposeA ? ChainKind::Deep : ChainKind::Rows;
            if (m_shape.kind == ChainKind::Deep && product.in.size() > 2) return false;
            m_shape.rows = product.shape[0];
            m_shape.columns = product.shape[1];
            m_shape.storesProduct = contains(m_kernel.stores, m_shape.product);
        }
        return true;
    }

    bool readDeep() {
        const NodeId a = widenedFrom(m_graph, node(m_shape.product).in[0]);
        for (NodeId id : m_kernel.stores) {
            if (id == m_shape.product) continue;
            if (!isRowReduction(m_graph, id) || node(id).op != Op::Sum ||
                widenedFrom(m_graph, node(id).in[0]) != a)
                return false;
            m_shape.columnSums.push_back(id);
        }
        return m_shape.storesProduct;
    }

    /// Whether a value fits: all sums of a kernel are over one space.
    bool fits(NodeId value) {
        const Shape& shape = node(value).shape;
        if (shape.rank() != 2) return false;
        if (m_shape.rows == 0) {
            m_shape.rows = shape[0];
            m_shape.columns = shape[1];
        }
        return shape[0] == m_shape.rows && shape[1] == m_shape.columns;
    }

    bool readStore(NodeId id) {
        if (m_shape.kind == ChainKind::Rows && id == node(m_shape.product).in[0]) {
            m_shape.storesOperand = true;
            return true;
        }
        if (isDotProduct(m_graph, id)) {
            if (m_shape.dot != kNoNode || m_shape.kind == ChainKind::Rows) return false;
            m_shape.dot = id;
            return fits(node(id).in[0]) && !touchesLocal(node(id).in[0]);
        }
        if (isNarrowDeep(m_graph, id)) return readNarrowDeep(id);
        if (!isRowReduction(m_graph, id) || !fits(node(id).in[0])) return false;
        if (const NodeId mean = meanOf(id); mean != kNoNode && isLocal(mean))
            return addStat(mean, id);
        if (touchesLocal(node(id).in[0])) {
            m_late.push_back(id);
            return true;
        }
        m_shape.sums.push_back({node(id).in[0], kNoNode, 0, kNoNode, id, 1, 0, scaleOf(id)});
        return true;
    }
    double scaleOf(NodeId id) const {
        return node(id).op == Op::Mean ? 1.0 / static_cast<double>(m_shape.rows) : 1.0;
    }

    bool readNarrowDeep(NodeId id) {
        const int wide = wideOperand(m_graph, id);
        const NodeId value = node(id).in[static_cast<size_t>(wide)];
        const NodeId factor = node(id).in[static_cast<size_t>(1 - wide)];
        if (!fits(value) || touchesLocal(value) || !contains(m_kernel.loads, factor)) return false;
        const int64_t few = node(factor).shape[1];
        for (int64_t k = 0; k < few; ++k) // out is (wide, few) or (few, wide)
            m_shape.sums.push_back({value, factor, static_cast<int>(k), kNoNode, id,
                                    wide == 0 ? few : 1, wide == 0 ? k : k * m_shape.columns, 1});
        return true;
    }

    /// Returns the mean about which a row reduction is the variance: mean((x - expand(mean(x)))^2).
    NodeId meanOf(NodeId id) const {
        const Node& square = node(node(id).in[0]);
        if (node(id).op != Op::Mean || square.op != Op::Mul || square.in[0] != square.in[1])
            return kNoNode;
        const Node& apart = node(square.in[0]);
        if (apart.op != Op::Sub || node(apart.in[1]).op != Op::Expand) return kNoNode;
        const NodeId mean = node(apart.in[1]).in[0];
        if (node(mean).op != Op::Mean || !isRowReduction(m_graph, mean)) return kNoNode;
        const bool same =
            widenedFrom(m_graph, node(mean).in[0]) == widenedFrom(m_graph, apart.in[0]);
        return same && apart.dtype == DType::F32 ? mean : kNoNode;
    }
    bool addStat(NodeId mean, NodeId variance) {
        const auto at = std::find_if(m_shape.sums.begin(), m_shape.sums.end(),
                                     [&](const RowSum& sum) { return sum.result == mean; });
        if (at == m_shape.sums.end()) return false;
        m_shape.stats.push_back({at->value, mean, variance});
        m_shape.sums.erase(at);
        return true;
    }

    /// Whether a value is computed from a sum of this kernel.
    bool touchesLocal(NodeId id) const {
        std::set<NodeId> seen;
        std::vector<NodeId> open{id};
        while (!open.empty()) {
            const NodeId at = open.back();
            open.pop_back();
            if (contains(m_kernel.loads, at) || at == m_shape.product || !seen.insert(at).second)
                continue;
            if (isLocal(at)) return true;
            open.insert(open.end(), node(at).in.begin(), node(at).in.end());
        }
        return false;
    }

    /// Reads a sum whose coefficients come from other sums of this kernel.
    bool readDerived(NodeId id) {
        DerivedSum derived{id, scaleOf(id), linearForm(m_graph, node(id).in[0])};
        for (LinearTerm& term : derived.terms) {
            if (!fits(term.base) || touchesLocal(term.base)) return false;
            term.sum = sumOf(term.base);
        }
        if (derived.terms.empty()) return false;
        m_shape.derived.push_back(std::move(derived));
        return true;
    }
    int sumOf(NodeId value) {
        for (size_t i = 0; i < m_shape.sums.size(); ++i)
            if (m_shape.sums[i].factor == kNoNode &&
                widenedFrom(m_graph, m_shape.sums[i].value) == widenedFrom(m_graph, value))
                return static_cast<int>(i);
        m_shape.sums.push_back({value, kNoNode, 0, kNoNode, kNoNode, 1, 0, 1});
        return static_cast<int>(m_shape.sums.size()) - 1;
    }

    const Graph& m_graph;
    const Kernel& m_kernel;
    ChainShape m_shape;
    std::vector<NodeId> m_late;
};

bool isPlainMatmul(const Graph& graph, NodeId id) {
    const Node& node = graph[id];
    return node.op == Op::Matmul && node.shape.rank() == 2 && graph[node.in[0]].shape.rank() == 2 &&
           graph[node.in[1]].shape.rank() == 2;
}

} // namespace

std::optional<ChainShape> chainShape(const Graph& graph, const Kernel& kernel, ElementForm form) {
    std::optional<ChainShape> shape = Reader(graph, kernel).run();
    if (!shape) return shape;
    if (form != ElementForm::AsWritten) collectSums(graph, kernel, *shape);
    shape->readsWide = std::any_of(kernel.loads.begin(), kernel.loads.end(), [&](NodeId id) {
        return graph[id].elements() == shape->rows * shape->columns &&
               bytesOf(graph[id].dtype) == 4;
    });
    return shape;
}

NodeId widenedFrom(const Graph& graph, NodeId id) {
    while (graph[id].op == Op::Cast && graph[id].dtype == DType::F32 &&
           isLow(graph[graph[id].in[0]].dtype))
        id = graph[id].in[0];
    return id;
}

bool isNarrowProduct(const Graph& graph, NodeId id) {
    if (!isPlainMatmul(graph, id)) return false;
    const Node& node = graph[id];
    return !matmulAttrs(node).transposeA && graph[node.in[0]].shape[1] <= kNarrow &&
           node.shape[1] > kNarrow;
}

bool isDotProduct(const Graph& graph, NodeId id) {
    if (!isPlainMatmul(graph, id)) return false;
    const Node& node = graph[id];
    return !matmulAttrs(node).transposeA && node.shape[1] == 1 &&
           graph[node.in[0]].shape[1] > kNarrow;
}

bool isNarrowDeep(const Graph& graph, NodeId id) {
    if (!isPlainMatmul(graph, id)) return false;
    const Node& node = graph[id];
    const MatmulAttrs& attrs = matmulAttrs(node);
    return attrs.transposeA && !attrs.transposeB && node.in.size() == 2 &&
           (node.shape[0] <= kNarrow) != (node.shape[1] <= kNarrow);
}

int wideOperand(const Graph& graph, NodeId id) { return graph[id].shape[0] <= kNarrow ? 1 : 0; }

bool isRowReduction(const Graph& graph, NodeId id) {
    const Node& node = graph[id];
    if (node.op != Op::Sum && node.op != Op::Mean) return false;
    return graph[node.in[0]].shape.rank() == 2 && graph[node.in[0]].shape[0] > 1 &&
           std::get<AxesAttrs>(node.attrs).axes == Shape{0};
}

bool isElementwise(const Graph& graph, NodeId id) {
    return infoOf(graph[id].op).flags.has(OpFlag::Elementwise) || graph[id].op == Op::Constant;
}

std::vector<LinearTerm> linearForm(const Graph& graph, NodeId value) {
    const NodeId base = widenedFrom(graph, value);
    const Node& node = graph[base];
    std::vector<LinearTerm> terms{{1, {}, base, -1}};
    if (node.dtype != DType::F32) return terms;
    if (node.op == Op::Neg) {
        terms = linearForm(graph, node.in[0]);
        for (LinearTerm& term : terms)
            term.factor = -term.factor;
    } else if (node.op == Op::Add) {
        std::vector<LinearTerm> left = linearForm(graph, node.in[0]);
        const std::vector<LinearTerm> right = linearForm(graph, node.in[1]);
        if (left.size() + right.size() > kMaxTerms) return terms;
        left.insert(left.end(), right.begin(), right.end());
        return left;
    } else if (node.op == Op::Mul) {
        for (size_t i = 0; i < 2; ++i) {
            const NodeId factor = node.in[i];
            const bool constant = graph[factor].op == Op::Constant;
            if (!constant && !isOverRows(graph, factor)) continue;
            terms = linearForm(graph, node.in[1 - i]);
            for (LinearTerm& term : terms) {
                if (constant)
                    term.factor *= static_cast<double>(
                        static_cast<float>(std::get<ConstantAttrs>(graph[factor].attrs).value));
                else
                    term.columns.push_back(graph[factor].in[0]);
            }
            return terms;
        }
    }
    return terms;
}

} // namespace halfscope::cuda
