// Running sums and products along an axis, and random numbers, on the CPU. Scans accumulate in
// double whatever the storage; results are converted to f32 before they are stored.
#include "engine/cpu/support.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/ops/families.h"

#include <array>
#include <cmath>

namespace halfscope {
namespace {

constexpr int64_t kWidth = 64;             ///< neighbouring lines that run together
constexpr int64_t kTaskElements = 1 << 14; ///< random numbers per task

/// Takes one element along the axis after the other, for `width` neighbouring lines.
template <class Step>
void scanLines(const CpuCall& call, int64_t first, int64_t width, double start, const Step& step) {
    const auto& how = attrsOf<ScanAttrs>(call.node.attrs);
    const int64_t extent = call.node.shape[how.axis];
    const int64_t stride = call.node.shape.strides()[how.axis];
    const auto count = static_cast<size_t>(width);
    std::array<double, kWidth> total;
    total.fill(start);
    std::array<float, kWidth> values;
    for (int64_t i = 0; i < extent; ++i) {
        const int64_t at = first + (how.reverse ? extent - 1 - i : i) * stride;
        loadAsFloat(call.in[0].dtype, elementAt(call.in[0].data, at, call.in[0].dtype),
                    values.data(), count);
        for (size_t line = 0; line < count; ++line) {
            total[line] = step(total[line], static_cast<double>(values[line]));
            values[line] = static_cast<float>(total[line]);
        }
        storeFromFloat(call.node.dtype, values.data(), elementAt(call.out, at, call.node.dtype),
                       count);
    }
}

} // namespace

void cpuScan(const CpuCall& call) {
    const int axis = attrsOf<ScanAttrs>(call.node.attrs).axis;
    const Shape& shape = call.node.shape;
    const int64_t extent = shape[axis], inner = shape.strides()[axis];
    if (shape.elements() == 0) return;
    const int64_t outer = shape.elements() / (extent * inner), strips = ceilDiv(inner, kWidth);
    const bool sums = call.node.op == Op::Cumsum;
    call.pool.run(outer * strips, [&](int64_t task, int) {
        if (stopped(call)) return;
        const int64_t column = task % strips * kWidth;
        const int64_t first = task / strips * extent * inner + column;
        const int64_t width = std::min(kWidth, inner - column);
        if (sums)
            scanLines(call, first, width, 0, [](double total, double x) { return total + x; });
        else
            scanLines(call, first, width, 1, [](double total, double x) { return total * x; });
    });
}

void cpuRandom(const CpuCall& call) {
    const auto& how = attrsOf<RandomAttrs>(call.node.attrs);
    double counter = 0;
    if (call.in[0].dtype == DType::I32) {
        counter = *static_cast<const int32_t*>(call.in[0].data);
    } else {
        float value = 0;
        loadAsFloat(call.in[0].dtype, call.in[0].data, &value, 1);
        counter = static_cast<double>(value);
    }
    const Philox random(how.seed, randomStream(how, counter));
    auto* out = static_cast<float*>(call.out);
    const int64_t elements = call.node.elements();
    call.pool.run(ceilDiv(elements, kTaskElements), [&](int64_t task, int) {
        if (stopped(call)) return;
        const int64_t first = task * kTaskElements;
        const int64_t count = std::min(kTaskElements, elements - first);
        random.uniforms(static_cast<uint64_t>(first), {out + first, static_cast<size_t>(count)});
    });
}

} // namespace halfscope
