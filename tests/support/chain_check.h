// Checks a fused chain against its members in double: given what the kernel read, every stored
// value must lie within the error that its dtype and the length of its sums allow.
#pragma once

#include "engine/cpu/tf32.h"
#include "engine/cuda/codegen/chain.h"
#include "engine/cuda/codegen/chain_shape.h"
#include "engine/ops/op_info.h"
#include "tests/support/chain_errors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace halfscope::test {

class ChainCheck {
public:
    using Values = std::map<NodeId, std::vector<double>>;

    /// `stored` holds the values of all loads, and of all stores as the kernel left them.
    ChainCheck(const Program& program, const Kernel& kernel, const Values& stored,
               cuda::ElementForm form = cuda::ElementForm::AsWritten)
        : m_graph(program.graph), m_kernel(kernel), m_stored(stored),
          m_errors(program.graph, form, m_values) {
        for (NodeId id : kernel.loads)
            m_values[id] = stored.at(id);
        for (NodeId id : kernel.members) {
            evaluate(id);
            // The nodes after a store are computed from its rounded value.
            m_exact[id] = m_values.at(id);
            m_errors.add(id);
            if (!isStore(id)) continue;
            m_bounds[id] = boundsOf(id);
            m_values[id] = stored.at(id);
            m_errors.settle(id);
        }
    }

    /// Returns the first store that is wrong, "%41 matmul at 17: 0.5 for 0.25, bound 0.001", or
    /// nothing.
    std::string firstFault() const {
        for (NodeId id : m_kernel.stores) {
            const std::vector<double>&actual = m_stored.at(id), &exact = m_exact.at(id);
            const std::vector<double>& bounds = m_bounds.at(id);
            for (size_t i = 0; i < actual.size(); ++i) {
                if (std::fabs(actual[i] - exact[i]) <= bounds[i]) continue;
                return "%" + std::to_string(id) + " " + std::string(nameOf(node(id).op)) + " at " +
                       std::to_string(i) + ": " + std::to_string(actual[i]) + " for " +
                       std::to_string(exact[i]) + ", bound " + std::to_string(bounds[i]);
            }
        }
        return "";
    }
    /// Returns the largest |error| / bound of all stores.
    double closest() const {
        double most = 0;
        for (NodeId id : m_kernel.stores) {
            const std::vector<double>& bounds = m_bounds.at(id);
            for (size_t i = 0; i < bounds.size(); ++i)
                if (bounds[i] > 0)
                    most = std::max(most,
                                    std::fabs(m_stored.at(id)[i] - m_exact.at(id)[i]) / bounds[i]);
        }
        return most;
    }

private:
    static constexpr double kUnit = 0x1p-24; ///< the unit roundoff of float
    /// The additions in f32 on the way of one value into a sum over rows: the 8 rows of a thread,
    /// or up to 64 rows of a column of a weight gradient's operand. The rest is added in double.
    static constexpr double kSumSteps = 64;

    const Node& node(NodeId id) const { return m_graph[id]; }
    bool isStore(NodeId id) const {
        return std::find(m_kernel.stores.begin(), m_kernel.stores.end(), id) !=
               m_kernel.stores.end();
    }

    void evaluate(NodeId id) {
        const Node& it = node(id);
        RefTensor out{it.shape, std::vector<double>(static_cast<size_t>(it.elements()))};
        if (it.op == Op::Constant) {
            std::fill(out.values.begin(), out.values.end(),
                      std::get<ConstantAttrs>(it.attrs).value);
        } else {
            std::vector<RefTensor> in;
            for (NodeId operand : it.in)
                in.push_back({node(operand).shape, operandOf(it, operand)});
            infoOf(it.op).reference(in, it.attrs, out);
        }
        for (double& x : out.values)
            x = roundTo(it.dtype, x);
        m_values[id] = std::move(out.values);
    }
    /// Returns an operand as the arithmetic takes it: TF32 products round it.
    std::vector<double> operandOf(const Node& user, NodeId operand) const {
        std::vector<double> values = m_values.at(operand);
        if (user.math == MathMode::TF32)
            for (double& x : values)
                x = static_cast<double>(roundToTf32(static_cast<float>(x)));
        return values;
    }
    std::vector<double> boundsOf(NodeId id) const {
        const Node& it = node(id);
        // as written, nearly every member rounds as on the CPU, to the same bits
        if (cuda::isElementwise(m_graph, id)) return m_errors.of(id);
        std::vector<double> sums = it.op == Op::Matmul ? productErrors(it) : sumErrors(id);
        if (it.op == Op::Matmul) {
            const std::vector<double> operands = m_errors.of(id);
            for (size_t i = 0; i < sums.size(); ++i)
                sums[i] += operands[i];
        }
        for (size_t i = 0; i < sums.size(); ++i) // both sides round once
            sums[i] += 2 * ChainErrors::rounding(it.dtype, m_exact.at(id)[i]);
        return sums;
    }
    /// Returns the errors of k additions in f32, in any order, of products that may be rounded,
    /// too.
    std::vector<double> productErrors(const Node& it) const {
        std::vector<RefTensor> sizes;
        for (NodeId operand : it.in) {
            sizes.push_back({node(operand).shape, operandOf(it, operand)});
            for (double& x : sizes.back().values)
                x = std::fabs(x);
        }
        RefTensor out{it.shape, std::vector<double>(static_cast<size_t>(it.elements()))};
        infoOf(it.op).reference(sizes, it.attrs, out);
        const bool deep = std::get<MatmulAttrs>(it.attrs).transposeA;
        const auto k = static_cast<double>(node(it.in[0]).shape[deep ? 0 : 1]);
        const double bias = it.in.size() == 3 ? 1 : 0;
        for (double& x : out.values)
            x *= (k + 1 + bias) * kUnit;
        return out.values;
    }
    std::vector<double> sumErrors(NodeId id) const {
        const Node& it = node(id);
        const Shape& space = node(it.in[0]).shape;
        const size_t columns = static_cast<size_t>(space[1]);
        const double scale = it.op == Op::Mean ? 1.0 / static_cast<double>(space[0]) : 1;
        std::vector<double> errors(columns, 0.0);
        const auto add = [&](NodeId value, const std::vector<double>& factor, double steps) {
            const std::vector<double>& x = m_values.at(value);
            for (size_t i = 0; i < x.size(); ++i)
                errors[i % columns] +=
                    std::fabs(x[i]) * factor[i % columns] * steps * kUnit * scale;
        };
        add(it.in[0], std::vector<double>(columns, 1.0), kSumSteps);
        const std::vector<double> elements = m_errors.of(it.in[0]);
        for (size_t i = 0; i < elements.size(); ++i)
            errors[i % columns] += elements[i] * scale;
        // A sum may be composed of the sums of its linear parts. In a variance about a rounded
        // mean, each difference contains the mean's rounding.
        for (const cuda::LinearTerm& term : cuda::linearForm(m_graph, it.in[0])) {
            const auto known = [&](NodeId value) { return m_values.count(value) != 0; };
            if (!known(term.base) || !std::all_of(term.columns.begin(), term.columns.end(), known))
                continue; // added up as it lies in memory
            std::vector<double> factor(columns, std::fabs(term.factor));
            for (NodeId column : term.columns)
                for (size_t i = 0; i < columns; ++i) {
                    const std::vector<double>& values = m_values.at(column);
                    factor[i] *= std::fabs(values[values.size() == 1 ? 0 : i]);
                }
            add(term.base, factor, kSumSteps);
        }
        addMeanErrors(it, errors, scale);
        return errors;
    }
    void addMeanErrors(const Node& it, std::vector<double>& errors, double scale) const {
        const Node& square = node(it.in[0]);
        if (square.op != Op::Mul || square.in[0] != square.in[1] ||
            node(square.in[0]).op != Op::Sub)
            return;
        const std::vector<double>& apart = m_values.at(square.in[0]);
        const std::vector<double>& x = m_values.at(node(square.in[0]).in[0]);
        const size_t columns = errors.size();
        for (size_t i = 0; i < apart.size(); ++i)
            errors[i % columns] += 2 * std::fabs(apart[i]) * std::fabs(x[i]) * 9 * kUnit * scale;
    }

    const Graph& m_graph;
    const Kernel& m_kernel;
    const Values& m_stored;
    Values m_values, m_exact, m_bounds;
    ChainErrors m_errors;
};

} // namespace halfscope::test
