// Collects terms: through additions, negations and products with values of columns.
#include "engine/cuda/codegen/chain_terms.h"

#include "engine/passes/fuse.h"

#include <algorithm>
#include <cmath>

namespace halfscope::cuda {

namespace {

constexpr size_t kMaxTerms = 8;

using Terms = std::vector<ElementTerm>;

bool contains(const std::vector<NodeId>& list, NodeId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}
bool isOfColumns(const ElementTerm& term) { return term.base == kNoNode; }

class Collector {
public:
    Collector(const Graph& graph, const Kernel& kernel, NodeId product)
        : m_graph(graph), m_kernel(kernel), m_product(product) {}

    Terms of(NodeId id) const {
        while (node(id).op == Op::Cast && node(id).dtype == DType::F32 &&
               isLow(node(node(id).in[0]).dtype) && !isLeaf(id))
            id = node(id).in[0];
        const Node& it = node(id);
        const Terms whole{{1, {}, id, kNoNode}};
        if (it.dtype != DType::F32 || isLeaf(id)) return whole;
        if (it.op == Op::Constant) return constant(id);
        if (it.op == Op::Expand && isOverRows(id)) return {{1, {id}, kNoNode, kNoNode}};
        if (it.op == Op::Neg) return times(of(it.in[0]), {-1, {}, kNoNode, kNoNode});
        if (it.op == Op::Add) return sum(id);
        if (it.op == Op::Mul) return product(id);
        return whole;
    }

private:
    const Node& node(NodeId id) const { return m_graph[id]; }
    bool isLeaf(NodeId id) const { return id == m_product || contains(m_kernel.loads, id); }
    bool isOverRows(NodeId id) const {
        const Shape strides = loadStrides(m_graph, id);
        return strides.rank() == 2 && strides[0] == 0;
    }

    Terms constant(NodeId id) const {
        const double value = roundTo(DType::F32, std::get<ConstantAttrs>(node(id).attrs).value);
        // a zero stays a term, so that inf and NaN are not lost
        if (!std::isfinite(value) || value == 0) return {{1, {}, id, kNoNode}};
        return {{value, {}, kNoNode, kNoNode}};
    }
    static Terms times(Terms terms, const ElementTerm& factor) {
        for (ElementTerm& term : terms) {
            term.factor *= factor.factor;
            term.columns.insert(term.columns.end(), factor.columns.begin(), factor.columns.end());
            std::sort(term.columns.begin(), term.columns.end());
        }
        return terms;
    }
    Terms sum(NodeId id) const {
        Terms terms = of(node(id).in[0]);
        const Terms right = of(node(id).in[1]);
        if (terms.size() + right.size() > kMaxTerms) return {{1, {}, id, kNoNode}};
        terms.insert(terms.end(), right.begin(), right.end());
        return terms;
    }
    /// Whether a sum may be multiplied out. One with a value of columns in it may not: it may be a
    /// difference.
    static bool canScale(const Terms& terms) {
        return terms.size() == 1 || std::none_of(terms.begin(), terms.end(), isOfColumns);
    }
    Terms product(NodeId id) const {
        const Terms left = of(node(id).in[0]), right = of(node(id).in[1]);
        if (right.size() == 1 && isOfColumns(right[0]) && canScale(left))
            return times(left, right[0]);
        if (left.size() == 1 && isOfColumns(left[0]) && canScale(right))
            return times(right, left[0]);
        if (left.size() == 1 && right.size() == 1 && left[0].times == kNoNode &&
            right[0].times == kNoNode) {
            ElementTerm term = times({left[0]}, right[0])[0];
            term.base = std::min(left[0].base, right[0].base);
            term.times = std::max(left[0].base, right[0].base);
            return {term};
        }
        return {{1, {}, id, kNoNode}};
    }

    const Graph& m_graph;
    const Kernel& m_kernel;
    NodeId m_product;
};

/// Combines sums whose elements are products of the same two values, or are the same value.
class SumCollector {
public:
    SumCollector(const Graph& graph, const Kernel& kernel, ChainShape& shape)
        : m_graph(graph), m_kernel(kernel), m_shape(shape) {}

    void run() {
        std::vector<RowSum> before;
        before.swap(m_shape.sums);
        for (const RowSum& sum : before)
            m_places.push_back(place(sum));
        for (DerivedSum& derived : m_shape.derived)
            for (LinearTerm& term : derived.terms)
                move(term);
        // the others may be computed from these
        m_shape.derived.insert(m_shape.derived.begin(), m_derived.begin(), m_derived.end());
    }

private:
    /// Where the total of an earlier sum is now, and what it is multiplied by.
    struct Place {
        double factor = 1;
        std::vector<NodeId> columns;
        int sum = -1;
    };

    Place place(const RowSum& sum) {
        const std::vector<ElementTerm> terms =
            collectedTerms(m_graph, m_kernel, m_shape.product, sum.value);
        if (sum.factor != kNoNode || terms.size() != 1 || terms[0].base == kNoNode)
            return keep(sum);
        Place place{terms[0].factor, {}, -1};
        for (NodeId column : terms[0].columns) {
            place.columns.push_back(m_graph[column].in[0]);
            if (!contains(m_kernel.loads, place.columns.back())) return keep(sum);
        }
        RowSum plain = sum;
        plain.value = terms[0].base;
        plain.times = terms[0].times;
        const bool scaled = !place.columns.empty() || place.factor != 1;
        if (scaled) plain.result = kNoNode;
        place.sum = find(plain);
        if (scaled && sum.result != kNoNode) derive(sum, place);
        return place;
    }
    Place keep(const RowSum& sum) {
        m_shape.sums.push_back(sum);
        return {1, {}, static_cast<int>(m_shape.sums.size()) - 1};
    }
    /// Returns the number of the sum, which may be an existing one; two results of the same sum
    /// need a derived one.
    int find(const RowSum& sum) {
        for (size_t i = 0; i < m_shape.sums.size(); ++i) {
            RowSum& known = m_shape.sums[i];
            if (known.value != sum.value || known.times != sum.times || known.factor != kNoNode)
                continue;
            if (sum.result != kNoNode && known.result != kNoNode) {
                derive(sum, {1, {}, static_cast<int>(i)});
            } else if (sum.result != kNoNode) {
                known = sum;
            }
            return static_cast<int>(i);
        }
        return keep(sum).sum;
    }
    void derive(const RowSum& sum, const Place& place) {
        const LinearTerm term{place.factor, place.columns, sum.value, place.sum};
        m_derived.push_back({sum.result, sum.scale, {term}});
    }
    void move(LinearTerm& term) const {
        const Place& place = m_places[static_cast<size_t>(term.sum)];
        term.factor *= place.factor;
        term.columns.insert(term.columns.end(), place.columns.begin(), place.columns.end());
        term.sum = place.sum;
    }

    const Graph& m_graph;
    const Kernel& m_kernel;
    ChainShape& m_shape;
    std::vector<Place> m_places;
    std::vector<DerivedSum> m_derived;
};

} // namespace

std::vector<ElementTerm> collectedTerms(const Graph& graph, const Kernel& kernel, NodeId product,
                                        NodeId value) {
    return Collector(graph, kernel, product).of(value);
}

void collectSums(const Graph& graph, const Kernel& kernel, ChainShape& shape) {
    if (shape.kind == ChainKind::Deep) return; // the sums of its columns are those of an operand
    SumCollector(graph, kernel, shape).run();
}

} // namespace halfscope::cuda
