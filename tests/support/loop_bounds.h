// The values of a loop kernel's members in double, and how far from them an engine's values may
// lie. Every member is evaluated by its reference from the kernel's loads; errors are carried along
// by evaluating the reference at the ends of its operands' intervals.
#pragma once

#include "engine/graph/program.h"
#include "engine/ops/op_info.h"
#include "tests/support/library_ops.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace halfscope::test {

struct Bounded {
    RefTensor center;
    std::vector<double> error; ///< 0: this value and no other
};

class LoopBounds {
public:
    /// `loads` holds the value of every load, by node.
    LoopBounds(const Program& program, const Kernel& kernel,
               const std::map<NodeId, RefTensor>& loads)
        : m_graph(program.graph) {
        for (const auto& [id, tensor] : loads)
            m_values[id] = {tensor, std::vector<double>(tensor.values.size(), 0.0)};
        for (NodeId id : kernel.members)
            m_values[id] = infoOf(m_graph[id].op).flags.has(OpFlag::Reduction)
                               ? sumOf(m_graph[id])
                               : memberOf(m_graph[id]);
    }
    const Bounded& of(NodeId id) const { return m_values.at(id); }

private:
    static constexpr double kUnit = 0x1p-24; ///< the unit roundoff of float

    /// Whether an op gives the float nearest to the exact result.
    static bool isExact(Op op) { return !isLibraryFunction(op) && op != Op::Rsqrt; }
    static double storageError(DType type, double x) {
        if (!isFloat(type) || type == DType::F64) return 0;
        const FloatFormat& format = formatOf(type);
        return std::fabs(x) * format.unitRoundoff() + format.minSubnormal / 2;
    }

    RefTensor evaluated(const Node& node, const std::vector<RefTensor>& in) const {
        RefTensor out{node.shape, std::vector<double>(static_cast<size_t>(node.elements()))};
        if (node.op == Op::Constant)
            std::fill(out.values.begin(), out.values.end(),
                      roundTo(node.dtype, std::get<ConstantAttrs>(node.attrs).value));
        else
            infoOf(node.op).reference(in, node.attrs, out);
        return out;
    }

    Bounded memberOf(const Node& node) const {
        std::vector<RefTensor> in;
        bool known = isExact(node.op);
        for (NodeId id : node.in)
            in.push_back(m_values.at(id).center);
        Bounded result{evaluated(node, in), {}};
        result.error.assign(result.center.values.size(), 0.0);
        if (infoOf(node.op).flags.has(OpFlag::StridedRead)) return result;
        spread(node, in, result);
        for (size_t i = 0; i < result.error.size(); ++i) {
            double& value = result.center.values[i];
            double& error = result.error[i];
            if (known && error == 0) {
                // one rounding to float, one to storage, as in every engine
                if (node.dtype != DType::F64)
                    value = roundTo(node.dtype, static_cast<double>(static_cast<float>(value)));
                continue;
            }
            // A library function errs by at most 4 units in the last place, which are 8 roundoffs.
            error += (known ? 1 : 8) * kUnit * std::fabs(value) + 0x1p-149;
            error += storageError(node.dtype, value);
        }
        return result;
    }

    /// Carries the operands' errors through the op: takes the farthest of its values at their ends.
    void spread(const Node& node, const std::vector<RefTensor>& in, Bounded& result) const {
        bool any = false;
        for (NodeId id : node.in) {
            const auto& error = m_values.at(id).error;
            any = any || std::any_of(error.begin(), error.end(), [](double e) { return e != 0; });
        }
        if (!any) return;
        for (int corner = 0; corner < 1 << (2 * in.size()); ++corner) {
            std::vector<RefTensor> moved = in;
            for (size_t k = 0; k < in.size(); ++k) {
                const int side = corner >> (2 * k) & 3; // down, up, stay
                const auto& error = m_values.at(node.in[k]).error;
                if (side == 3) continue;
                for (size_t i = 0; i < error.size(); ++i)
                    moved[k].values[i] += (side - 1) * error[i];
            }
            const RefTensor out = evaluated(node, moved);
            for (size_t i = 0; i < result.error.size(); ++i) {
                const double off = std::fabs(out.values[i] - result.center.values[i]);
                if (!(off <= result.error[i])) result.error[i] = off;
            }
        }
    }

    /// Bounds a sum in any order that adds up to `run` floats at a time, and adds those sums in
    /// double.
    Bounded sumOf(const Node& node) const {
        const Bounded& in = m_values.at(node.in[0]);
        Bounded result{{node.shape, std::vector<double>(static_cast<size_t>(node.elements()), 0.0)},
                       std::vector<double>(static_cast<size_t>(node.elements()), 0.0)};
        std::vector<double> sizes(result.error.size(), 0.0);
        const Shape strides = in.center.shape.strides(), outStrides = node.shape.strides();
        for (size_t i = 0; i < in.error.size(); ++i) {
            int64_t to = 0, rest = static_cast<int64_t>(i);
            for (int axis = 0; axis < node.shape.rank(); ++axis) {
                if (node.shape[axis] != 1) to += rest / strides[axis] * outStrides[axis];
                rest %= strides[axis];
            }
            const auto at = static_cast<size_t>(to);
            result.center.values[at] += in.center.values[i];
            result.error[at] += in.error[i];
            sizes[at] += std::fabs(in.center.values[i]);
        }
        const auto count = static_cast<double>(in.error.size()) /
                           static_cast<double>(std::max<size_t>(result.error.size(), 1));
        const double factor = node.op == Op::Mean ? 1 / count : 1;
        // The CPU sums a tile of up to 2048 values in float, the device runs of 64.
        const double run = std::min(count, 2048.0);
        for (size_t i = 0; i < result.error.size(); ++i) {
            double& value = result.center.values[i];
            value *= factor;
            result.error[i] = factor * (result.error[i] + (run + 1) * kUnit * sizes[i]) +
                              2 * kUnit * std::fabs(value) + 0x1p-149 +
                              storageError(node.dtype, value);
        }
        return result;
    }

    const Graph& m_graph;
    std::map<NodeId, Bounded> m_values;
};

} // namespace halfscope::test
