// Bounds how far elements of a chain may lie from those computed operation after operation:
// collected ones (ElementForm::Collected), and products over few terms, which are computed by
// element. A sum of products in f32, added and multiplied in any order, is within n u of the sum of
// its terms' sizes, where n is the number of roundings on the longest way; both forms are such
// sums. Casts, comparisons and selections after them carry the error on.
#pragma once

#include "engine/cpu/tf32.h"
#include "engine/cuda/codegen/chain_shape.h"
#include "engine/ops/op_info.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace halfscope::test {

class ChainErrors {
public:
    using Values = std::map<NodeId, std::vector<double>>;

    ChainErrors(const Graph& graph, cuda::ElementForm form, const Values& values)
        : m_graph(graph), m_isAsWritten(form == cuda::ElementForm::AsWritten), m_values(values) {}

    /// Adds a node, after all that it reads and after its own value is known.
    void add(NodeId id) { m_sums[id] = m_isAsWritten ? whole(id, errorsOf(id)) : sumOf(id); }
    /// Marks the node's value as known: the kernel, too, continues from it.
    void settle(NodeId id) { m_sums[id] = exactly(m_values.at(id)); }
    /// Returns the errors by element for a value that was added; zero for what the kernel loads.
    std::vector<double> of(NodeId id) const {
        const auto known = m_sums.find(id);
        if (known == m_sums.end()) return std::vector<double>(m_values.at(id).size(), 0.0);
        return known->second.errors();
    }
    static double rounding(DType type, double x) {
        const FloatFormat& format = formatOf(type);
        return std::fabs(x) * format.unitRoundoff() * 1.01 + format.minSubnormal;
    }

private:
    /// A sum of products: the sum of the sizes, the errors from its operands, and the number of
    /// roundings on the longest way.
    struct Sum {
        std::vector<double> size, below;
        double steps = 0;
        std::vector<double> errors() const {
            std::vector<double> all = below;
            // two more: factors of columns may be added up before they multiply
            const double roundings = steps == 0 ? 0 : 2 * (steps + 2) * 0x1p-24 * 1.01;
            for (size_t i = 0; i < all.size(); ++i)
                all[i] += roundings * size[i];
            return all;
        }
    };

    const Node& node(NodeId id) const { return m_graph[id]; }
    static Sum exactly(const std::vector<double>& values) {
        Sum sum{values, std::vector<double>(values.size(), 0.0), 0};
        for (double& x : sum.size)
            x = std::fabs(x);
        return sum;
    }
    Sum operand(NodeId id) const {
        const auto known = m_sums.find(id);
        return known == m_sums.end() ? exactly(m_values.at(id)) : known->second;
    }
    /// Returns a value with these errors, of which nothing more is collected.
    Sum whole(NodeId id, std::vector<double> errors) const {
        Sum sum = exactly(m_values.at(id));
        for (size_t i = 0; i < errors.size(); ++i)
            sum.size[i] += errors[i];
        sum.below = std::move(errors);
        return sum;
    }

    Sum sumOf(NodeId id) const {
        const Node& it = node(id);
        const bool isF32 = it.dtype == DType::F32;
        if (it.op == Op::Constant) return exactly(m_values.at(id));
        if (it.op == Op::Expand || it.op == Op::Reshape) return moved(id);
        if (isF32 && it.op == Op::Neg) return operand(it.in[0]);
        if (isF32 && (it.op == Op::Add || it.op == Op::Mul)) return combined(it);
        if (isF32 && it.op == Op::Cast && isLow(node(it.in[0]).dtype)) return operand(it.in[0]);
        return whole(id, errorsOf(id));
    }
    Sum moved(NodeId id) const {
        const Node& it = node(id);
        Sum from = operand(it.in[0]);
        const auto through = [&](std::vector<double>& values) {
            RefTensor out{it.shape, std::vector<double>(static_cast<size_t>(it.elements()))};
            const std::vector<RefTensor> in{{node(it.in[0]).shape, values}};
            infoOf(it.op).reference(in, it.attrs, out);
            values = std::move(out.values);
        };
        through(from.size);
        through(from.below);
        return from;
    }
    Sum combined(const Node& it) const {
        Sum a = operand(it.in[0]);
        const Sum b = operand(it.in[1]);
        for (size_t i = 0; i < a.size.size(); ++i) {
            if (it.op == Op::Add) {
                a.below[i] += b.below[i];
                a.size[i] += b.size[i];
            } else {
                a.below[i] = a.below[i] * b.size[i] + a.size[i] * b.below[i];
                a.size[i] *= b.size[i];
            }
        }
        a.steps = it.op == Op::Add ? std::max(a.steps, b.steps) + 1 : a.steps + b.steps + 1;
        return a;
    }

    std::vector<double> errorsOf(NodeId id) const {
        const Node& it = node(id);
        std::vector<std::vector<double>> in;
        bool none = true;
        for (NodeId operandId : it.in) {
            in.push_back(operand(operandId).errors());
            none = none && std::all_of(in.back().begin(), in.back().end(),
                                       [](double error) { return error == 0; });
        }
        const std::vector<double>& out = m_values.at(id);
        std::vector<double> errors(out.size(), 0.0);
        if (cuda::isNarrowProduct(m_graph, id)) return errorsOfNarrow(id, in);
        if (none) return errors;
        if (it.op == Op::Where) return errorsOfWhere(it, in);
        if (it.op == Op::LessEqual || it.op == Op::Less) return undecided(it, in);
        if (it.op == Op::Matmul) return errorsOfProduct(it, in);
        for (size_t at = 0; at < in.size(); ++at)
            addMoved(it, at, in[at], out, errors);
        for (size_t i = 0; i < errors.size(); ++i)
            if (errors[i] > 0) errors[i] += 2 * rounding(it.dtype, std::fabs(out[i]) + errors[i]);
        return errors;
    }
    /// Adds the change of the result when one operand changes by `by`: all other operations rise or
    /// fall monotonically with an operand.
    void addMoved(const Node& it, size_t at, const std::vector<double>& by,
                  const std::vector<double>& out, std::vector<double>& errors) const {
        std::vector<double> most(out.size(), 0.0);
        for (const double sign : {-1.0, 1.0}) {
            std::vector<RefTensor> in;
            for (NodeId operandId : it.in)
                in.push_back({node(operandId).shape, m_values.at(operandId)});
            for (size_t i = 0; i < by.size(); ++i)
                in[at].values[i] += sign * by[i];
            RefTensor moved{it.shape, std::vector<double>(out.size())};
            infoOf(it.op).reference(in, it.attrs, moved);
            for (size_t i = 0; i < out.size(); ++i)
                most[i] = std::max(most[i], std::fabs(moved.values[i] - out[i]));
        }
        for (size_t i = 0; i < out.size(); ++i)
            errors[i] += most[i];
    }
    /// Returns 1 where a comparison may come out either way.
    std::vector<double> undecided(const Node& it,
                                  const std::vector<std::vector<double>>& in) const {
        const std::vector<double>&a = m_values.at(it.in[0]), &b = m_values.at(it.in[1]);
        std::vector<double> errors(a.size(), 0.0);
        for (size_t i = 0; i < a.size(); ++i) {
            const double error = in[0][i] + in[1][i];
            if (error > 0 && std::fabs(a[i] - b[i]) <= error) errors[i] = 1;
        }
        return errors;
    }
    std::vector<double> errorsOfWhere(const Node& it,
                                      const std::vector<std::vector<double>>& in) const {
        const std::vector<double>&a = m_values.at(it.in[1]), &b = m_values.at(it.in[2]);
        std::vector<double> errors(a.size(), 0.0);
        for (size_t i = 0; i < a.size(); ++i)
            errors[i] =
                std::max(in[1][i], in[2][i]) + (in[0][i] > 0 ? std::fabs(a[i] - b[i]) : 0.0);
        return errors;
    }
    /// Returns the errors of a product over few terms. The element computes it with fmas in f32,
    /// each of which rounds; this bounds how far its rounded value may lie from the known one,
    /// which is rounded once. A difference of such values may consist of nothing but that.
    std::vector<double> errorsOfNarrow(NodeId id,
                                       const std::vector<std::vector<double>>& in) const {
        const Node& it = node(id);
        std::vector<RefTensor> operands, sizes;
        for (NodeId operandId : it.in) {
            operands.push_back({node(operandId).shape, m_values.at(operandId)});
            if (it.math == MathMode::TF32)
                for (double& x : operands.back().values)
                    x = static_cast<double>(roundToTf32(static_cast<float>(x)));
            sizes.push_back(operands.back());
            for (double& x : sizes.back().values)
                x = std::fabs(x);
        }
        RefTensor exact{it.shape, std::vector<double>(static_cast<size_t>(it.elements()))};
        RefTensor size = exact;
        infoOf(it.op).reference(operands, it.attrs, exact);
        infoOf(it.op).reference(sizes, it.attrs, size);
        std::vector<double> errors = errorsOfProduct(it, in);
        const auto sums =
            static_cast<double>(node(it.in[0]).shape[1]) + (it.in.size() == 3 ? 1 : 0);
        const double roundings = sums * 0x1p-24 * 1.01;
        const std::vector<double>& known = m_values.at(id);
        for (size_t i = 0; i < errors.size(); ++i) {
            const double most = errors[i] + roundings * size.values[i];
            errors[i] = 0;
            for (const double x : {exact.values[i] - most, exact.values[i] + most})
                errors[i] = std::max(errors[i], std::fabs(roundTo(it.dtype, x) - known[i]));
        }
        return errors;
    }
    /// Returns the errors of a product whose operands have errors on both sides.
    std::vector<double> errorsOfProduct(const Node& it,
                                        const std::vector<std::vector<double>>& in) const {
        std::vector<std::vector<double>> products;
        for (const bool isOff : {false, true}) {
            std::vector<RefTensor> sizes;
            for (size_t at = 0; at < in.size(); ++at) {
                sizes.push_back({node(it.in[at]).shape, m_values.at(it.in[at])});
                for (size_t i = 0; i < in[at].size(); ++i) {
                    double& x = sizes.back().values[i];
                    x = std::fabs(x) + (isOff ? in[at][i] : 0.0);
                    if (isOff && it.math == MathMode::TF32 && in[at][i] > 0) x *= 1 + 0x1p-10;
                }
            }
            RefTensor out{it.shape, std::vector<double>(static_cast<size_t>(it.elements()))};
            infoOf(it.op).reference(sizes, it.attrs, out);
            products.push_back(std::move(out.values));
        }
        for (size_t i = 0; i < products[0].size(); ++i)
            products[1][i] -= products[0][i];
        return products[1];
    }

    const Graph& m_graph;
    bool m_isAsWritten;
    const Values& m_values;
    std::map<NodeId, Sum> m_sums;
};

} // namespace halfscope::test
