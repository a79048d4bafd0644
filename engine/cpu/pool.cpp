// Pooling on the CPU, plane by plane over all threads. Averages run in f32 whatever the storage.
// Images with channels last have kernels of their own (channel_pool.h).
#include "engine/cpu/channel_pool.h"
#include "engine/cpu/support.h"

#include "engine/core/error.h"
#include "engine/core/vector_clones.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace halfscope {
namespace {

/// The planes of the image (h, w) and of the windows (oh, ow), and how many there are.
struct PoolPlan {
    int64_t planes, h, w, oh, ow;
    PoolAttrs how;
    int64_t pixels() const { return h * w; }
    int64_t windows() const { return oh * ow; }
    /// Returns the floats of a thread: the widened input; a plane of the result, or of keys; and
    /// for each row of windows the largest keys with their indices.
    int64_t perThread() const {
        const int64_t input = alignedFloats(std::max(pixels(), windows()));
        return 2 * input + 2 * alignedFloats(oh * w);
    }
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
/// what is made of it.
template <class Plane>
void forEachPlane(const CpuCall& call, const PoolPlan& p, int64_t inputs, const Plane& plane) {
    const auto threads = static_cast<size_t>(call.pool.threads());
    require(call.scratch.size() >= sizeof(float) * threads * static_cast<size_t>(p.perThread()),
            "pooling: scratch too small");
    constexpr int64_t kTaskElements = 1 << 13;
    const int64_t each = std::max<int64_t>(1, kTaskElements / std::max<int64_t>(inputs, 1));
    const CpuTensor& x = call.in[0];
    call.pool.run(ceilDiv(p.planes, each), [&](int64_t task, int thread) {
        float* const own = scratchFloats(call) + p.perThread() * thread;
        for (int64_t n = task * each; n < std::min(p.planes, (task + 1) * each); ++n) {
            if (stopped(call)) return;
            const std::byte* const stored = elementAt(x.data, n * inputs, x.dtype);
            const float* in = reinterpret_cast<const float*>(stored);
            if (x.dtype != DType::F32) {
                loadAsFloat(x.dtype, stored, own, static_cast<size_t>(inputs));
                in = own;
            }
            plane(n, in, own + alignedFloats(inputs));
        }
    });
}

float divisor(const PoolPlan& p) { return static_cast<float>(p.how.kernel[0] * p.how.kernel[1]); }

} // namespace

size_t cpuPoolScratchBytes(const Graph& graph, NodeId id, int threads) {
    const Node& node = graph[id];
    const Node& operand = graph[node.in[0]];
    const Shape& in = operand.shape;
    const int64_t each = hasChannelsLast(node.attrs) ? channelPoolFloats(node, in, operand.dtype)
                                                     : planOf(node, in).perThread();
    return static_cast<size_t>(each * threads) * sizeof(float);
}

namespace {

/// Turns pixels into integers of the same order: 0 and -0 are equal, and NaN is the largest.
HALFSCOPE_VECTOR void keysOf(const float* pixels, int64_t n, int32_t* keys) {
    constexpr auto kLargest = std::numeric_limits<int32_t>::max();
    for (int64_t i = 0; i < n; ++i) {
        const float pixel = pixels[i] + 0.0F; // 0 for -0
        const auto bits = std::bit_cast<int32_t>(pixel);
        const int32_t key = bits ^ (bits >> 31 & kLargest); // the more negative, the smaller
        keys[i] = pixel != pixel ? kLargest : key;
    }
}

/// Finds, for each row of windows (oh) and each column of the image (w), the largest key of the
/// pixels in both, and its index; of equal keys the first.
HALFSCOPE_VECTOR void largestDown(const PoolPlan& p, const int32_t* keys, int32_t* best,
                                  int32_t* index) {
    const auto n = static_cast<int32_t>(p.w);
    for (int64_t y = 0; y < p.oh; ++y, best += n, index += n) {
        const int64_t top = y * p.how.stride[0] - p.how.padding[0];
        const int64_t begin = std::max<int64_t>(top, 0), end = std::min(top + p.how.kernel[0], p.h);
        const auto first = static_cast<int32_t>(begin * n);
        const int32_t second = end - begin > 1 ? first + n : first;
        HALFSCOPE_INDEPENDENT for (int32_t i = 0; i < n; ++i) {
            const int32_t key = keys[second + i], old = keys[first + i];
            best[i] = std::max(key, old);
            index[i] = i + (key > old ? second : first);
        }
        for (auto at = second + n; at < end * n; at += n) {
            HALFSCOPE_INDEPENDENT for (int32_t i = 0; i < n; ++i) {
                const int32_t key = keys[at + i], old = best[i];
                best[i] = std::max(key, old);
                index[i] = key > old ? at + i : index[i];
            }
        }
    }
}

/// Joins one more key to each of n runs, see largestOfRuns(). `Step` is the distance of
/// neighbouring windows in columns when it is known at compile time, else 0.
template <int64_t Step>
[[gnu::always_inline]] inline void joinColumns(const int32_t* keys, const int32_t* at, int64_t step,
                                               int64_t n, int32_t* best, int32_t* index) {
    if (Step != 0) step = Step;
    HALFSCOPE_INDEPENDENT for (int64_t i = 0; i < n; ++i) {
        const int32_t key = keys[i * step], old = best[i], place = at[i * step];
        const int takes = static_cast<int>(key > old) |
                          (static_cast<int>(key == old) & static_cast<int>(place < index[i]));
        best[i] = std::max(key, old);
        index[i] = takes != 0 ? place : index[i];
    }
}

/// Writes to `index`, for each of n runs of `kernel` keys that begin `step` apart, the index that
/// `at` has for its largest key; the smallest index among equal keys. `best` is room for n keys.
HALFSCOPE_VECTOR void largestOfRuns(const int32_t* keys, const int32_t* at, int64_t step,
                                    int64_t kernel, int64_t n, int32_t* best, int32_t* index) {
    for (int64_t i = 0; i < n; ++i) {
        best[i] = keys[i * step];
        index[i] = at[i * step];
    }
    for (int64_t column = 1; column < kernel; ++column) {
        if (step == 2)
            joinColumns<2>(keys + column, at + column, step, n, best, index);
        else
            joinColumns<0>(keys + column, at + column, step, n, best, index);
    }
}

/// Writes the index of each window's largest pixel, from the largest of each column of a row of
/// windows.
void largestAcross(const PoolPlan& p, const int32_t* keys, const int32_t* at, int32_t* best,
                   int32_t* index) {
    const int64_t step = p.how.stride[1], padding = p.how.padding[1], kernel = p.how.kernel[1];
    // Windows [first, last) of a row extend beyond neither of its ends.
    const int64_t first = std::min(ceilDiv(padding, step), p.ow), room = p.w + padding - kernel;
    const int64_t last = room < 0 ? first : std::clamp(room / step + 1, first, p.ow);
    if (last - first == p.ow && p.ow * step == p.w) // spaced as evenly from row to row
        return largestOfRuns(keys, at, step, kernel, p.windows(), best, index);
    for (int64_t row = 0; row < p.oh; ++row, keys += p.w, at += p.w, index += p.ow) {
        const auto one = [&](int64_t window) {
            const int64_t left = window * step - padding;
            const int64_t begin = std::max<int64_t>(left, 0), end = std::min(left + kernel, p.w);
            largestOfRuns(keys + begin, at + begin, 1, end - begin, 1, best, index + window);
        };
        for (int64_t window = 0; window < first; ++window)
            one(window);
        const int64_t left = first * step - padding;
        if (last > first)
            largestOfRuns(keys + left, at + left, step, kernel, last - first, best, index + first);
        for (int64_t window = last; window < p.ow; ++window)
            one(window);
    }
}

/// Whether windows of 2 x 2 are side by side; a last odd row or column is in none.
bool isHalving(const PoolPlan& p) {
    constexpr std::array<int64_t, 2> kTwo{2, 2}, kNone{};
    return p.how.kernel == kTwo && p.how.stride == kTwo && p.how.padding == kNone;
}

constexpr int64_t kLanes = 8; ///< windows at once
using Pixels = float __attribute__((vector_size(kLanes * sizeof(float))));
using Places = int32_t __attribute__((vector_size(kLanes * sizeof(int32_t)))); ///< places or masks

/// Splits 2 * kLanes neighbouring pixels into those at even and those at odd places.
[[gnu::always_inline]] inline void split(const float* pixels, Pixels& even, Pixels& odd) {
    Pixels low, high;
    std::memcpy(&low, pixels, sizeof low);
    std::memcpy(&high, pixels + kLanes, sizeof high);
    even = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
    odd = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
}

/// Puts `later` into `best` where it is larger, or the first NaN; `taken` tells where.
[[gnu::always_inline]] inline void join(const Pixels& later, Pixels& best, Places& taken) {
    taken = ~(later <= best) & (best == best);
    best = taken ? later : best;
}

/// For isHalving(): writes the index of each window's largest pixel; among equal pixels left comes
/// before right and upper before lower. Reads and writes whole vectors, whose last lanes mean
/// nothing: up to 2 * (kLanes - 1) pixels behind the plane are read, and kLanes - 1 more indices
/// are written.
HALFSCOPE_VECTOR void largestOfFour(const PoolPlan& p, const float* in, int32_t* index) {
    constexpr Places kEven{0, 2, 4, 6, 8, 10, 12, 14};
    const auto width = static_cast<int32_t>(p.w);
    for (int64_t y = 0; y < p.oh; ++y, index += p.ow) {
        for (int64_t x = 0; x < p.ow; x += kLanes) {
            const int64_t first = 2 * (y * p.w + x);
            Pixels upper, lower, right;
            Places upperRight, lowerRight, down;
            split(in + first, upper, right);
            join(right, upper, upperRight);
            split(in + first + p.w, lower, right);
            join(right, lower, lowerRight);
            join(lower, upper, down);
            // a mask is -1 where it holds
            const Places place = kEven + static_cast<int32_t>(first) + (down & width) -
                                 (down ? lowerRight : upperRight);
            std::memcpy(index + x, &place, sizeof place);
        }
    }
}

/// Whether largestOfFour() can read a plane of the image in place: the pixels that it reads behind
/// the plane then belong to the image, too.
bool hasPixelsAfter(const PoolPlan& p, int64_t plane) {
    return (p.planes - 1 - plane) * p.pixels() >= 2 * kLanes;
}

void halvingIndex(const CpuCall& call, const PoolPlan& p) {
    auto* const out = static_cast<int32_t*>(call.out);
    const bool inPlace = call.in[0].dtype == DType::F32;
    forEachPlane(call, p, p.pixels(), [&](int64_t n, const float* in, float* spare) {
        auto* const index = reinterpret_cast<int32_t*>(spare);
        if (inPlace && !hasPixelsAfter(p, n)) {
            float* const own = spare - alignedFloats(p.pixels());
            std::copy_n(in, p.pixels(), own);
            in = own;
        }
        largestOfFour(p, in, index);
        std::copy_n(index, p.windows(), out + n * p.windows());
    });
}

} // namespace

void cpuMaxPoolIndex(const CpuCall& call) {
    if (hasChannelsLast(call.node.attrs)) return channelPoolIndex(call);
    const PoolPlan p = planOf(call.node, *call.in[0].shape);
    if (isHalving(p)) return halvingIndex(call, p);
    auto* out = static_cast<int32_t*>(call.out);
    forEachPlane(call, p, p.pixels(), [&](int64_t n, const float* in, float* spare) {
        auto* const keys = reinterpret_cast<int32_t*>(spare);
        int32_t* const best = keys + alignedFloats(std::max(p.pixels(), p.windows()));
        int32_t* const index = best + alignedFloats(p.oh * p.w);
        keysOf(in, p.pixels(), keys);
        largestDown(p, keys, best, index);
        largestAcross(p, best, index, keys, out + n * p.windows());
    });
}

void cpuAvgPool(const CpuCall& call) {
    if (hasChannelsLast(call.node.attrs)) return channelAvgPool(call);
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
    if (hasChannelsLast(call.node.attrs)) return channelAvgPoolGrad(call);
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
