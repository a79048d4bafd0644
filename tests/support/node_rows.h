// Rows of nodes for the tests of CUDA's kernels: every op in every dtype that it takes, at odd
// sizes and with the values where a function may go wrong, and functions with both orders of
// gradients.
#pragma once

#include "engine/core/error.h"
#include "engine/ops/op_info.h"
#include "engine/ops/op_suite.h"
#include "engine/passes/autodiff.h"
#include "engine/scaler/grad_scaler.h"
#include "tests/support/elementwise_attrs.h"
#include "tests/support/gradient_check.h"
#include "tests/support/kernel_rows.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <limits>

namespace halfscope::test {

inline constexpr uint64_t kNodeSeed = 60611;
inline constexpr DType kFloats[] = {DType::F32, DType::F16, DType::BF16, DType::F64};

/// A graph of many separate nodes, and the values of its leaves.
struct NodeBench {
    Graph graph;
    Builder b{graph};
    Leaves leaves;
    int count = 0;

    NodeId input(const Shape& shape, DType type, std::vector<double> values) {
        const NodeId id = b.input("x" + std::to_string(count++), shape, type);
        for (double& v : values)
            v = roundTo(type, v);
        leaves[id] = {shape, std::move(values)};
        return id;
    }
    NodeId random(const Shape& shape, DType type, double low = -1, double high = 1) {
        auto tensor = randomTensor(shape, kNodeSeed, static_cast<uint64_t>(count), low, high);
        const bool whole = type == DType::I32 || type == DType::Bool;
        for (double& v : tensor.values)
            v = whole ? std::floor(v) : v;
        return input(shape, type, tensor.values);
    }
    /// Returns numbers of [-4, 4] after those where a function may go wrong.
    NodeId special(const Shape& shape, DType type) {
        if (type == DType::Bool) return random(shape, type, 0, 2);
        if (type == DType::I32) return random(shape, type, -9, 9);
        const double inf = std::numeric_limits<double>::infinity();
        const double nan = std::numeric_limits<double>::quiet_NaN();
        const double small = formatOf(type).minSubnormal;
        std::vector<double> values =
            randomTensor(shape, kNodeSeed, static_cast<uint64_t>(count), -4, 4).values;
        // the last two round differently when they are rounded to float before 16 bits
        const double first[] = {0.0,
                                -0.0,
                                1,
                                -1,
                                0.5,
                                inf,
                                -inf,
                                nan,
                                2.5,
                                formatOf(type).maxFinite,
                                nan,
                                inf,
                                3 * small,
                                -small,
                                0.99999,
                                1 + 0x1p-11 + 0x1p-40,
                                1 + 0x1p-8 + 0x1p-40};
        for (size_t i = 0; i < std::min(std::size(first), values.size()); ++i)
            values[(i * 7 + static_cast<size_t>(count)) % values.size()] = first[i];
        return input(shape, type, values);
    }
    void output(NodeId id) { graph.addOutput("y" + std::to_string(count++), id); }
    void op(Op code, std::initializer_list<NodeId> in, Attrs attrs = {}) {
        output(b.emit(code, in, std::move(attrs)));
    }
    void row(const KernelRow& row, DType dtype) {
        std::vector<NodeId> in;
        for (size_t i = 0; i < row.operands.size(); ++i) {
            if (row.indices > 0 && i + 1 == row.operands.size())
                in.push_back(
                    random(row.operands[i], DType::I32, 0, static_cast<double>(row.indices)));
            else
                in.push_back(random(row.operands[i], dtype));
        }
        output(b.emit(row.op, in, row.attrs));
    }
};

inline bool takes(Op op, DType type) {
    const auto logical = [](Op o) {
        return o == Op::LogicalNot || o == Op::LogicalAnd || o == Op::LogicalOr;
    };
    if (logical(op) || type == DType::Bool) return logical(op) && type == DType::Bool;
    const bool fp8 = op == Op::QuantizeFp8 || op == Op::QuantizeGradient;
    if (isFloat(type)) return !(fp8 && type == DType::F64);
    switch (op) { // ops on whole numbers
    case Op::Neg:
    case Op::Relu:
    case Op::Abs:
    case Op::Sign:
    case Op::Clamp:
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Maximum:
    case Op::Minimum:
    case Op::Less:
    case Op::LessEqual:
    case Op::Equal:
    case Op::NotEqual: return true;
    default: return false;
    }
}

/// Adds every elementwise op that takes the dtype, and casts from it to all others.
inline void addElementwise(NodeBench& bench, DType type) {
    const Shape shape{257};
    const NodeId x = bench.special(shape, type), y = bench.special(shape, type);
    for (int i = 0; i < kOpCount; ++i) {
        const Op op = static_cast<Op>(i);
        const OpInfo& info = infoOf(op);
        if (!info.flags.has(OpFlag::Elementwise)) continue;
        if (op == Op::Cast) {
            for (int to = 0; to < kDTypeCount; ++to)
                if (static_cast<DType>(to) != type)
                    bench.op(op, {x}, CastAttrs{static_cast<DType>(to)});
        } else if (op == Op::Where) {
            bench.op(op, {bench.random(shape, DType::Bool, 0, 2), x, y});
        } else if (op == Op::StopGradient) {
            bench.op(op, {x});
        } else if (takes(op, type)) {
            const Attrs attrs = elementwiseAttrs(op, {-1.3, 2.7});
            info.arity == 1 ? bench.op(op, {x}, attrs) : bench.op(op, {x, y}, attrs);
            if (op == Op::QuantizeFp8) bench.op(op, {x, y}, Fp8Attrs{Fp8Format::E5M2});
        }
    }
    for (const int64_t n : {1, 31, 33, 5000})
        bench.output(bench.b.neg(bench.random({n}, type == DType::Bool ? DType::F32 : type)));
    bench.output(bench.b.constant(0.7, {33}, type));
}

inline void addProducts(NodeBench& bench, DType type) {
    const struct {
        Shape batch;
        int64_t m, n, k;
    } sizes[] = {{{}, 1, 1, 1},      {{}, 31, 33, 257}, {{}, 64, 20, 10},    {{3}, 17, 5, 33},
                 {{}, 1, 257, 31},   {{}, 257, 1, 700}, {{2}, 65, 130, 129}, {{}, 33, 31, 4000},
                 {{}, 100, 300, 40}, {{2, 2}, 3, 4, 0}, {{}, 9, 7, 8321}};
    for (const auto& s : sizes) {
        for (const bool turnA : {false, true}) {
            for (const bool turnB : {false, true}) {
                Shape a = s.batch, b = s.batch;
                a.push(turnA ? s.k : s.m), a.push(turnA ? s.m : s.k);
                b.push(turnB ? s.n : s.k), b.push(turnB ? s.k : s.n);
                const NodeId left = bench.random(a, type), right = bench.random(b, type);
                const bool bias = isLow(type) && turnA == turnB;
                bench.output(bench.b.matmul(left, right, {turnA, turnB, isLow(type) && !bias},
                                            bias ? bench.random({s.n}, type) : kNoNode));
            }
        }
    }
}

/// Adds operands that are not finite, which a product of tiles must not spread by its padding.
inline void addInfinities(NodeBench& bench, DType type) {
    const double inf = std::numeric_limits<double>::infinity();
    // the NaN that GPUs make: all bits of the fraction are set, so rounding must not carry over
    const double nan = std::bit_cast<double>(~uint64_t{0} >> 1);
    for (const int64_t k : {5, 3000}) {
        const auto operand = [&](const Shape& shape, std::initializer_list<double> first) {
            auto values =
                randomTensor(shape, kNodeSeed, static_cast<uint64_t>(bench.count), -1, 1).values;
            std::copy(first.begin(), first.end(), values.begin());
            return bench.input(shape, type, values);
        };
        bench.output(
            bench.b.matmul(operand({33, k}, {inf, 1, -inf}), operand({k, 31}, {1, -inf, nan, 0})));
    }
}

inline void addUpdates(NodeBench& bench) {
    const NodeId counters[] = {bench.input({}, DType::I32, {7}), bench.input({}, DType::F32, {8}),
                               bench.input({}, DType::F64, {4294967299.0})};
    uint64_t stream = 1;
    for (const NodeId counter : counters)
        bench.op(Op::Random, {counter},
                 RandomAttrs{{3, 257}, 0x123456789abcdefull, stream += 0xfedcba9});
    for (const DType type : kFloats)
        for (const int64_t n : {1, 33, 257, 70001})
            bench.op(Op::CountNonFinite, {bench.special({n}, type)});
    ScalerRules rules;
    rules.growthInterval = 4;
    ScalerState state;
    for (const double found : {0.0, 1.0}) {
        for (const int tracker : {2, 3}) {
            state.growthTracker = tracker;
            const auto values = slotsOf(state);
            const auto ruleSlots = slotsOf(rules);
            bench.op(Op::ScalerUpdate,
                     {bench.input({kScalerSlots}, DType::F64, {values.begin(), values.end()}),
                      bench.input({kRuleSlots}, DType::F64, {ruleSlots.begin(), ruleSlots.end()}),
                      bench.input({}, DType::F32, {found})});
        }
    }
}

/// Adds moves of the other dtypes, and what the shared rows leave out.
inline void addMore(NodeBench& bench) {
    for (const DType type : {DType::F64, DType::I32, DType::Bool}) {
        const NodeId x = bench.random({33, 40}, type, 0, 2);
        bench.output(bench.b.transpose(x, {1, 0}));
        bench.output(bench.b.expand(bench.random({33, 1}, type, 0, 2), {33, 31}));
        bench.output(bench.b.slice(x, 1, 3, 40, 4));
        bench.op(Op::Pad, {x}, PadAttrs{{1, 0}, {0, 2}, {0, 1}, 1});
        bench.op(Op::Concat, {x, x}, AxisAttrs{0, 0});
        bench.op(Op::Gather, {x, bench.random({33, 5}, DType::I32, 0, 40)}, AxisAttrs{1, 0});
        if (type == DType::Bool) continue;
        bench.op(Op::ScatterAdd, {x, bench.random({33, 40}, DType::I32, 0, 7)}, AxisAttrs{1, 7});
        for (const Op op : {Op::Sum, Op::ReduceMax, Op::ReduceMin})
            bench.op(op, {bench.random({300, 33}, type, -90, 90)}, AxesAttrs{{0}});
    }
    for (const DType type : {DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32})
        bench.output(bench.b.iota({2, 31, 3}, 1, type));
    const NodeId line = bench.random({2, 3001}, DType::F32);
    for (const bool reverse : {false, true})
        bench.op(Op::Cumsum, {line}, ScanAttrs{1, reverse});
    const NodeId targets = bench.random({2, 700}, DType::I32, 0, 5000);
    bench.op(Op::ScatterAdd, {bench.random({2, 700}, DType::F16), targets}, AxisAttrs{1, 5000});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const NodeId image =
        bench.input({1, 1, 3, 4}, DType::F16, {1, 2, nan, 0, 2, nan, 2, nan, -1, -1, nan, 5});
    bench.op(Op::MaxPool2dIndex, {image}, PoolAttrs{{2, 3}, {1, 1}, {1, 1}, {}});
    for (const DType type : kFloats)
        for (const Op op : {Op::Sum, Op::ReduceMax, Op::ReduceMin, Op::Prod})
            bench.op(op, {bench.special({33, 31}, type)}, AxesAttrs{{1}});
}

inline void addRows(std::vector<KernelRow>& rows, const std::string& name) {
    if (name == "convolutions") addConvolutions(rows);
    if (name == "pools") addPools(rows);
    if (name == "reductions") addReductions(rows);
    if (name == "moves") addMoves(rows);
    if (name == "scans") addScans(rows);
}
inline void addFamily(NodeBench& bench, const char* family, DType type) {
    std::vector<KernelRow> rows;
    addRows(rows, family);
    // differences between dtypes do not depend on the size
    const bool large = type == DType::F32 || type == DType::F16;
    for (const KernelRow& row : rows)
        if (large || row.operands.front().elements() <= 20000) bench.row(row, type);
}
inline constexpr const char* kFamilies[] = {"convolutions", "pools", "reductions", "moves",
                                            "scans"};

/// Test data: each family in each dtype, and the nodes of the present row.
inline void familyData() {
    QTest::addColumn<QByteArray>("family");
    QTest::addColumn<int>("type");
    for (const char* family : kFamilies)
        for (const DType type : kFloats)
            QTest::addRow("%s %s", family, nameOf(type).data())
                << QByteArray(family) << static_cast<int>(type);
}
inline void addFamilyOfRow(NodeBench& bench) {
    QFETCH(QByteArray, family);
    QFETCH(int, type);
    addFamily(bench, family.constData(), static_cast<DType>(type));
}

/// Returns the sum of a value weighted by other numbers, so that its gradient is not constant.
inline NodeId weightedSum(NodeBench& bench, NodeId y) {
    const NodeId wide = bench.b.cast(y, DType::F32);
    return bench.b.sumAll(
        bench.b.mul(wide, bench.random(Shape(bench.b.shapeOf(wide)), DType::F32)));
}

/// Adds a function of the tables under a policy, with first and second order gradients.
inline void addFunction(NodeBench& bench, const AutocastCase& given, const CastPolicy& policy) {
    Builder& b = bench.b;
    std::vector<NodeId> in;
    for (const Shape& shape : given.shapes) // inside every function's domain, away from its kinks
        in.push_back(bench.random(shape, DType::F32, 0.1, 0.9));
    NodeId y = kNoNode;
    {
        const AutocastScope scope(b, &policy);
        y = given.emit(b, in);
    }
    bench.output(y);
    if (!isFloat(b.dtypeOf(y))) return;
    const auto first = gradients(b, weightedSum(bench, y), in);
    NodeId slopes = b.constant(0, {}, DType::F32);
    for (const auto& slope : first)
        if (slope) slopes = b.add(slopes, weightedSum(bench, *slope));
    for (const auto& slope : first)
        if (slope) bench.output(*slope);
    for (const auto& slope : gradients(b, slopes, in))
        if (slope) bench.output(*slope);
}

/// Checks every function of the tables in a dtype, some in one graph. Returns the first complaint
/// of `check(bench)`, with the function that its graph begins with.
template <class Check>
std::string checkFunctions(DType type, size_t atOnce, const Check& check) {
    const CastPolicy policy = type == DType::F32 ? CastPolicy{} : torchCudaPolicy(type);
    const auto cases = autocastCases();
    for (size_t begin = 0; begin < cases.size(); begin += atOnce) {
        NodeBench bench;
        for (const AutocastCase& c : cases.subspan(begin, std::min(atOnce, cases.size() - begin))) {
            try {
                addFunction(bench, c, policy);
            } catch (const InputError&) {
                continue; // a policy bans it
            }
        }
        if (const std::string wrong = check(bench); !wrong.empty())
            return wrong + ", functions from " + std::string(cases[begin].name) + ", seed " +
                   std::to_string(kNodeSeed);
    }
    return {};
}

} // namespace halfscope::test
