// Rows of the ops that have kernels of their own: convolution, pooling, reduction, scans and
// movement, at odd sizes, each with the number of roundings that its sums can gather. The CPU's and
// CUDA's kernels are tested with the same rows.
#pragma once

#include "engine/graph/graph.h"

#include <cmath>
#include <string>
#include <vector>

namespace halfscope::test {

/// One op. An operand that holds indices has whole numbers below `indices`.
struct KernelRow {
    std::string name;
    Op op;
    Attrs attrs;
    std::vector<Shape> operands;
    /// The roundings in f32 that an output's sum can gather; 0: the result is exact.
    double roundings = 0;
    int64_t indices = 0; ///< the extent that the last operand indexes; 0: no operand is an index
};

inline Shape outOf(const Shape& image, const Shape& weight, const ConvAttrs& how) {
    const auto extent = [&](int i) {
        const auto axis = static_cast<size_t>(i - 2);
        const int64_t kernel = how.dilation[axis] * (weight[i] - 1) + 1;
        return (image[i] + 2 * how.padding[axis] - kernel) / how.stride[axis] + 1;
    };
    return {image[0], weight[0], extent(2), extent(3)};
}

/// Convolutions of which some are small, some have few taps, and some are for a library.
inline void addConvolutions(std::vector<KernelRow>& rows) {
    using Two = std::array<int64_t, 2>;
    const auto grouped = [](int64_t groups, Two stride, Two padding, Two dilation = {1, 1}) {
        return ConvAttrs{stride, padding, {}, dilation, groups};
    };
    const struct {
        const char* name;
        Shape image, weight;
        ConvAttrs how;
    } cases[] = {
        {"1x1", {2, 3, 5, 7}, {4, 3, 1, 1}, {}},
        {"1x1 wide", {1, 31, 65, 257}, {33, 31, 1, 1}, {}},
        {"1x1 samples", {9, 8, 9, 8}, {6, 8, 1, 1}, {}},
        {"1x1 stride", {2, 3, 9, 8}, {4, 3, 1, 1}, {{2, 3}, {0, 0}, {}}},
        {"3x3", {3, 5, 9, 7}, {2, 5, 3, 3}, {{1, 1}, {1, 1}, {}}},
        {"3x3 no padding", {1, 1, 3, 3}, {1, 1, 3, 3}, {}},
        {"3x3 stride 2", {2, 3, 33, 31}, {8, 3, 3, 3}, {{2, 2}, {1, 1}, {}}},
        {"padding beyond the kernel", {2, 2, 3, 2}, {3, 2, 2, 2}, {{1, 2}, {3, 4}, {}}},
        {"uneven", {2, 3, 11, 17}, {5, 3, 2, 5}, {{3, 2}, {0, 3}, {}}},
        {"many samples", {40, 3, 9, 8}, {5, 3, 3, 3}, {{1, 1}, {1, 1}, {}}},
        {"many samples, uneven", {19, 6, 11, 7}, {16, 6, 5, 2}, {{2, 1}, {1, 0}, {}}},
        {"many tiles", {2, 16, 70, 131}, {7, 16, 3, 3}, {{1, 1}, {1, 1}, {}}},
        {"dilated", {2, 3, 11, 17}, {5, 3, 3, 2}, grouped(1, {2, 1}, {2, 0}, {2, 3})},
        {"dilated, many samples", {40, 8, 9, 8}, {16, 8, 3, 3}, grouped(1, {1, 1}, {2, 2}, {2, 2})},
        {"dilated, few taps", {9, 3, 20, 21}, {13, 3, 3, 3}, grouped(1, {2, 1}, {1, 3}, {3, 2})},
        {"dilated beyond the image",
         {2, 2, 3, 4},
         {3, 2, 2, 3},
         grouped(1, {1, 1}, {3, 4}, {5, 4})},
        {"groups", {3, 6, 9, 8}, {4, 3, 3, 3}, grouped(2, {1, 1}, {1, 1})},
        {"groups, 1x1", {2, 6, 5, 7}, {4, 3, 1, 1}, grouped(2, {1, 1}, {0, 0})},
        {"groups, many samples", {19, 32, 9, 8}, {32, 16, 3, 3}, grouped(2, {1, 1}, {1, 1})},
        {"groups, dilated, stride",
         {3, 6, 9, 11},
         {9, 2, 3, 2},
         grouped(3, {2, 3}, {2, 1}, {2, 1})},
        {"depthwise", {11, 48, 14, 17}, {48, 1, 3, 3}, grouped(48, {1, 1}, {1, 1})},
        {"depthwise, narrow", {20, 32, 7, 7}, {32, 1, 3, 3}, grouped(32, {1, 1}, {1, 1})},
        {"depthwise, stride", {9, 17, 9, 8}, {17, 1, 3, 3}, grouped(17, {2, 2}, {1, 1})},
        {"depthwise, dilated", {9, 32, 20, 21}, {32, 1, 3, 3}, grouped(32, {1, 1}, {2, 2}, {2, 2})},
        {"depthwise, two each", {3, 5, 9, 12}, {10, 1, 3, 3}, grouped(5, {1, 2}, {1, 0})},
        {"f32 results", {3, 5, 9, 7}, {2, 5, 3, 3}, {.padding = {1, 1}, .wide = true}},
        {"f32 results, 1x1", {9, 8, 9, 8}, {6, 8, 1, 1}, {.wide = true}},
        {"f32 results, many samples", {19, 6, 11, 7}, {16, 6, 5, 2}, {.wide = true}},
    };
    for (const auto& c : cases) {
        const Shape out = outOf(c.image, c.weight, c.how);
        ConvAttrs image = c.how, weight = c.how;
        image.target = {c.image[2], c.image[3]};
        weight.target = {c.weight[2], c.weight[3]};
        const auto kernel = static_cast<double>(c.weight[2] * c.weight[3]);
        rows.push_back({std::string("conv2d ") + c.name,
                        Op::Conv2d,
                        c.how,
                        {c.image, c.weight},
                        kernel * static_cast<double>(c.weight[1])});
        rows.push_back({std::string("input grad ") + c.name,
                        Op::Conv2dInputGrad,
                        image,
                        {out, c.weight},
                        kernel * static_cast<double>(c.weight[0] / c.how.groups)});
        rows.push_back({std::string("weight grad ") + c.name,
                        Op::Conv2dWeightGrad,
                        weight,
                        {c.image, out},
                        static_cast<double>(out[0] * out[2] * out[3])});
    }
}

inline void addPools(std::vector<KernelRow>& rows) {
    const Shape image{3, 2, 11, 8};
    const PoolAttrs cases[] = {{{2, 2}, {2, 2}, {0, 0}, {}},
                               {{3, 3}, {2, 2}, {1, 1}, {}},
                               {{3, 2}, {1, 3}, {1, 0}, {}},
                               {{1, 1}, {1, 1}, {0, 0}, {}}};
    for (const PoolAttrs& how : cases) {
        const auto extent = [&](int axis, size_t i) {
            return (image[axis] + 2 * how.padding[i] - how.kernel[i]) / how.stride[i] + 1;
        };
        const Shape pooled{image[0], image[1], extent(2, 0), extent(3, 1)};
        const std::string name = " " + Shape{how.kernel[0], how.kernel[1]}.text() + " stride " +
                                 Shape{how.stride[0], how.stride[1]}.text();
        const auto window = static_cast<double>(how.kernel[0] * how.kernel[1] + 1);
        PoolAttrs grad = how;
        grad.target = {image[2], image[3]};
        rows.push_back({"max index" + name, Op::MaxPool2dIndex, how, {image}});
        rows.push_back({"average" + name, Op::AvgPool2d, how, {image}, window});
        rows.push_back({"average grad" + name, Op::AvgPool2dGrad, grad, {pooled}, window});
    }
}

inline void addReductions(std::vector<KernelRow>& rows) {
    const struct {
        Shape shape, axes;
    } cases[] = {{{1}, {0}},
                 {{31}, {0}},
                 {{257}, {0}},
                 {{200003}, {0}},
                 {{33, 257}, {1}},
                 {{257, 33}, {0}},
                 {{3, 70001}, {1}},
                 {{70001, 3}, {0}},
                 {{5000, 64}, {0}},
                 {{33, 300}, {0, 1}},
                 {{5, 31, 7, 9}, {0, 2, 3}},
                 {{5, 31, 7, 9}, {1}},
                 {{64, 3, 40, 40}, {0, 2, 3}},
                 {{2, 3, 4, 5, 6}, {0, 2, 4}},
                 {{2, 3, 4, 5, 6}, {1, 3}},
                 {{7, 1, 300, 1}, {1, 2, 3}},
                 {{3000, 2, 4}, {1}}};
    for (const auto& c : cases) {
        int64_t terms = 1;
        for (const int64_t axis : c.axes)
            terms *= c.shape[static_cast<int>(axis)];
        // a block of 512 in 16 lanes or 16 rows one by one, then pairs, then the division
        const double roundings = 32 + 16 + std::log2(static_cast<double>(terms)) + 1;
        const std::string where = " " + c.shape.text() + " over " + c.axes.text();
        const AxesAttrs axes{c.axes};
        rows.push_back({"sum" + where, Op::Sum, axes, {c.shape}, roundings});
        rows.push_back({"mean" + where, Op::Mean, axes, {c.shape}, roundings});
        rows.push_back({"prod" + where, Op::Prod, axes, {c.shape}, 2 * static_cast<double>(terms)});
        rows.push_back({"max" + where, Op::ReduceMax, axes, {c.shape}});
        rows.push_back({"min" + where, Op::ReduceMin, axes, {c.shape}});
    }
}

inline void addMoves(std::vector<KernelRow>& rows) {
    const auto transpose = [&](const Shape& shape, const Shape& axes) {
        rows.push_back({"transpose " + shape.text() + " by " + axes.text(),
                        Op::Transpose,
                        AxesAttrs{axes},
                        {shape}});
    };
    transpose({33, 257}, {1, 0});
    transpose({700, 301}, {1, 0});
    transpose({31, 1, 33, 7}, {3, 2, 1, 0});
    transpose({4, 33, 5, 31}, {0, 2, 1, 3});
    transpose({2, 3, 4, 5, 6, 7}, {5, 0, 4, 1, 3, 2});
    const auto expand = [&](const Shape& from, const Shape& to) {
        rows.push_back(
            {"expand " + from.text() + " to " + to.text(), Op::Expand, ShapeAttrs{to}, {from}});
    };
    expand({}, {33, 5});
    expand({257}, {31, 257});
    expand({33, 1}, {33, 300});
    expand({1, 3, 1, 1}, {4, 3, 9, 11});
    expand({5, 1, 7}, {2, 5, 3, 7});
    rows.push_back(
        {"slice", Op::Slice, SliceAttrs{{3, 0, 1}, {30, 1, 33}, {2, 1, 5}}, {{31, 2, 33}}});
    rows.push_back({"slice a row", Op::Slice, SliceAttrs{{7, 0}, {8, 257}, {1, 1}}, {{31, 257}}});
    rows.push_back({"pad", Op::Pad, PadAttrs{{1, 0, 2}, {0, 3, 1}, {0, 2, 1}, 0.5}, {{5, 3, 7}}});
    rows.push_back(
        {"pad one axis", Op::Pad, PadAttrs{{0, 2, 0}, {0, 1, 0}, {0, 0, 0}, 0.5}, {{5, 3, 7}}});
    rows.push_back({"pad rows", Op::Pad, PadAttrs{{0, 64}, {0, 128}, {0, 0}, 0}, {{700, 64}}});
    rows.push_back({"pad a vector", Op::Pad, PadAttrs{{0}, {1}, {2}, -1}, {{257}}});
    rows.push_back({"concat rows", Op::Concat, AxisAttrs{0, 0}, {{3, 31}, {1, 31}, {33, 31}}});
    rows.push_back({"concat columns", Op::Concat, AxisAttrs{1, 0}, {{31, 3}, {31, 1}, {31, 257}}});
    const struct {
        Shape values;
        int axis;
        int64_t count; ///< along the axis in the index
    } picks[] = {{{257, 10}, 1, 1},
                 {{2, 3, 99}, 2, 33},
                 {{31, 7}, 0, 300},
                 {{4, 5, 6}, 1, 9},
                 {{1, 100000, 3}, 1, 31}};
    for (const auto& p : picks) {
        Shape index = p.values;
        index[p.axis] = p.count;
        const std::string name = " " + index.text() + " in " + p.values.text();
        const int64_t extent = p.values[p.axis];
        rows.push_back(
            {"gather" + name, Op::Gather, AxisAttrs{p.axis, 0}, {p.values, index}, 0, extent});
        rows.push_back({"scatter_add" + name,
                        Op::ScatterAdd,
                        AxisAttrs{p.axis, extent},
                        {index, index},
                        static_cast<double>(p.count),
                        extent});
    }
}

inline void addScans(std::vector<KernelRow>& rows) {
    const Shape shapes[] = {{1}, {257}, {33, 31}, {5, 65, 7}, {3, 2, 130}};
    for (const Shape& shape : shapes) {
        for (int axis = 0; axis < shape.rank(); ++axis) {
            for (const bool reverse : {false, true}) {
                const std::string where = " " + shape.text() + " along " + std::to_string(axis) +
                                          (reverse ? " reverse" : "");
                const ScanAttrs how{axis, reverse};
                // computed in double, rounded to f32 once
                rows.push_back({"cumsum" + where, Op::Cumsum, how, {shape}, 1});
                rows.push_back({"cumprod" + where, Op::Cumprod, how, {shape}, 1});
            }
        }
    }
}

inline const std::vector<KernelRow>& kernelRows() {
    static const std::vector<KernelRow> rows = [] {
        std::vector<KernelRow> all;
        addConvolutions(all);
        addPools(all);
        addReductions(all);
        addScans(all);
        addMoves(all);
        return all;
    }();
    return rows;
}

} // namespace halfscope::test
