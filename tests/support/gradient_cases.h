// The cases on which gradients are checked: every elementwise, reduction, scan and movement op,
// with operands away from kinks and poles.
#pragma once

#include "engine/ops/op_info.h"
#include "tests/support/gradient_check.h"

#include <functional>
#include <string>
#include <vector>

namespace halfscope::test {

inline GradientCase unaryCase(Op op, double low, double high) {
    return {std::string(nameOf(op)),
            {{Shape{2, 3}, low, high}},
            [op](Builder& b, std::span<const NodeId> x) { return b.unary(op, x[0]); }};
}

inline GradientCase binaryCase(Op op, GradientCase::Operand a, GradientCase::Operand c) {
    return {std::string(nameOf(op)), {a, c}, [op](Builder& b, std::span<const NodeId> x) {
                return b.emit(op, {x[0], x[1]});
            }};
}

inline GradientCase movementCase(const char* name, Shape shape,
                                 std::function<NodeId(Builder&, NodeId)> build) {
    return {name, {{shape}}, [build](Builder& b, std::span<const NodeId> x) {
                // squared, so that the second order is not empty
                return build(b, b.mul(x[0], x[0]));
            }};
}

inline std::vector<GradientCase> elementwiseCases() {
    const Shape s{2, 3};
    std::vector<GradientCase> cases = {
        unaryCase(Op::Neg, -2, 2),
        unaryCase(Op::Exp, -2, 2),
        unaryCase(Op::Expm1, -2, 2),
        unaryCase(Op::Log, 0.5, 3),
        unaryCase(Op::Log1p, -0.5, 3),
        unaryCase(Op::Sqrt, 0.5, 3),
        unaryCase(Op::Rsqrt, 0.5, 3),
        unaryCase(Op::Reciprocal, 0.5, 3),
        unaryCase(Op::Tanh, -2, 2),
        unaryCase(Op::Sigmoid, -3, 3),
        unaryCase(Op::Relu, 0.1, 2),
        unaryCase(Op::Relu, -2, -0.1),
        unaryCase(Op::Gelu, -3, 3),
        unaryCase(Op::Silu, -3, 3),
        unaryCase(Op::Softplus, -4, 4),
        unaryCase(Op::Sin, -4, 4),
        unaryCase(Op::Cos, -4, 4),
        unaryCase(Op::Abs, 0.1, 2),
        unaryCase(Op::Abs, -2, -0.1),
        unaryCase(Op::Erf, -2, 2),
        unaryCase(Op::Erfinv, -0.8, 0.8),
        unaryCase(Op::Tan, -1, 1),
        unaryCase(Op::Asin, -0.7, 0.7),
        unaryCase(Op::Acos, -0.7, 0.7),
        unaryCase(Op::Sinh, -2, 2),
        unaryCase(Op::Cosh, -2, 2),
        unaryCase(Op::Log10, 0.5, 3),
        unaryCase(Op::Log2, 0.5, 3),
        binaryCase(Op::Add, {s}, {s}),
        binaryCase(Op::Sub, {s}, {s}),
        binaryCase(Op::Mul, {s}, {s}),
        binaryCase(Op::Div, {s}, {s, 0.5, 2}),
        binaryCase(Op::Maximum, {s, 0, 1}, {s, 1.1, 2}),
        binaryCase(Op::Maximum, {s, 1.1, 2}, {s, 0, 1}),
        binaryCase(Op::Minimum, {s, 0, 1}, {s, 1.1, 2}),
        binaryCase(Op::Minimum, {s, 1.1, 2}, {s, 0, 1}),
        binaryCase(Op::Pow, {s, 0.5, 2}, {s, -2, 3}),
        binaryCase(Op::Atan2, {s, -2, 2}, {s, 0.5, 2}),
        binaryCase(Op::Atan2, {s, 0.5, 2}, {s, -2, 2}),
    };
    for (const double exponent : {0.0, 1.0, 2.0, 3.0, -1.5})
        cases.push_back({"pow " + std::to_string(exponent),
                         {{s, 0.5, 2}},
                         [exponent](Builder& b, std::span<const NodeId> x) {
                             return b.emit(Op::Pow, {x[0], b.constantLike(exponent, x[0])});
                         }});
    for (const double at : {-3.0, 0.0, 3.0}) // below, between and above the bounds
        cases.push_back(
            {"clamp", {{s, at - 0.9, at + 0.9}}, [](Builder& b, std::span<const NodeId> x) {
                 const NodeId cube = b.mul(x[0], b.mul(x[0], x[0]));
                 return b.emit(Op::Clamp, {cube}, RangeAttrs{-1, 1});
             }});
    cases.push_back({"where", {{s}, {s}}, [](Builder& b, std::span<const NodeId> x) {
                         const NodeId odd =
                             b.emit(Op::Less, {b.iota(b.shapeOf(x[0]), 1, DType::I32),
                                               b.constant(2, b.shapeOf(x[0]), DType::I32)});
                         return b.where(odd, b.mul(x[0], x[0]), b.mul(x[0], x[1]));
                     }});
    cases.push_back({"cast", {{s}}, [](Builder& b, std::span<const NodeId> x) {
                         const NodeId half = b.cast(b.mul(x[0], x[0]), DType::F16);
                         return b.cast(b.unary(Op::Exp, half), DType::F64);
                     }});
    return cases;
}

inline std::vector<GradientCase> reductionCases() {
    std::vector<GradientCase> cases;
    for (const Op op : {Op::Sum, Op::Mean, Op::ReduceMax, Op::ReduceMin, Op::Prod})
        for (const Shape& axes : {Shape{0}, Shape{1}, Shape{0, 2}, Shape{0, 1, 2}})
            cases.push_back({std::string(nameOf(op)) + " " + axes.text(),
                             {{Shape{3, 4, 2}}},
                             [op, axes](Builder& b, std::span<const NodeId> x) {
                                 return b.emit(op, {b.mul(x[0], x[0])}, AxesAttrs{axes});
                             }});
    return cases;
}

inline std::vector<GradientCase> scanCases() {
    std::vector<GradientCase> cases;
    for (const Op op : {Op::Cumsum, Op::Cumprod})
        for (const int axis : {0, 1, 2})
            for (const bool reverse : {false, true})
                cases.push_back(
                    {std::string(nameOf(op)) + " " + std::to_string(axis) +
                         (reverse ? " reverse" : ""),
                     {{Shape{3, 4, 2}}},
                     [=](Builder& b, std::span<const NodeId> x) {
                         return b.emit(op, {b.mul(x[0], x[0])}, ScanAttrs{axis, reverse});
                     }});
    return cases;
}

/// Returns cases in which columns have one factor that is exactly 0, and two such factors.
inline std::vector<GradientCase> zeroProductCases() {
    const auto withZeros = [](Builder& b, NodeId x) {
        const NodeId row = b.iota({4, 3}, 0, DType::I32), column = b.iota({4, 3}, 1, DType::I32);
        // rows 0 to column - 1 become 0: no, one or two zeros
        return b.mul(x, b.where(b.emit(Op::Less, {row, column}), b.constantLike(0, x),
                                b.constantLike(1, x)));
    };
    const auto product = [withZeros](Builder& b, std::span<const NodeId> x) {
        return b.emit(Op::Prod, {withZeros(b, x[0])}, AxesAttrs{{0}});
    };
    const auto running = [withZeros](Builder& b, std::span<const NodeId> x) {
        return b.emit(Op::Cumprod, {withZeros(b, x[0])}, ScanAttrs{0, false});
    };
    return {{"prod with zeros", {{Shape{4, 3}, 0.5, 2}}, product},
            {"cumprod with zeros", {{Shape{4, 3}, 0.5, 2}}, running}};
}

NodeId indexOf(Builder& b, const Shape& shape) { return b.iota(shape, 0, DType::I32); }

inline std::vector<GradientCase> movementCases() {
    return {
        movementCase("reshape", {2, 6},
                     [](Builder& b, NodeId x) {
                         return b.reshape(x, {3, 4});
                     }),
        movementCase("transpose", {2, 3, 4},
                     [](Builder& b, NodeId x) {
                         return b.transpose(x, {2, 0, 1});
                     }),
        movementCase("slice", {5, 3}, [](Builder& b, NodeId x) { return b.slice(x, 0, 1, 4); }),
        movementCase("slice with step", {8, 2},
                     [](Builder& b, NodeId x) { return b.slice(x, 0, 1, 8, 3); }),
        movementCase("pad", {3, 2},
                     [](Builder& b, NodeId x) {
                         return b.emit(Op::Pad, {x}, PadAttrs{{1, 0}, {0, 2}, {2, 1}, 0.5});
                     }),
        movementCase("concat", {2, 3},
                     [](Builder& b, NodeId x) {
                         const NodeId parts[] = {x, b.unary(Op::Sin, x), b.slice(x, 1, 0, 1)};
                         return b.concat(parts, 1);
                     }),
        movementCase("expand", {1, 3},
                     [](Builder& b, NodeId x) {
                         return b.expand(x, {2, 4, 3});
                     }),
        movementCase("gather", {4, 3},
                     [](Builder& b, NodeId x) {
                         const NodeId index =
                             b.cast(b.unary(Op::Floor, b.scale(b.iota({6, 3}, 0, DType::F32), 0.5)),
                                    DType::I32); // rows 0 0 1 1 2 2: repeated reads add up
                         return b.emit(Op::Gather, {x, index}, AxisAttrs{0, 0});
                     }),
        movementCase("scatter_add", {4, 3},
                     [](Builder& b, NodeId x) {
                         return b.emit(Op::ScatterAdd, {x, indexOf(b, {4, 3})}, AxisAttrs{0, 6});
                     }),
    };
}

inline std::vector<GradientCase> allCases() {
    auto cases = elementwiseCases();
    for (auto more : {reductionCases(), scanCases(), zeroProductCases(), movementCases()})
        cases.insert(cases.end(), more.begin(), more.end());
    return cases;
}

} // namespace halfscope::test
