// Random training steps over ordinary numbers: layers and loose operations of ranks 0 to 4 in mixed
// dtypes under a cast policy, a loss, its gradients, and next values of all states. The tests
// decide what to assert.
#pragma once

#include "engine/core/philox.h"
#include "engine/ops/functional.h"
#include "engine/ops/op_info.h"
#include "engine/passes/autodiff.h"
#include "tests/support/gradient_check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halfscope::test {

class RandomStep {
public:
    enum class Kind : uint8_t {
        Mixed,  ///< float32 states and a cast policy: everything that executors must get right
        Large,  ///< like Mixed, with tensors of several tiles and blocks
        Double, ///< float64 alone and no next values: for finite differences
    };

    explicit RandomStep(uint64_t seed, Kind kind = Kind::Mixed, int operations = 30)
        : m_random(seed, 4711), m_kind(kind), m_b(m_graph) {
        const CastPolicy policies[] = {torchCudaPolicy(DType::F16), torchCudaPolicy(DType::BF16),
                                       torchCpuPolicy(DType::BF16), apexPolicy(DType::F16)};
        const uint64_t policy = pick(std::size(policies) + 1);
        const bool casts = isMixed() && policy < std::size(policies);
        // a policy refuses to widen a 16-bit type other than its own
        if (casts) m_types = {DType::F32, policies[policy].low};
        {
            const AutocastScope scope(m_b, casts ? &policies[policy] : nullptr);
            const int64_t side = extent();
            for (const Shape& shape :
                 {Shape{side, side}, Shape{extent(), extent()}, Shape{2, 3, extent(), extent()},
                  Shape{extent()}, Shape{3, extent(), 2}, Shape{}})
                if (shape.elements() <= mostElements()) m_pool.push_back(input(shape));
            for (int i = 0; i < operations; ++i)
                addOperation();
            m_loss = lossOfPool();
        }
        if (isMixed()) addNextValues();
        if (isMixed()) addOutputs();
    }

    const Graph& graph() const { return m_graph; }
    Graph& graph() { return m_graph; }
    /// Returns a value for every input and state.
    const Leaves& leaves() const { return m_leaves; }
    const std::vector<NodeId>& parameters() const { return m_parameters; }
    NodeId loss() const { return m_loss; }

private:
    bool isMixed() const { return m_kind != Kind::Double; }
    int64_t mostElements() const { return m_kind == Kind::Large ? 40000 : 3000; }
    uint64_t pick(uint64_t bound) { return m_random.below(m_counter++, bound); }
    double number(double low, double high) {
        return low + (high - low) * static_cast<double>(m_random.uniform(m_counter++));
    }
    int64_t extent() {
        static constexpr int64_t kSmall[] = {1, 2, 3, 4}, kAny[] = {1, 2, 3, 5, 8, 17, 33};
        static constexpr int64_t kLarge[] = {1, 3, 16, 33, 130, 1030};
        if (m_kind == Kind::Large) return kLarge[pick(std::size(kLarge))];
        return isMixed() ? kAny[pick(std::size(kAny))] : kSmall[pick(std::size(kSmall))];
    }
    DType floatType() { return isMixed() ? m_types[pick(m_types.size())] : DType::F64; }
    DType stateType() const { return isMixed() ? DType::F32 : DType::F64; }

    void fill(NodeId id) {
        RefTensor tensor{m_b.shapeOf(id), {}};
        for (int64_t i = 0; i < m_b[id].elements(); ++i)
            tensor.values.push_back(roundTo(m_b.dtypeOf(id), number(-2, 2)));
        m_leaves[id] = std::move(tensor);
    }
    std::string numbered(const char* name) const { return name + std::to_string(m_graph.size()); }
    NodeId input(const Shape& shape) {
        const NodeId id = m_b.input(numbered("x"), shape, floatType());
        fill(id);
        return id;
    }
    NodeId parameter(const Shape& shape) {
        const NodeId id = m_b.state(numbered("w"), shape, stateType(), StateRole::Parameter);
        fill(id);
        m_parameters.push_back(id);
        return id;
    }

    NodeId any() { return m_pool[pick(m_pool.size())]; }
    Shape shapeOf(NodeId id) const { return m_b.shapeOf(id); }
    int axisOf(NodeId id) {
        return static_cast<int>(pick(static_cast<uint64_t>(shapeOf(id).rank())));
    }
    /// Brings a value into [-4, 4], so that sums and products of a few stay in a 16-bit range.
    NodeId settled(NodeId x) {
        const NodeId size = m_b.shift(m_b.unary(Op::Abs, x), 1);
        return pick(2) == 0 && isMixed() ? m_b.emit(Op::Clamp, {x}, RangeAttrs{-4, 4})
                                         : m_b.scale(m_b.div(x, size), 4);
    }
    void keep(NodeId x) {
        if (m_b[x].elements() <= mostElements()) m_pool.push_back(settled(x));
    }
    /// Returns another value that broadcasts with x to a shape of bounded size.
    NodeId partnerOf(NodeId x) {
        const NodeId y = any();
        if (m_b[y].elements() == m_b[x].elements()) return m_b.reshape(y, shapeOf(x));
        const auto common = broadcastShape(shapeOf(x), shapeOf(y));
        if (common && common->elements() <= mostElements()) return y;
        return fn::mean(m_b, y, {});
    }

    void addOperation() {
        const NodeId x = any();
        switch (pick(6)) {
        case 0: keep(unary(x)); break;
        case 1: keep(binary(x, partnerOf(x))); break;
        case 2: keep(moved(x)); break;
        case 3: keep(reduced(x)); break;
        case 4: keep(layer(x)); break;
        default: keep(isMixed() ? m_b.cast(x, floatType()) : unary(x));
        }
    }

    NodeId unary(NodeId x) {
        static constexpr Op kOps[] = {Op::Neg,     Op::Relu,  Op::Abs,  Op::Tanh,
                                      Op::Sigmoid, Op::Gelu,  Op::Silu, Op::Sin,
                                      Op::Exp,     Op::Expm1, Op::Erf,  Op::Softplus};
        const uint64_t which = pick(std::size(kOps) + 5);
        if (which < std::size(kOps)) return fn::unary(m_b, kOps[which], x);
        const NodeId above = fn::unary(m_b, Op::Abs, x);
        const NodeId positive = m_b.shift(above, 0.5);
        switch (which - std::size(kOps)) {
        case 0: return fn::unary(m_b, Op::Sqrt, positive);
        case 1: return fn::unary(m_b, Op::Rsqrt, positive);
        case 2: return fn::unary(m_b, Op::Log, positive);
        case 3: return fn::elu(m_b, x, 0.7);
        default: return fn::leakyRelu(m_b, x);
        }
    }

    NodeId binary(NodeId x, NodeId y) {
        switch (pick(8)) {
        case 0: return fn::add(m_b, x, y);
        case 1: return fn::sub(m_b, x, y);
        case 2: return fn::mul(m_b, x, y);
        case 3: return fn::div(m_b, x, m_b.shift(fn::unary(m_b, Op::Abs, y), 0.5));
        case 4: return fn::maximum(m_b, x, y);
        case 5: return fn::minimum(m_b, y, x);
        case 6: {
            const NodeId mask = fn::compare(m_b, fn::Comparison::Less, x, y);
            return fn::where(m_b, mask, y, m_b.scale(x, 0.5));
        }
        default: return fn::addcmul(m_b, y, x, x, -0.25);
        }
    }

    /// Returns the same numbers in other places.
    NodeId moved(NodeId x) {
        const Shape shape = shapeOf(x);
        if (shape.empty()) return m_b.expand(x, {extent(), extent()});
        const int axis = axisOf(x);
        switch (pick(6)) {
        case 0: {
            Shape order;
            for (int i = 0; i < shape.rank(); ++i)
                order.push((i + axis) % shape.rank());
            const NodeId turned = m_b.transpose(x, order);
            if (pick(2) == 0) return turned;
            // two transposes of one loop, where one's operand is computed from the other's
            return fn::maximum(m_b, turned, m_b.transpose(m_b.scale(x, -0.5), order));
        }
        case 1: return m_b.reshape(x, {shape.elements()});
        case 2:
            return m_b.slice(x, axis, shape[axis] / 2, shape[axis],
                             1 + static_cast<int64_t>(pick(2)));
        case 3: {
            PadAttrs pad{Shape::filled(shape.rank(), 0), Shape::filled(shape.rank(), 1),
                         Shape::filled(shape.rank(), 0), 0.5};
            pad.before[axis] = 2;
            pad.between[axis] = 1;
            return m_b.emit(Op::Pad, {x}, pad);
        }
        case 4: return fn::cat(m_b, std::array{x, m_b.neg(x)}, axis);
        default: {
            const auto last = static_cast<double>(shape[axis] - 1);
            return fn::indexSelect(m_b, x, axis, m_b.constant(last, {2}, DType::I32));
        }
        }
    }

    NodeId reduced(NodeId x) {
        if (shapeOf(x).empty()) return x;
        const int axis = axisOf(x);
        const Shape axes = pick(3) == 0 ? Shape{} : Shape{axis};
        const auto keepAxes = pick(2) == 0 ? fn::KeepAxes::Yes : fn::KeepAxes::No;
        const double terms = static_cast<double>(m_b[x].elements());
        switch (pick(6)) {
        case 0: return fn::sum(m_b, m_b.scale(x, 4 / terms), axes, keepAxes);
        case 1: return fn::mean(m_b, x, axes, keepAxes);
        case 2: return fn::amax(m_b, x, axes, keepAxes);
        case 3: return fn::amin(m_b, x, axes, keepAxes);
        case 4: return fn::norm(m_b, m_b.scale(x, 1 / terms), axes, keepAxes);
        default: return fn::cumsum(m_b, m_b.scale(x, 4 / terms), axis);
        }
    }

    NodeId layer(NodeId x) {
        const Shape shape = shapeOf(x);
        if (shape.empty()) return fn::mul(m_b, x, parameter({extent(), 2}));
        const int last = shape.rank() - 1;
        if (shape.rank() == 4 && pick(2) == 0) return imageLayer(x);
        switch (pick(6)) {
        case 0:
        case 1: {
            const int64_t out = extent();
            return fn::linear(m_b, m_b.scale(x, 0.25), parameter({out, shape[last]}),
                              pick(2) == 0 ? kNoNode : parameter({out}));
        }
        case 2: return fn::softmax(m_b, x, axisOf(x));
        case 3: return fn::logSoftmax(m_b, x, axisOf(x));
        case 4:
            return fn::layerNorm(m_b, x, parameter({shape[last]}), parameter({shape[last]}), 0.1);
        default: {
            const int axis = axisOf(x);
            if (shape.elements() / shape[axis] < 2) return fn::logsumexp(m_b, x, axis);
            return fn::batchNorm(m_b, x, parameter({shape[axis]}), kNoNode, axis, 0.1).y;
        }
        }
    }

    NodeId imageLayer(NodeId x) {
        const Shape shape = shapeOf(x);
        const PoolAttrs pool{{2, 2}, {1, 2}, {1, 1}, {}};
        switch (pick(3)) {
        case 0:
            return fn::conv2d(m_b, m_b.scale(x, 0.25), parameter({2, shape[1], 3, 2}),
                              parameter({2}), {{2, 1}, {1, 1}, {}});
        case 1: return fn::maxPool2d(m_b, x, pool);
        default: return fn::avgPool2d(m_b, x, pool);
        }
    }

    /// Adds up the last values, so that most of the graph counts.
    NodeId lossOfPool() {
        NodeId loss = m_b.constant(0, {}, stateType());
        for (size_t i = m_pool.size() - std::min<size_t>(m_pool.size(), 8); i < m_pool.size();
             ++i) {
            const NodeId x = m_b.cast(m_pool[i], stateType());
            loss = m_b.add(loss, fn::mean(m_b, m_b.mul(x, x), {}));
        }
        return loss;
    }

    /// Adds momentum for the parameters, and states whose next value reads them in another order or
    /// through views.
    void addNextValues() {
        const auto slopes = gradients(m_b, m_loss, m_parameters);
        for (size_t i = 0; i < m_parameters.size(); ++i) {
            const NodeId w = m_parameters[i];
            const NodeId moment =
                m_b.state(numbered("m"), shapeOf(w), DType::F32, StateRole::Moment);
            fill(moment);
            const NodeId slope = slopes[i] ? *slopes[i] : m_b.constantLike(0, w);
            const NodeId next = m_b.add(m_b.scale(moment, 0.5), slope);
            m_graph.setNext(moment, next);
            m_graph.setNext(
                w, m_b.emit(Op::Clamp, {m_b.sub(w, m_b.scale(next, 0.125))}, RangeAttrs{-2, 2}));
        }
        for (const int64_t rows : {2, 5}) {
            const NodeId s = m_b.state(numbered("s"), {rows, 8}, DType::F32, StateRole::Counter);
            fill(s);
            const NodeId turned = m_b.transpose(m_b.reshape(s, {8, rows}), {1, 0});
            const NodeId shifted =
                m_b.concat(std::array{m_b.slice(s, 1, 3, 8), m_b.slice(s, 1, 0, 3)}, 1);
            const NodeId mean = m_b.expand(m_b.mean(s, {0}), {rows, 8});
            const NodeId choices[] = {turned, shifted, mean, m_b.sub(s, turned), m_b.add(s, mean)};
            const NodeId next = choices[pick(std::size(choices))];
            m_graph.setNext(s, m_b.scale(next, 0.5));
        }
    }

    /// Not states: those hold another value after the step.
    void addOutputs() {
        m_graph.addOutput("loss", m_loss);
        for (int i = 0; i < 3; ++i) {
            const NodeId out = any();
            if (!infoOf(m_b[out].op).flags.has(OpFlag::Leaf))
                m_graph.addOutput("out" + std::to_string(i), out);
        }
    }

    Graph m_graph;
    Philox m_random;
    Kind m_kind;
    Builder m_b;
    uint64_t m_counter = 0;
    std::vector<DType> m_types{DType::F32, DType::F16, DType::BF16};
    std::vector<NodeId> m_pool, m_parameters;
    Leaves m_leaves;
    NodeId m_loss = kNoNode;
};

} // namespace halfscope::test
