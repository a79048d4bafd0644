// Pooling on the CPU, plane by plane over all threads. Averages run in f32 whatever the storage.
#include "engine/cpu/support.h"

#include "engine/core/error.h"

#include <cmath>

namespace halfscope {
namespace {

/// One plane of the image (h, w), of the windows (oh, ow), and how many planes there are.
struct PoolPlan {
    int64_t planes, h, w, oh, ow;
    PoolAttrs how;
    int64_t pixels() const { return h * w; }
    int64_t windows() const { return oh * ow; }
    int64_t perThread() const { return alignedFloats(pixels()) + alignedFloats(windows()); }
};

PoolPlan planOf(const Node& node, const Shape& in) {
    const Shape& image = node.op == Op::AvgPool2dGrad ? node.shape : in;
    const Shape& pooled = node.op == Op::AvgPool2dGrad ? in : node.shape;
    return {image[0] * image[1], image[2],  image[3],
            pooled[2],           pooled[3], attrsOf<PoolAttrs>(node.attrs)};
}

struct Window {
    int64_t top, bottom, left, right; ///< rows [top, bottom), columns [left, right) in the image
};
Window windowAt(const PoolPlan& p, int64_t at) {
    const int64_t y = at / p.ow * p.how.stride[0] - p.how.padding[0];
    const int64_t x = at % p.ow * p.how.stride[1] - p.how.padding[1];
    return {std::max<int64_t>(y, 0), std::min(y + p.how.kernel[0], p.h), std::max<int64_t>(x, 0),
            std::min(x + p.how.kernel[1], p.w)};
}

/// Runs plane(n, in, spare) for every plane with its input as f32; `spare` is the thread's area for
/// a plane of the result.
template <class Plane>
void forEachPlane(const CpuCall& call, const PoolPlan& p, int64_t inputs, const Plane& plane) {
    const auto threads = static_cast<size_t>(call.pool.threads());
    require(call.scratch.size() >= sizeof(float) * threads * static_cast<size_t>(p.perThread()),
            "pooling: scratch too small");
    const CpuTensor& x = call.in[0];
    call.pool.run(p.planes, [&](int64_t n, int thread) {
        if (stopped(call)) return;
        float* in = scratchFloats(call) + p.perThread() * thread;
        loadAsFloat(x.dtype, elementAt(x.data, n * inputs, x.dtype), in,
                    static_cast<size_t>(inputs));
        plane(n, in, in + alignedFloats(inputs));
    });
}

float divisor(const PoolPlan& p) { return static_cast<float>(p.how.kernel[0] * p.how.kernel[1]); }

} // namespace

size_t cpuPoolScratchBytes(const Graph& graph, NodeId id, int threads) {
    const PoolPlan p = planOf(graph[id], graph[graph[id].in[0]].shape);
    return static_cast<size_t>(p.perThread() * threads) * sizeof(float);
}

void cpuMaxPoolIndex(const CpuCall& call) {
    const PoolPlan p = planOf(call.node, *call.in[0].shape);
    auto* out = static_cast<int32_t*>(call.out);
    forEachPlane(call, p, p.pixels(), [&](int64_t n, const float* in, float*) {
        for (int64_t at = 0; at < p.windows(); ++at) {
            const Window window = windowAt(p, at);
            int64_t best = window.top * p.w + window.left;
            for (int64_t i = window.top; i < window.bottom; ++i) {
                for (int64_t pixel = i * p.w + window.left; pixel < i * p.w + window.right;
                     ++pixel) {
                    const bool nan = std::isnan(in[pixel]) && !std::isnan(in[best]);
                    if (in[pixel] > in[best] || nan) best = pixel;
                }
            }
            out[n * p.windows() + at] = static_cast<int32_t>(best);
        }
    });
}

void cpuAvgPool(const CpuCall& call) {
    const PoolPlan p = planOf(call.node, *call.in[0].shape);
    forEachPlane(call, p, p.pixels(), [&](int64_t n, const float* in, float* spare) {
        for (int64_t at = 0; at < p.windows(); ++at) {
            const Window window = windowAt(p, at);
            float sum = 0;
            for (int64_t i = window.top; i < window.bottom; ++i) {
                for (int64_t j = window.left; j < window.right; ++j)
                    sum += in[i * p.w + j];
            }
            spare[at] = sum / divisor(p);
        }
        storeFromFloat(call.node.dtype, spare,
                       elementAt(call.out, n * p.windows(), call.node.dtype),
                       static_cast<size_t>(p.windows()));
    });
}

void cpuAvgPoolGrad(const CpuCall& call) {
    const PoolPlan p = planOf(call.node, *call.in[0].shape);
    forEachPlane(call, p, p.windows(), [&](int64_t n, const float* in, float* spare) {
        std::fill_n(spare, p.pixels(), 0.0f);
        for (int64_t at = 0; at < p.windows(); ++at) {
            const Window window = windowAt(p, at);
            for (int64_t i = window.top; i < window.bottom; ++i) {
                for (int64_t j = window.left; j < window.right; ++j)
                    spare[i * p.w + j] += in[at];
            }
        }
        for (int64_t i = 0; i < p.pixels(); ++i)
            spare[i] /= divisor(p);
        storeFromFloat(call.node.dtype, spare, elementAt(call.out, n * p.pixels(), call.node.dtype),
                       static_cast<size_t>(p.pixels()));
    });
}

} // namespace halfscope
