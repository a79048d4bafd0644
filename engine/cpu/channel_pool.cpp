// Row by row of windows, or of the image for a gradient, over all threads.
#include "engine/cpu/channel_pool.h"

#include "engine/core/error.h"
#include "engine/core/vector_clones.h"

#include <algorithm>
#include <cstring>

namespace halfscope {
namespace {

/// Images (n, h, w, c) and results (n, oh, ow, c).
struct ChannelPool {
    int64_t n, h, w, c, oh, ow;
    PoolAttrs how;
    bool wide; ///< operands are floats already, and are read in place

    /// The pixels [begin, end) along an axis of the image that are in a window.
    struct Range {
        int64_t begin, end;
    };
    Range rowsOf(int64_t window) const { return inside(window, 0, h); }
    Range columnsOf(int64_t window) const { return inside(window, 1, w); }
    float divisor() const { return static_cast<float>(how.kernel[0] * how.kernel[1]); }
    int64_t imageRow() const { return w * c; }
    int64_t windowRow() const { return ow * c; }
    /// The image rows of a row of windows as floats, or one that is summed, and a row of windows.
    int64_t perThread() const {
        const int64_t rows = wide ? 1 : std::min(how.kernel[0], h);
        return alignedFloats(rows * imageRow()) + alignedFloats(windowRow());
    }

private:
    Range inside(int64_t window, size_t axis, int64_t extent) const {
        const int64_t first = window * how.stride[axis] - how.padding[axis];
        return {std::max<int64_t>(first, 0), std::min(first + how.kernel[axis], extent)};
    }
};

ChannelPool poolOf(const Node& node, const Shape& in, DType operand) {
    const Shape& image = node.op == Op::AvgPool2dGrad ? node.shape : in;
    const Shape& pooled = node.op == Op::AvgPool2dGrad ? in : node.shape;
    return {image[0],
            image[1],
            image[2],
            image[3],
            pooled[1],
            pooled[2],
            attrsOf<PoolAttrs>(node.attrs),
            operand == DType::F32};
}

/// Runs row(n, y, area) for each of `rows` rows of each image; `area` is the thread's scratch.
template <class Row>
void forEachRow(const CpuCall& call, const ChannelPool& p, int64_t rows, const Row& row) {
    const auto threads = static_cast<size_t>(call.pool.threads());
    require(call.scratch.size() >= sizeof(float) * threads * static_cast<size_t>(p.perThread()),
            "pooling: scratch too small");
    constexpr int64_t kTaskElements = 1 << 13;
    const int64_t all = p.n * rows, each = std::max<int64_t>(1, kTaskElements / p.imageRow());
    call.pool.run(ceilDiv(all, each), [&](int64_t task, int thread) {
        float* const area = scratchFloats(call) + p.perThread() * thread;
        for (int64_t i = task * each; i < std::min(all, (task + 1) * each); ++i) {
            if (stopped(call)) return;
            row(i / rows, i % rows, area);
        }
    });
}

/// Returns elements [first, first + count) of the operand as floats: in place, or widened to `to`.
const float* asFloats(const CpuTensor& x, int64_t first, int64_t count, float* to) {
    const std::byte* const stored = elementAt(x.data, first, x.dtype);
    if (x.dtype == DType::F32) return reinterpret_cast<const float*>(stored);
    loadAsFloat(x.dtype, stored, to, static_cast<size_t>(count));
    return to;
}

constexpr int64_t kChannelLanes = 8; ///< channels at once
using ChannelFloats = float __attribute__((vector_size(kChannelLanes * sizeof(float))));
using ChannelPlaces =
    int32_t __attribute__((vector_size(kChannelLanes * sizeof(int32_t)))); ///< places or masks

/// One window: the first of its pixels, as rows and columns of an image whose rows are `rowFloats`
/// apart, and that pixel's place in its plane.
struct PixelWindow {
    const float* pixels;
    int64_t rows, columns, rowFloats;
    int32_t place, width;
};

/// Finds the largest of each of kChannelLanes channels, or the first NaN, and writes their places;
/// among equal ones the first.
[[gnu::always_inline]] inline void largestOfLanes(const PixelWindow& window, int64_t channels,
                                                  int32_t* index) {
    ChannelFloats best;
    std::memcpy(&best, window.pixels, sizeof best);
    ChannelPlaces place = ChannelPlaces{} + window.place;
    for (int64_t i = 0; i < window.rows; ++i)
        for (int64_t j = 0; j < window.columns; ++j) {
            ChannelFloats later;
            std::memcpy(&later, window.pixels + i * window.rowFloats + j * channels, sizeof later);
            const ChannelPlaces taken = ~(later <= best) & (best == best);
            best = taken ? later : best;
            place = taken
                        ? ChannelPlaces{} + (window.place + static_cast<int32_t>(i) * window.width +
                                             static_cast<int32_t>(j))
                        : place;
        }
    std::memcpy(index, &place, sizeof place);
}

/// Does the same for one channel.
int32_t largestOfOne(const PixelWindow& window, int64_t channels) {
    float best = *window.pixels;
    int32_t place = window.place;
    for (int64_t i = 0; i < window.rows; ++i)
        for (int64_t j = 0; j < window.columns; ++j) {
            const float later = window.pixels[i * window.rowFloats + j * channels];
            if (later <= best || best != best) continue;
            best = later;
            place = window.place + static_cast<int32_t>(i) * window.width + static_cast<int32_t>(j);
        }
    return place;
}

/// Writes the places of a row of windows; `image` is their rows of it.
HALFSCOPE_VECTOR void largestOfRow(const ChannelPool& p, const float* image,
                                   ChannelPool::Range rows, int32_t* index) {
    for (int64_t x = 0; x < p.ow; ++x, index += p.c) {
        const ChannelPool::Range columns = p.columnsOf(x);
        PixelWindow window{image + columns.begin * p.c,
                           rows.end - rows.begin,
                           columns.end - columns.begin,
                           p.imageRow(),
                           static_cast<int32_t>(rows.begin * p.w + columns.begin),
                           static_cast<int32_t>(p.w)};
        int64_t c = 0;
        for (; c + kChannelLanes <= p.c; c += kChannelLanes, window.pixels += kChannelLanes)
            largestOfLanes(window, p.c, index + c);
        for (; c < p.c; ++c, ++window.pixels)
            index[c] = largestOfOne(window, p.c);
    }
}

HALFSCOPE_VECTOR void addPixel(const float* pixel, int64_t channels, float* sum) {
    HALFSCOPE_INDEPENDENT for (int64_t i = 0; i < channels; ++i) sum[i] += pixel[i];
}

/// Divides a row and stores it from element `first` of the result on.
void storeAverage(const CpuCall& call, const ChannelPool& p, float* row, int64_t count,
                  int64_t first) {
    const float divisor = p.divisor();
    for (int64_t i = 0; i < count; ++i)
        row[i] /= divisor;
    storeFromFloat(call.node.dtype, row, elementAt(call.out, first, call.node.dtype),
                   static_cast<size_t>(count));
}

/// Returns these rows of an image as floats: in place, or widened to `to`.
const float* imageRows(const CpuCall& call, const ChannelPool& p, int64_t n,
                       ChannelPool::Range rows, float* to) {
    return asFloats(call.in[0], (n * p.h + rows.begin) * p.imageRow(),
                    (rows.end - rows.begin) * p.imageRow(), to);
}

} // namespace

int64_t channelPoolFloats(const Node& node, const Shape& in, DType operand) {
    return poolOf(node, in, operand).perThread();
}

void channelPoolIndex(const CpuCall& call) {
    const ChannelPool p = poolOf(call.node, *call.in[0].shape, call.in[0].dtype);
    auto* const out = static_cast<int32_t*>(call.out);
    forEachRow(call, p, p.oh, [&](int64_t n, int64_t y, float* area) {
        const ChannelPool::Range rows = p.rowsOf(y);
        const float* const image = imageRows(call, p, n, rows, area);
        largestOfRow(p, image, rows, out + (n * p.oh + y) * p.windowRow());
    });
}

void channelAvgPool(const CpuCall& call) {
    const ChannelPool p = poolOf(call.node, *call.in[0].shape, call.in[0].dtype);
    forEachRow(call, p, p.oh, [&](int64_t n, int64_t y, float* area) {
        const ChannelPool::Range rows = p.rowsOf(y);
        const float* const image = imageRows(call, p, n, rows, area);
        float* const sums = area + p.perThread() - alignedFloats(p.windowRow());
        std::fill_n(sums, p.windowRow(), 0.0F);
        for (int64_t x = 0; x < p.ow; ++x) {
            const ChannelPool::Range columns = p.columnsOf(x);
            for (int64_t i = rows.begin; i < rows.end; ++i)
                for (int64_t j = columns.begin; j < columns.end; ++j)
                    addPixel(image + ((i - rows.begin) * p.w + j) * p.c, p.c, sums + x * p.c);
        }
        storeAverage(call, p, sums, p.windowRow(), (n * p.oh + y) * p.windowRow());
    });
}

void channelAvgPoolGrad(const CpuCall& call) {
    const ChannelPool p = poolOf(call.node, *call.in[0].shape, call.in[0].dtype);
    forEachRow(call, p, p.h, [&](int64_t n, int64_t y, float* area) {
        float* const sums = area;
        float* const wide = area + p.perThread() - alignedFloats(p.windowRow());
        std::fill_n(sums, p.imageRow(), 0.0F);
        for (int64_t window = 0; window < p.oh; ++window) {
            const ChannelPool::Range rows = p.rowsOf(window);
            if (y < rows.begin || y >= rows.end) continue;
            const float* const dy =
                asFloats(call.in[0], (n * p.oh + window) * p.windowRow(), p.windowRow(), wide);
            for (int64_t x = 0; x < p.ow; ++x) {
                const ChannelPool::Range columns = p.columnsOf(x);
                for (int64_t j = columns.begin; j < columns.end; ++j)
                    addPixel(dy + x * p.c, p.c, sums + j * p.c);
            }
        }
        storeAverage(call, p, sums, p.imageRow(), (n * p.h + y) * p.imageRow());
    });
}

} // namespace halfscope
