// Moves elements on the CPU, by element size and stride: transpose, slice, expand, pad, concat, and
// gather and scatter along an axis. Storage is copied unchanged; only scatter_add computes.
#include "engine/cpu/support.h"

#include "engine/core/axis_view.h"
#include "engine/core/error.h"
#include "engine/core/vector_clones.h"

#include <array>
#include <cstring>

namespace halfscope {
namespace {

constexpr int64_t kTaskElements = 1 << 15;
constexpr int64_t kTile = 32; ///< side of a square of a transposed copy: both its faces stay in L1

/// Copies the elements of `shape` from strides `in` to strides `out` (in elements; 0 repeats).
struct StridedCopy {
    Shape shape, in, out;
};

/// Drops extents of 1 and merges neighbours that are contiguous on both sides; keeps at least two
/// axes.
StridedCopy merged(const StridedCopy& copy) {
    StridedCopy m;
    for (int i = 0; i < copy.shape.rank(); ++i) {
        const int64_t extent = copy.shape[i];
        if (extent == 1) continue;
        const int last = m.shape.rank() - 1;
        if (last >= 0 && m.in[last] == extent * copy.in[i] && m.out[last] == extent * copy.out[i]) {
            m.shape[last] *= extent;
            m.in[last] = copy.in[i];
            m.out[last] = copy.out[i];
        } else {
            m.shape.push(extent);
            m.in.push(copy.in[i]);
            m.out.push(copy.out[i]);
        }
    }
    return m;
}

/// Inserts axes of extent 1 before the last until there are two.
StridedCopy padded(StridedCopy m) {
    while (m.shape.rank() < 2) {
        StridedCopy more{Shape{1}, Shape{0}, Shape{0}};
        for (int i = 0; i < m.shape.rank(); ++i) {
            more.shape.push(m.shape[i]);
            more.in.push(m.in[i]);
            more.out.push(m.out[i]);
        }
        m = more;
    }
    return m;
}

template <class T>
void copyRow(const T* from, int64_t inStep, T* to, int64_t outStep, int64_t count) {
    if (inStep == 1 && outStep == 1) {
        std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    } else if (inStep == 0 && outStep == 1) {
        std::fill_n(to, count, *from);
    } else {
        for (int64_t i = 0; i < count; ++i)
            to[i * outStep] = from[i * inStep];
    }
}

/// Copies rows x columns, tile by tile when the input is contiguous along the rows' axis.
template <class T>
void copyPlane(const StridedCopy& m, int rowAxis, const T* from, T* to, int64_t row, int64_t rows) {
    const int column = m.shape.rank() - 1;
    const int64_t columns = m.shape[column];
    const bool tiled = m.in[column] > 1 && m.in[rowAxis] == 1;
    const int64_t width = tiled ? kTile : columns;
    for (int64_t i = row; i < row + rows; i += kTile) {
        for (int64_t j = 0; j < columns; j += width) {
            const int64_t count = std::min(width, columns - j);
            for (int64_t r = i; r < std::min(i + kTile, row + rows); ++r) {
                copyRow(from + r * m.in[rowAxis] + j * m.in[column], m.in[column],
                        to + r * m.out[rowAxis] + j * m.out[column], m.out[column], count);
            }
        }
    }
}

template <class T>
void copyAs(const CpuCall& call, const StridedCopy& copy, const T* from, T* to) {
    if (copy.shape.elements() == 1) { // as the metrics of a step are
        *to = *from;
        return;
    }
    const StridedCopy m = padded(merged(copy));
    const int last = m.shape.rank() - 1;
    // The row axis of a plane is the axis along which the input is contiguous, or the next axis
    // when that is the innermost one.
    int rowAxis = last - 1;
    for (int i = 0; i < last; ++i) {
        if (m.in[last] != 1 && m.in[i] == 1) rowAxis = i;
    }
    Shape outer, outerIn, outerOut;
    for (int i = 0; i < last; ++i) {
        if (i == rowAxis) continue;
        outer.push(m.shape[i]);
        outerIn.push(m.in[i]);
        outerOut.push(m.out[i]);
    }
    const int64_t rowsEach = std::clamp<int64_t>(
        ceilDiv(kTaskElements / std::max<int64_t>(m.shape[last], 1), kTile) * kTile, kTile,
        ceilDiv(m.shape[rowAxis], kTile) * kTile);
    const int64_t pieces = ceilDiv(m.shape[rowAxis], rowsEach), planes = outer.elements();
    const int64_t planeElements = m.shape[rowAxis] * m.shape[last];
    const int64_t grouped =
        std::max<int64_t>(1, kTaskElements / std::max<int64_t>(planeElements, 1));
    call.pool.run(ceilDiv(planes, grouped) * pieces, [&](int64_t task, int) {
        if (stopped(call)) return;
        const int64_t row = task % pieces * rowsEach;
        const int64_t rows = std::min(rowsEach, m.shape[rowAxis] - row);
        const int64_t first = task / pieces * grouped;
        for (int64_t plane = first; plane < std::min(first + grouped, planes); ++plane) {
            int64_t rest = plane, in = 0, out = 0;
            for (int i = outer.rank() - 1; i >= 0; --i) {
                in += rest % outer[i] * outerIn[i];
                out += rest % outer[i] * outerOut[i];
                rest /= outer[i];
            }
            copyPlane(m, rowAxis, from + in, to + out, row, rows);
        }
    });
}

/// Calls `as` with an integer of the dtype's size.
template <class As>
void withElement(DType type, const As& as) {
    switch (bytesOf(type)) {
    case 1: return as(uint8_t{});
    case 2: return as(uint16_t{});
    case 4: return as(uint32_t{});
    default: return as(uint64_t{});
    }
}

/// Copies elements of the result's dtype from `from` + inOffset to the result + outOffset.
void copyStrided(const CpuCall& call, const StridedCopy& copy, const void* from, int64_t inOffset,
                 int64_t outOffset) {
    withElement(call.node.dtype, [&]<class T>(T) {
        copyAs(call, copy, static_cast<const T*>(from) + inOffset,
               static_cast<T*>(call.out) + outOffset);
    });
}

/// Returns the bytes of one element that stores `value`.
std::array<std::byte, 8> stored(DType type, double value) {
    std::array<std::byte, 8> bytes{};
    const auto put = [&](auto v) { std::memcpy(bytes.data(), &v, sizeof v); };
    switch (type) {
    case DType::F32: put(static_cast<float>(value)); break;
    case DType::F16: put(halfFromDouble(value)); break;
    case DType::BF16: put(bfloat16FromDouble(value)); break;
    case DType::F64: put(value); break;
    case DType::I32: put(static_cast<int32_t>(value)); break;
    case DType::Bool: put(static_cast<uint8_t>(value != 0)); break;
    }
    return bytes;
}

/// Returns the axis that is padded, if it is one alone and without gaps, as in the gradient of a
/// slice; otherwise -1.
int onlyPaddedAxis(const PadAttrs& pad) {
    int found = -1;
    for (int i = 0; i < pad.before.rank(); ++i) {
        if (pad.between[i] > 0) return -1;
        if (pad.before[i] + pad.after[i] == 0) continue;
        if (found >= 0) return -1;
        found = i;
    }
    return found;
}

/// Pads one axis; every element is written once.
template <class T>
void padAxisAs(const CpuCall& call, int axis, const std::array<std::byte, 8>& stored) {
    const auto& pad = attrsOf<PadAttrs>(call.node.attrs);
    const AxisView view = around(*call.in[0].shape, axis);
    const int64_t before = pad.before[axis] * view.inner, after = pad.after[axis] * view.inner,
                  copied = view.extent * view.inner, row = before + copied + after;
    T value;
    std::memcpy(&value, stored.data(), sizeof value);
    const int64_t grouped = std::max<int64_t>(1, kTaskElements / std::max<int64_t>(row, 1));
    call.pool.run(ceilDiv(view.outer, grouped), [&](int64_t task, int) {
        if (stopped(call)) return;
        const int64_t first = task * grouped, end = std::min(first + grouped, view.outer);
        const T* from = static_cast<const T*>(call.in[0].data) + first * copied;
        T* to = static_cast<T*>(call.out) + first * row;
        for (int64_t i = first; i < end; ++i, from += copied) {
            to = std::fill_n(to, before, value);
            to = std::copy_n(from, copied, to);
            to = std::fill_n(to, after, value);
        }
    });
}

/// Returns the largest of n indices; negative ones count as the large numbers that their bits are.
HALFSCOPE_VECTOR uint32_t largestIndex(const int32_t* index, int64_t n) {
    uint32_t largest = 0;
    for (int64_t i = 0; i < n; ++i)
        largest = std::max(largest, static_cast<uint32_t>(index[i]));
    return largest;
}

void requireInside(const int32_t* index, int64_t n, int64_t extent) {
    if (int64_t{largestIndex(index, n)} < std::min<int64_t>(extent, int64_t{1} << 31)) return;
    const int32_t* wrong =
        std::find_if(index, index + n, [&](int32_t i) { return i < 0 || i >= extent; });
    if (wrong != index + n) {
        failInvariant("gather or scatter: index " + std::to_string(*wrong) + " in an axis of " +
                      std::to_string(extent));
    }
}

/// Copies column i of row index[i] of `values`, which has `columns` columns, to to[i].
template <class T>
void gatherRow(const T* values, const int32_t* index, int64_t columns, T* to) {
    HALFSCOPE_UNROLL for (int64_t i = 0; i < columns; ++i) to[i] = values[index[i] * columns + i];
}

template <class T>
void gatherAs(const CpuCall& call) {
    const int axis = attrsOf<AxisAttrs>(call.node.attrs).axis;
    const AxisView from = around(*call.in[0].shape, axis), to = around(call.node.shape, axis);
    const T* x = static_cast<const T*>(call.in[0].data);
    const auto* index = static_cast<const int32_t*>(call.in[1].data);
    T* out = static_cast<T*>(call.out);
    const int64_t count = call.node.elements(), slice = to.extent * to.inner, inner = to.inner;
    call.pool.run(ceilDiv(count, kTaskElements), [&](int64_t task, int) {
        const int64_t end = std::min(count, (task + 1) * kTaskElements);
        for (int64_t i = task * kTaskElements; i < end;) {
            const int64_t outer = i / slice, last = std::min(end, (outer + 1) * slice);
            const T* const values = x + outer * from.extent * inner;
            requireInside(index + i, last - i, from.extent);
            if (inner == 1) {
                for (; i < last; ++i)
                    out[i] = values[index[i]];
                continue;
            }
            // the rest of a row that began before, whole rows, and the beginning of one
            for (int64_t column = i % inner; column > 0 && column < inner && i < last;
                 ++column, ++i)
                out[i] = values[index[i] * inner + column];
            for (; i + inner <= last; i += inner)
                gatherRow(values, index + i, inner, out + i);
            for (int64_t column = 0; i < last; ++column, ++i)
                out[i] = values[index[i] * inner + column];
        }
    });
}

/// One task of a scatter: whole outer slices, or a range of the inner axis of one slice.
struct ScatterPlan {
    AxisView from, to;
    int64_t slices = 1; ///< outer slices per task
    int64_t width = 1;  ///< inner elements per task
    int64_t taskFloats() const { return alignedFloats(slices * to.extent * width); }
};
ScatterPlan scatterPlan(const Shape& from, const Shape& to, int axis) {
    ScatterPlan p{around(from, axis), around(to, axis)};
    p.width = std::min(p.to.inner, std::max<int64_t>(16, kTaskElements / p.to.extent));
    if (p.width == p.to.inner) {
        p.slices = std::clamp<int64_t>(kTaskElements / (p.to.extent * p.width), 1, p.to.outer);
    }
    return p;
}

/// Adds sum[index[i] * width + i % width] += the i-th of n values from element `first` on; n is the
/// width, or any number of values when the width is 1.
template <class Acc>
void addRun(const CpuTensor& x, int64_t first, const int32_t* index, int64_t n, int64_t width,
            Acc* sum) {
    constexpr int64_t kRun = 256;
    std::array<Acc, kRun> buffer;
    for (int64_t at = 0; at < n; at += kRun) {
        const int64_t count = std::min(kRun, n - at);
        const std::byte* const stored = elementAt(x.data, first + at, x.dtype);
        const Acc* values = reinterpret_cast<const Acc*>(stored);
        if (std::is_same_v<Acc, float> && x.dtype != DType::F32) {
            loadAsFloat(x.dtype, stored, reinterpret_cast<float*>(buffer.data()),
                        static_cast<size_t>(count));
            values = buffer.data();
        }
        if (width == 1) {
            for (int64_t i = 0; i < count; ++i)
                sum[index[at + i]] += values[i];
        } else {
            for (int64_t i = 0; i < count; ++i)
                sum[index[at + i] * width + at + i] += values[i];
        }
    }
}

bool isWrittenInPlace(const ScatterPlan& p, DType type) {
    return !isLow(type) && p.width == p.to.inner;
}

/// Adds one task's values into `sum` (slices, extent, width), in ascending order of the index axis.
template <class Acc>
void scatterTask(const CpuCall& call, const ScatterPlan& p, int64_t outer, int64_t slices,
                 int64_t inner, int64_t width, Acc* sum) {
    const auto* index = static_cast<const int32_t*>(call.in[1].data);
    std::fill_n(sum, slices * p.to.extent * width, Acc{0});
    const int64_t together = p.from.inner == 1 ? p.from.extent : 1; // rows in one contiguous run
    for (int64_t s = 0; s < slices; ++s) {
        const int64_t slice = p.from.extent * p.from.inner;
        if (width == p.from.inner) requireInside(index + (outer + s) * slice, slice, p.to.extent);
        for (int64_t i = 0; i < p.from.extent; i += together) {
            const int64_t base = (outer + s) * slice + i * p.from.inner + inner;
            if (width < p.from.inner) requireInside(index + base, width, p.to.extent);
            addRun(call.in[0], base, index + base, together * width, width,
                   sum + s * p.to.extent * width);
        }
    }
}

/// Sums 16-bit values in f32 scratch, and wider storage in place.
template <class Acc>
void scatterAs(const CpuCall& call) {
    const int axis = attrsOf<AxisAttrs>(call.node.attrs).axis;
    const ScatterPlan p = scatterPlan(*call.in[0].shape, call.node.shape, axis);
    const int64_t columns = ceilDiv(p.to.inner, p.width), rows = ceilDiv(p.to.outer, p.slices);
    const bool direct = isWrittenInPlace(p, call.node.dtype);
    call.pool.run(rows * columns, [&](int64_t task, int thread) {
        if (stopped(call)) return;
        const int64_t outer = task / columns * p.slices, inner = task % columns * p.width;
        const int64_t slices = std::min(p.slices, p.to.outer - outer);
        const int64_t width = std::min(p.width, p.to.inner - inner);
        const int64_t first = outer * p.to.extent * p.to.inner + inner;
        // an area is twice as long as its floats when Acc is double
        Acc* sum = direct
                       ? static_cast<Acc*>(call.out) + first
                       : reinterpret_cast<Acc*>(scratchFloats(call) + p.taskFloats() * 2 * thread);
        scatterTask(call, p, outer, slices, inner, width, sum);
        if (direct) return;
        const int64_t values = slices * p.to.extent * width;
        const int64_t run = columns == 1 ? values : width; // contiguous in the result
        for (int64_t row = 0; row * run < values; ++row) {
            std::byte* to = elementAt(call.out, first + row * p.to.inner, call.node.dtype);
            if constexpr (std::is_same_v<Acc, float>) {
                storeFromFloat(call.node.dtype, sum + row * run, to, static_cast<size_t>(run));
            } else {
                std::memcpy(to, sum + row * run, static_cast<size_t>(run) * sizeof(Acc));
            }
        }
    });
}

} // namespace

void cpuCopyStrided(const CpuCall& call) {
    const Shape &to = call.node.shape, &from = *call.in[0].shape;
    const Shape strides = from.strides();
    StridedCopy copy{to, Shape::filled(to.rank(), 0), to.strides()};
    int64_t offset = 0;
    if (call.node.op == Op::Transpose) {
        const Shape& axes = attrsOf<AxesAttrs>(call.node.attrs).axes;
        for (int i = 0; i < to.rank(); ++i)
            copy.in[i] = strides[static_cast<int>(axes[i])];
    } else if (call.node.op == Op::Slice) {
        const auto& cut = attrsOf<SliceAttrs>(call.node.attrs);
        for (int i = 0; i < to.rank(); ++i) {
            copy.in[i] = strides[i] * cut.step[i];
            offset += strides[i] * cut.begin[i];
        }
    } else {
        const int extra = to.rank() - from.rank();
        for (int i = 0; i < from.rank(); ++i)
            copy.in[i + extra] = from[i] == 1 ? 0 : strides[i];
    }
    copyStrided(call, copy, call.in[0].data, offset, 0);
}

void cpuPad(const CpuCall& call) {
    const auto& pad = attrsOf<PadAttrs>(call.node.attrs);
    const auto value = stored(call.node.dtype, pad.value);
    if (const int axis = onlyPaddedAxis(pad); axis >= 0)
        return withElement(call.node.dtype, [&]<class T>(T) { padAxisAs<T>(call, axis, value); });
    const Shape &to = call.node.shape, &from = *call.in[0].shape;
    const StridedCopy everywhere{to, Shape::filled(to.rank(), 0), to.strides()};
    copyStrided(call, everywhere, value.data(), 0, 0);
    StridedCopy copy{from, from.strides(), to.strides()};
    int64_t offset = 0;
    for (int i = 0; i < to.rank(); ++i) {
        offset += pad.before[i] * copy.out[i];
        copy.out[i] *= pad.between[i] + 1;
    }
    copyStrided(call, copy, call.in[0].data, 0, offset);
}

void cpuConcat(const CpuCall& call) {
    const int axis = attrsOf<AxisAttrs>(call.node.attrs).axis;
    const Shape strides = call.node.shape.strides();
    int64_t at = 0;
    for (const CpuTensor& part : call.in) {
        copyStrided(call, {*part.shape, part.shape->strides(), strides}, part.data, 0,
                    at * strides[axis]);
        at += (*part.shape)[axis];
    }
}

void cpuGather(const CpuCall& call) {
    switch (bytesOf(call.node.dtype)) {
    case 1: return gatherAs<uint8_t>(call);
    case 2: return gatherAs<uint16_t>(call);
    case 4: return gatherAs<uint32_t>(call);
    default: return gatherAs<uint64_t>(call);
    }
}

size_t cpuScatterScratchBytes(const Graph& graph, NodeId id, int threads) {
    const Node& node = graph[id];
    const ScatterPlan p =
        scatterPlan(graph[node.in[0]].shape, node.shape, attrsOf<AxisAttrs>(node.attrs).axis);
    if (isWrittenInPlace(p, node.dtype)) return 0;
    return static_cast<size_t>(2 * p.taskFloats() * threads) * sizeof(float);
}

void cpuScatterAdd(const CpuCall& call) {
    switch (call.node.dtype) {
    case DType::F64: return scatterAs<double>(call);
    case DType::I32: return scatterAs<int32_t>(call);
    default: return scatterAs<float>(call);
    }
}

void cpuIota(const CpuCall& call) {
    const AxisView view = around(call.node.shape, attrsOf<AxisAttrs>(call.node.attrs).axis);
    const auto size = bytesOf(call.node.dtype);
    auto* out = static_cast<std::byte*>(call.out);
    for (int64_t i = 0; i < call.node.elements(); ++i) {
        const auto value =
            stored(call.node.dtype, static_cast<double>(i / view.inner % view.extent));
        std::memcpy(out + static_cast<size_t>(i) * size, value.data(), size);
    }
}

} // namespace halfscope
