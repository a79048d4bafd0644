// The CPU engine's result for every node of a graph, and how far another engine's result may be
// from it: it must have the CPU's bits or, for sums and functions, lie within a bound about the
// double reference.
#pragma once

#include "engine/cpu/tf32.h"
#include "engine/exec/executor.h"
#include "engine/ops/op_info.h"
#include "engine/passes/fuse.h"
#include "tests/support/gradient_check.h"
#include "tests/support/library_ops.h"
#include "tests/support/run_program.h"

#include <cmath>
#include <cstdio>

namespace halfscope::test {

/// The values of a step on the CPU, by node, in storage form.
using StoredValues = std::map<NodeId, std::vector<std::byte>>;

inline StoredValues valuesOnCpu(const std::shared_ptr<const Program>& program,
                                const std::map<NodeId, RefTensor>& leaves) {
    const Graph& graph = program->graph;
    StoredValues values;
    const auto executor = makeCpuExecutor(2);
    executor->load(program);
    for (const auto& [id, tensor] : leaves) {
        values[id] = toBytes(graph[id], tensor.values);
        executor->upload(id, values[id]);
    }
    executor->run(RunMode::Stepwise, [&](NodeId id, std::span<const std::byte> bytes) {
        values[id].assign(bytes.begin(), bytes.end());
    });
    for (NodeId id = 0; id < graph.size(); ++id)
        if (const NodeId storage = storageOf(graph, id); storage != id)
            values[id] = values[storage];
    return values;
}

class NodeTruth {
public:
    /// Computes unfused, so that every node that computes is a kernel. `leaves` are keyed by the
    /// graph's nodes, all of which must be needed.
    NodeTruth(const Graph& graph, const Leaves& leaves) {
        Program program = compile(graph, {FuseOptions::None});
        std::map<NodeId, RefTensor> renamed;
        for (const InputInfo& input : graph.inputs())
            renamed[program.graph.input(input.name)] = leaves.at(input.node);
        for (const StateInfo& state : graph.states())
            renamed[program.graph.state(state.name)] = leaves.at(state.node);
        m_values = valuesOnCpu(std::make_shared<const Program>(program), renamed);
        m_program = std::move(program);
    }

    const Program& program() const { return m_program; }
    /// Returns the values by node of program(), in storage form.
    const StoredValues& values() const { return m_values; }

    /// Whether compare() allows a node's value a bound about its reference.
    bool isBounded(NodeId id) const {
        return roundingsOf(m_program.graph, m_program.graph[id]) > 0;
    }

    /// Says how many elements of another engine's result of a node, computed from the CPU's
    /// operands, are too far from the truth, and which is the first; empty when none is.
    /// `looseTf32` allows its TF32 products to truncate operands instead of rounding them.
    std::string compare(NodeId id, const std::vector<std::byte>& bytes,
                        bool looseTf32 = false) const {
        const Node& node = m_program.graph[id];
        const std::vector<double> got = fromBytes(node, bytes);
        const std::vector<double> wanted = fromBytes(node, m_values.at(id));
        const double roundings = roundingsOf(m_program.graph, node);
        std::vector<double> exact, sizes;
        if (roundings > 0) {
            exact = referenceOf(node, false);
            sizes = referenceOf(node, true);
        }
        std::string first;
        size_t wrong = 0;
        for (size_t i = 0; i < got.size(); ++i) {
            bool same = got[i] == wanted[i] && std::signbit(got[i]) == std::signbit(wanted[i]);
            double want = wanted[i], bound = 0;
            if (roundings > 0) {
                want = roundTo(node.dtype, exact[i]);
                bound = boundOf(node, roundings, exact[i], sizes[i]);
                // at most 2^-10 a factor; rounding to nearest has half of that
                if (looseTf32 && node.math == MathMode::TF32) bound += sizes[i] * 0x1p-9;
                same = got[i] == want || std::fabs(got[i] - exact[i]) <= bound;
            }
            if (same || (std::isnan(got[i]) && std::isnan(want))) continue;
            if (++wrong > 3) continue;
            char text[160];
            std::snprintf(text, sizeof text, "%selement %zu is %.9g instead of %.9g (bound %.3g)",
                          wrong > 1 ? ", " : "", i, got[i], want, bound);
            first += text;
        }
        if (wrong == 0) return {};
        return std::to_string(wrong) + " of " + std::to_string(got.size()) + " wrong: " + first;
    }

protected:
    Program m_program;
    StoredValues m_values;

private:
    /// Evaluates the op in double on the CPU's operands, or on their absolute values.
    std::vector<double> referenceOf(const Node& node, bool sizes) const {
        std::vector<RefTensor> in;
        for (const NodeId id : node.in) {
            const Node& operand = m_program.graph[id];
            in.push_back({operand.shape, fromBytes(operand, m_values.at(id))});
            for (double& v : in.back().values) {
                if (node.math == MathMode::TF32)
                    v = static_cast<double>(roundToTf32(static_cast<float>(v)));
                if (sizes && sumsUp(node.op)) v = std::fabs(v);
            }
        }
        RefTensor out{node.shape, std::vector<double>(static_cast<size_t>(node.elements()))};
        infoOf(node.op).reference(in, node.attrs, out);
        for (double& v : out.values)
            v = sizes ? std::fabs(v) : v;
        return out.values;
    }

    static bool sumsUp(Op op) {
        return op == Op::Matmul || op == Op::Conv2d || op == Op::Conv2dInputGrad ||
               op == Op::Conv2dWeightGrad || op == Op::Sum || op == Op::Mean || op == Op::Cumsum;
    }

    /// Returns how many roundings of the arithmetic's type, relative to the sum of the terms'
    /// sizes, a result may gather before it is stored; 0: it must have the CPU's bits.
    static double roundingsOf(const Graph& graph, const Node& node) {
        const bool exact = node.dtype == DType::F64;
        const auto elements = [&](size_t i) {
            return static_cast<double>(graph[node.in[i]].elements());
        };
        const double results = std::max(1.0, static_cast<double>(node.elements()));
        if (isLibraryFunction(node.op)) return 8; // a few steps of up to 2 ulp
        switch (node.op) {
        case Op::Sum:
        case Op::Mean:
            if (node.dtype == DType::I32) return 0;
            // runs of 32 in f32, the rest in double
            return exact ? elements(0) / results + 1 : 33;
        case Op::Prod: return elements(0) / results; // in f32 on the CPU
        case Op::Cumsum:
        case Op::Cumprod:
            return exact ? static_cast<double>(node.shape[std::get<ScanAttrs>(node.attrs).axis])
                         : 2;
        case Op::Matmul: {
            const Shape& a = graph[node.in[0]].shape;
            const bool turned = std::get<MatmulAttrs>(node.attrs).transposeA;
            const int bias = node.in.size() == 3 ? 1 : 0;
            return static_cast<double>(turned ? a[a.rank() - 2] : a.back()) + 1 + bias;
        }
        case Op::Conv2d:
        case Op::Conv2dInputGrad:
            return elements(1) / static_cast<double>(std::max<int64_t>(node.shape[1], 1)) + 1;
        case Op::Conv2dWeightGrad:
            return elements(1) / static_cast<double>(std::max<int64_t>(node.shape[0], 1)) + 1;
        default: return 0;
        }
    }

    static double boundOf(const Node& node, double roundings, double exact, double size) {
        const FloatFormat& math = formatOf(node.dtype == DType::F64 ? DType::F64 : DType::F32);
        const FloatFormat& storage = formatOf(node.dtype);
        const double sum =
            roundings * (math.unitRoundoff() * std::fabs(size) + math.minSubnormal / 2);
        return sum + storage.unitRoundoff() * (std::fabs(exact) + sum) + storage.minSubnormal / 2;
    }
};

} // namespace halfscope::test
