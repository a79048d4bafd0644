// Convolution on the CPU: with few taps (tap_conv.h) and for most 1x1 kernels (pointwise_conv.h) by
// kernels of our own, else by the library's where it has some (conv_library.h), else by image
// columns and one matrix product per tile and group, with tiles spread over all threads. Tiles and
// partial sums depend only on the sizes, so any number of threads gives the same bits. 16-bit
// operands are widened; where the library multiplies pairs of bfloat16, only those samples are
// widened that would not come out exactly.
#include "engine/cpu/conv_library.h"
#include "engine/cpu/conv_parts.h"
#include "engine/cpu/conv_plan.h"
#include "engine/cpu/pair_gemm.h"
#include "engine/cpu/pointwise_conv.h"
#include "engine/cpu/small_gemm.h"
#include "engine/cpu/support.h"
#include "engine/cpu/tap_conv.h"

#include "engine/core/error.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <optional>

namespace halfscope {
namespace {

ConvPlan planOf(const Node& node, const Shape& a, const Shape& b, DType operands) {
    const Op op = node.op;
    const auto& how = attrsOf<ConvAttrs>(node.attrs);
    const Shape& out = node.shape;
    const Shape& weight = op == Op::Conv2dWeightGrad ? out : b;
    Shape image = op == Op::Conv2dInputGrad ? out : a;
    Shape y = op == Op::Conv2d ? out : op == Op::Conv2dInputGrad ? a : b;
    if (how.imageLast) image = channelsFirst(image);
    if (how.outputLast) y = channelsFirst(y);
    return {image[0],
            image[1],
            image[2],
            image[3],
            weight[0],
            weight[2],
            weight[3],
            y[2],
            y[3],
            how.stride,
            how.padding,
            operands,
            node.math == MathMode::TF32,
            how.dilation,
            how.groups,
            node.dtype == DType::F32,
            how.imageLast,
            how.outputLast};
}

/// Where the parts of the scratch are, in floats: widened operands, areas of the threads, partial
/// sums.
struct ConvScratch {
    int64_t wideA = 0, wideB = 0, perThread = 0, partials = 0;
    std::shared_ptr<const LibraryConv> library{}; ///< then `partials` is what its threads share
    std::optional<TapConv> taps{};                ///< there is at most one of these two
    size_t floats(int threads) const {
        return static_cast<size_t>(wideA + wideB + perThread * threads + partials);
    }
};

/// Returns the floats of a task's result that is stored in another type.
int64_t libraryResult(Op op, const LibraryConv& library, const ConvPlan& p) {
    if (p.direct || op == Op::Conv2dWeightGrad) return 0;
    const int64_t each = op == Op::Conv2d ? p.o * p.places() : p.image();
    return alignedFloats(library.samples(0) * each);
}

/// Whether the library's kernels for depthwise convolutions do better than ours for few taps: they
/// keep channels in vectors, which narrow rows leave empty and strides have to be filled for.
bool isBestInLibrary(const ConvPlan& p) {
    constexpr int64_t kNarrow = kTapLanes / 2;
    const bool depthwise = p.groups > 1 && p.groupChannels() == 1;
    return depthwise && (p.ow < kNarrow || p.stride[1] > 1);
}

ConvScratch scratchOf(Op op, const ConvPlan& p) {
    ConvScratch s;
    const bool low = p.type != DType::F32 || p.tf32;
    const int64_t image = alignedFloats(p.n * p.image());
    const int64_t weight = alignedFloats(p.o * p.taps());
    const int64_t y = alignedFloats(p.n * p.o * p.places());
    const bool taps = isTapConv(op, p);
    if (!taps || isBestInLibrary(p) || !p.ofPlanes()) s.library = libraryConv(op, p);
    require(s.library != nullptr || p.ofPlanes(),
            "convolution: channels last where the library has no kernel");
    if (taps && !s.library) {
        const ConvPlan group = (op == Op::Conv2dInputGrad ? *p.mirrored() : p).ofGroup();
        s.taps.emplace(group);
        s.perThread = s.taps->imageFloats();
        if (low) s.perThread += alignedFloats(group.image());
        if (op == Op::Conv2dWeightGrad ? low : !p.direct)
            s.perThread += alignedFloats(group.o * group.places());
        if (low && op != Op::Conv2dWeightGrad) s.wideB = weight;
        if (op == Op::Conv2dInputGrad) s.partials = weight;
        if (op == Op::Conv2dWeightGrad) s.partials = p.tapParts() * p.groups * s.taps->sumFloats();
        return s;
    }
    if (s.library) {
        const bool both = op == Op::Conv2dWeightGrad;
        if (low && !both) s.wideB = weight;
        s.perThread = alignedFloats(s.library->threadFloats()) + libraryResult(op, *s.library, p);
        // A few samples are widened at a time, while they are in cache.
        const int64_t samples = low ? s.library->samples(0) : 0;
        if (both || op == Op::Conv2d) s.perThread += alignedFloats(samples * p.image());
        if (both || op == Op::Conv2dInputGrad)
            s.perThread += alignedFloats(samples * p.o * p.places());
        s.partials = s.library->sharedFloats();
        return s;
    }
    const int64_t columns = p.pointwise() ? 0 : alignedFloats(p.rows() * p.tilePlaces());
    if (op == Op::Conv2d) {
        if (low) s.wideA = image, s.wideB = weight;
        s.perThread = columns + (p.direct ? 0 : alignedFloats(p.o * p.tilePlaces()));
    } else if (op == Op::Conv2dInputGrad) {
        if (low) s.wideA = y, s.wideB = weight;
        const int64_t channels = p.tileChannels();
        if (!p.pointwise()) s.perThread = alignedFloats(channels * p.kh * p.kw * p.places());
        if (!p.direct) s.perThread += alignedFloats(channels * p.h * p.w);
    } else {
        if (low) s.wideA = image, s.wideB = y;
        s.perThread = columns;
        s.partials = p.parts() * weight;
    }
    return s;
}

/// The outputs that see the image in one kernel column: for output column q of a row, the image
/// column is q * stride + offset, and [first, last) is the range of q for which it is in the image.
struct Span {
    int64_t first, last;
};
Span insideSpan(int64_t offset, int64_t stride, int64_t image, int64_t outputs) {
    const int64_t first = offset >= 0 ? 0 : ceilDiv(-offset, stride);
    const int64_t last = image - offset <= 0 ? 0 : ceilDiv(image - offset, stride);
    return {std::min(first, outputs), std::clamp(last, std::min(first, outputs), outputs)};
}

/// Walks the column matrix of `channels` channels and places [place, place + count) in runs within
/// one output row. visit(row, column, length, image offset or -1, step) gets a run of the matrix
/// and its pixels in the image; -1 is padding.
template <class Visit>
void forEachRun(const ConvPlan& p, int64_t channels, int64_t place, int64_t count,
                const Visit& visit) {
    for (int64_t row = 0; row < channels * p.kh * p.kw; ++row) {
        const int64_t c = row / (p.kh * p.kw), i = row / p.kw % p.kh, j = row % p.kw;
        const int64_t down = i * p.dilation[0] - p.padding[0];
        const int64_t across = j * p.dilation[1] - p.padding[1];
        const Span inside = insideSpan(across, p.stride[1], p.w, p.ow);
        for (int64_t at = place; at < place + count;) {
            const int64_t oy = at / p.ow, q = at % p.ow;
            const int64_t length = std::min(p.ow - q, place + count - at);
            const int64_t y = oy * p.stride[0] + down, column = at - place;
            const int64_t end = q + length;
            const int64_t first = std::clamp(inside.first, q, end);
            const int64_t last = y < 0 || y >= p.h ? first : std::clamp(inside.last, first, end);
            const int64_t pixel = (c * p.h + y) * p.w + first * p.stride[1] + across;
            if (first > q) visit(row, column, first - q, int64_t{-1});
            if (last > first) visit(row, column + first - q, last - first, pixel);
            if (end > last) visit(row, column + last - q, end - last, int64_t{-1});
            at += length;
        }
    }
}

/// Fills columns (rows, count) from one image's places [place, place + count).
void imageToColumns(const ConvPlan& p, const float* image, int64_t place, int64_t count,
                    float* columns) {
    const int64_t step = p.stride[1];
    forEachRun(p, p.c, place, count, [&](int64_t row, int64_t at, int64_t length, int64_t pixel) {
        float* to = columns + row * count + at;
        if (pixel < 0) {
            std::fill_n(to, length, 0.0f);
        } else if (step == 1) {
            std::memcpy(to, image + pixel, static_cast<size_t>(length) * sizeof(float));
        } else {
            for (int64_t k = 0; k < length; ++k)
                to[k] = image[pixel + k * step];
        }
    });
}

/// Adds columns (channels * kh * kw, places) into the planes of `channels` channels.
void columnsToImage(const ConvPlan& p, const float* columns, int64_t channels, float* image) {
    const int64_t step = p.stride[1];
    std::fill_n(image, channels * p.h * p.w, 0.0f);
    forEachRun(p, channels, 0, p.places(),
               [&](int64_t row, int64_t at, int64_t length, int64_t pixel) {
                   if (pixel < 0) return;
                   const float* from = columns + row * p.places() + at;
                   for (int64_t k = 0; k < length; ++k)
                       image[pixel + k * step] += from[k];
               });
}

/// Fills columns (channels * kh * kw, places) with the gradients of one image's column matrices, of
/// its channels [first, first + channels), from dy (o, places).
void fillGradientColumns(const ConvPlan& p, const float* weight, const float* dy, int64_t first,
                         int64_t channels, float* columns) {
    const int64_t each = p.groupChannels(), outputs = p.groupOutputs(), kernel = p.kh * p.kw;
    for (int64_t c = first; c < first + channels;) {
        const int64_t group = c / each;
        const int64_t count = std::min((group + 1) * each, first + channels) - c;
        gemm({.m = count * kernel,
              .n = p.places(),
              .k = outputs,
              .transposeA = true,
              .lda = p.taps(),
              .ldb = p.places(),
              .ldc = p.places()},
             weight + group * outputs * p.taps() + (c - group * each) * kernel,
             dy + group * outputs * p.places(), columns + (c - first) * kernel * p.places());
        c += count;
    }
}

ConvPlan planOf(const CpuCall& call) {
    return planOf(call.node, *call.in[0].shape, *call.in[1].shape, call.in[0].dtype);
}

/// The scratch of a call, divided.
struct Areas {
    ConvScratch sizes;
    float* base;
    int threads;
    float* wideA() const { return base; }
    float* wideB() const { return base + sizes.wideA; }
    float* thread(int i) const { return wideB() + sizes.wideB + sizes.perThread * i; }
    float* partials() const { return thread(threads); }
};
Areas areasOf(const CpuCall& call, const ConvPlan& p) {
    const ConvScratch sizes = scratchOf(call.node.op, p);
    require(call.scratch.size() >= sizes.floats(call.pool.threads()) * sizeof(float),
            "convolution: scratch too small");
    return {sizes, scratchFloats(call), call.pool.threads()};
}

/// Whether the library's kernels for pairs are exact for operands with these exponents. They
/// multiply some values by zeros that pad a pair, so none may be infinite or NaN.
bool keepsAll(const Exponents& a, const Exponents& b) {
    return staysNormal(a.least, b.least) && std::max(a.greatest, b.greatest) < 255;
}

/// The weight of Conv2d and Conv2dInputGrad for the library: as stored, and widened when a task
/// asks for it.
class LibraryWeight {
public:
    LibraryWeight(const CpuCall& call, const Areas& areas)
        : m_call(call), m_areas(areas), m_library(*areas.sizes.library) {
        if (m_library.takesPairs()) {
            m_exponents = exponentsOf(stored().data, stored().shape->elements());
            m_library.prepare(DType::BF16, stored().data, areas.partials());
        } else {
            m_wide = widened(call, stored(), areas.wideB());
            m_library.prepare(DType::F32, m_wide, areas.partials());
        }
    }
    const CpuTensor& stored() const { return m_call.in[1]; }
    const Exponents& exponents() const { return m_exponents; } ///< known when pairs are taken
    /// Any thread may call it.
    const float* wide() {
        if (!m_library.takesPairs()) return m_wide;
        std::call_once(m_widens, [&] {
            m_wide = widened(m_call, stored(), 0, stored().shape->elements(), m_areas.wideB());
            m_library.prepare(DType::F32, m_wide, m_areas.partials());
        });
        return m_wide;
    }

private:
    const CpuCall& m_call;
    const Areas& m_areas;
    const LibraryConv& m_library;
    Exponents m_exponents{};
    const float* m_wide = nullptr;
    std::once_flag m_widens;
};

/// Runs Conv2d and Conv2dInputGrad.
void runLibrary(const CpuCall& call, const ConvPlan& p, const Areas& areas) {
    const LibraryConv& library = *areas.sizes.library;
    const bool forward = call.node.op == Op::Conv2d;
    const int64_t image = p.image(), y = p.o * p.places();
    const int64_t from = forward ? image : y, to = forward ? y : image;
    LibraryWeight weight(call, areas);
    call.pool.run(library.tasks(), [&](int64_t task, int thread) {
        if (stopped(call)) return;
        const int64_t first = library.firstSample(task), count = library.samples(task);
        float* const area = areas.thread(thread);
        float* const result = area + alignedFloats(library.threadFloats());
        float* const wide = result + libraryResult(call.node.op, library, p);
        float* const out = p.direct ? static_cast<float*>(call.out) + first * to : result;
        const void* const stored = elementAt(call.in[0].data, first * from, call.in[0].dtype);
        LibraryConv::Operands in{DType::BF16, stored, weight.stored().data};
        if (!library.takesPairs() ||
            !keepsAll(exponentsOf(stored, count * from), weight.exponents()))
            in = {DType::F32, widened(call, call.in[0], first * from, count * from, wide),
                  weight.wide()};
        library.run(task, in, areas.partials(), area, out);
        if (!p.direct) storeRows(call, out, 1, count * to, first * to, 0);
    });
}

void runLibraryWeightGrad(const CpuCall& call, const ConvPlan& p, const Areas& areas) {
    const LibraryConv& library = *areas.sizes.library;
    const int64_t image = p.image(), y = p.o * p.places();
    const CpuTensor &a = call.in[0], &b = call.in[1];
    call.pool.run(library.tasks(), [&](int64_t task, int thread) {
        if (stopped(call)) return;
        float* const wideImage = areas.thread(thread) + alignedFloats(library.threadFloats());
        float* const wideY = wideImage + alignedFloats(library.samples(0) * image);
        const auto samplesOf = [&](int64_t first, int64_t count) -> LibraryConv::Operands {
            const void* const storedA = elementAt(a.data, first * image, a.dtype);
            const void* const storedB = elementAt(b.data, first * y, b.dtype);
            if (library.takesPairs() &&
                keepsAll(exponentsOf(storedA, count * image), exponentsOf(storedB, count * y)))
                return {DType::BF16, storedA, storedB};
            return {DType::F32, widened(call, a, first * image, count * image, wideImage),
                    widened(call, b, first * y, count * y, wideY)};
        };
        library.runPart(task, samplesOf, areas.partials(), areas.thread(thread));
    });
    if (stopped(call)) return;
    const int64_t size = library.sumFloats();
    addParts(call, areas.partials(), library.tasks(), size, size, [](int64_t, int64_t) {});
    storeRows(call, library.planes(areas.partials()), 1, p.o * p.taps(), 0, 0);
}

/// The groups of a convolution with few taps, sample by sample; that of an input gradient is
/// ConvPlan::mirrored().
struct TapGroups {
    explicit TapGroups(const ConvPlan& whole)
        : samples(whole.n), groups(whole.groups), image(whole.ofGroup().image()),
          y(whole.groupOutputs() * whole.places()), weight(whole.groupOutputs() * whole.taps()) {}
    int64_t samples, groups;
    int64_t image, y, weight; ///< elements of a group
};

/// An image of a group as the kernels for few taps want it, and room for what a task widens.
class TapArea {
public:
    TapArea(const Areas& areas, const TapGroups& groups, int thread)
        : m_taps(*areas.sizes.taps), m_groups(groups), m_laidOut(areas.thread(thread)),
          m_wideImage(m_laidOut + m_taps.imageFloats()),
          m_wideY(m_wideImage + alignedFloats(groups.image)) {
        m_taps.clear(m_laidOut);
    }
    const float* laidOut(const CpuCall& call, int64_t unit) const {
        m_taps.layOut(widened(call, call.in[0], unit * m_groups.image, m_groups.image, m_wideImage),
                      m_laidOut);
        return m_laidOut;
    }
    float* wideY() const { return m_wideY; }

private:
    const TapConv& m_taps;
    const TapGroups& m_groups;
    float *m_laidOut, *m_wideImage, *m_wideY;
};

/// Writes weight (o, c / groups, kh, kw) as (c, o / groups, kh, kw) with its taps in reverse.
void mirror(const ConvPlan& p, const float* weight, float* to) {
    const int64_t each = p.groupChannels(), outputs = p.groupOutputs(), kernel = p.kh * p.kw;
    for (int64_t c = 0; c < p.c; ++c)
        for (int64_t o = 0; o < outputs; ++o, to += kernel) {
            const float* const from =
                weight + ((c / each * outputs + o) * each + c % each) * kernel;
            std::reverse_copy(from, from + kernel, to);
        }
}

/// Runs Conv2d, and Conv2dInputGrad as one.
void runTaps(const CpuCall& call, const ConvPlan& p, const Areas& areas) {
    const bool forward = call.node.op == Op::Conv2d;
    const TapGroups all(forward ? p : *p.mirrored());
    const float* weight = widened(call, call.in[1], areas.wideB());
    if (!forward) {
        mirror(p, weight, areas.partials());
        weight = areas.partials();
    }
    call.pool.run(all.samples, [&](int64_t sample, int thread) {
        const TapArea area(areas, all, thread);
        for (int64_t group = 0; group < all.groups; ++group) {
            if (stopped(call)) return;
            const int64_t unit = sample * all.groups + group;
            float* const out =
                p.direct ? static_cast<float*>(call.out) + unit * all.y : area.wideY();
            areas.sizes.taps->forward(area.laidOut(call, unit), weight + group * all.weight, out);
            if (!p.direct) storeRows(call, out, 1, all.y, unit * all.y, 0);
        }
    });
}

void runTapsWeightGrad(const CpuCall& call, const ConvPlan& p, const Areas& areas) {
    const TapConv& taps = *areas.sizes.taps;
    const TapGroups all(p);
    const int64_t parts = p.tapParts(), size = all.groups * taps.sumFloats();
    call.pool.run(parts, [&](int64_t part, int thread) {
        float* const sums = areas.partials() + part * size;
        std::fill_n(sums, size, 0.0F);
        const TapArea area(areas, all, thread);
        const int64_t begin = all.samples * part / parts, end = all.samples * (part + 1) / parts;
        for (int64_t unit = begin * all.groups; unit < end * all.groups; ++unit) {
            if (stopped(call)) return;
            const float* const laidOut = area.laidOut(call, unit);
            taps.addWeightGrad(laidOut,
                               widened(call, call.in[1], unit * all.y, all.y, area.wideY()),
                               sums + unit % all.groups * taps.sumFloats());
        }
    });
    if (stopped(call)) return;
    float* const sums = areas.partials();
    addParts(call, sums, parts, size, size, [&](int64_t first, int64_t count) {
        static_assert(kPartBlock % kTapLanes == 0);
        std::array<float, kPartBlock / kTapLanes> whole;
        for (int64_t i = 0; i < count / kTapLanes; ++i)
            whole[static_cast<size_t>(i)] = TapConv::joined(sums + first + i * kTapLanes);
        storeRows(call, whole.data(), 1, count / kTapLanes, first / kTapLanes, 0);
    });
}

} // namespace

void cpuConv2d(const CpuCall& call) {
    const ConvPlan p = planOf(call);
    if (PointwiseConv::takes(call.node.op, p)) return PointwiseConv(call.node.op, p).run(call);
    const Areas areas = areasOf(call, p);
    if (areas.sizes.taps) return runTaps(call, p, areas);
    if (areas.sizes.library) return runLibrary(call, p, areas);
    const float* image = widened(call, call.in[0], areas.wideA());
    const float* weight = widened(call, call.in[1], areas.wideB());
    const int64_t tiles = p.tiles(), width = p.tilePlaces();
    call.pool.run(p.n * tiles, [&](int64_t task, int thread) {
        if (stopped(call)) return;
        const int64_t n = task / tiles, place = task % tiles * width;
        const int64_t count = std::min(width, p.places() - place);
        float* area = areas.thread(thread);
        const float* columns = area;
        if (p.pointwise()) {
            columns = image + n * p.image() + place;
        } else {
            imageToColumns(p, image + n * p.image(), place, count, area);
            area += alignedFloats(p.rows() * width);
        }
        const int64_t first = n * p.o * p.places() + place, outputs = p.groupOutputs();
        float* out = p.direct ? static_cast<float*>(call.out) + first : area;
        const GemmShape product{.m = outputs,
                                .n = count,
                                .k = p.taps(),
                                .lda = p.taps(),
                                .ldb = p.pointwise() ? p.places() : count,
                                .ldc = p.direct ? p.places() : count};
        for (int64_t group = 0; group < p.groups; ++group)
            gemm(product, weight + group * outputs * p.taps(),
                 columns + group * p.taps() * product.ldb, out + group * outputs * product.ldc);
        if (!p.direct) storeRows(call, out, p.o, count, first, p.places());
    });
}

void cpuConv2dInputGrad(const CpuCall& call) {
    const ConvPlan p = planOf(call);
    if (PointwiseConv::takes(call.node.op, p)) return PointwiseConv(call.node.op, p).run(call);
    const Areas areas = areasOf(call, p);
    if (areas.sizes.taps) return runTaps(call, p, areas);
    if (areas.sizes.library) return runLibrary(call, p, areas);
    const float* dy = widened(call, call.in[0], areas.wideA());
    const float* weight = widened(call, call.in[1], areas.wideB());
    const int64_t each = p.tileChannels(), tiles = ceilDiv(p.c, each), plane = p.h * p.w;
    call.pool.run(p.n * tiles, [&](int64_t task, int thread) {
        if (stopped(call)) return;
        const int64_t n = task / tiles, c = task % tiles * each;
        const int64_t channels = std::min(each, p.c - c);
        const int64_t first = (n * p.c + c) * plane;
        float* area = areas.thread(thread);
        float* columns = area;
        if (!p.pointwise()) area += alignedFloats(each * p.kh * p.kw * p.places());
        float* out = p.direct ? static_cast<float*>(call.out) + first : area;
        if (p.pointwise()) columns = out;
        fillGradientColumns(p, weight, dy + n * p.o * p.places(), c, channels, columns);
        if (!p.pointwise()) columnsToImage(p, columns, channels, out);
        if (!p.direct) storeRows(call, out, 1, channels * plane, first, 0);
    });
}

void cpuConv2dWeightGrad(const CpuCall& call) {
    const ConvPlan p = planOf(call);
    if (PointwiseConv::takes(call.node.op, p)) return PointwiseConv(call.node.op, p).run(call);
    const Areas areas = areasOf(call, p);
    if (areas.sizes.taps) return runTapsWeightGrad(call, p, areas);
    if (areas.sizes.library) return runLibraryWeightGrad(call, p, areas);
    const float* image = widened(call, call.in[0], areas.wideA());
    const float* dy = widened(call, call.in[1], areas.wideB());
    const int64_t tiles = p.tiles(), width = p.tilePlaces(), units = p.n * tiles;
    const int64_t parts = p.parts(), elements = p.o * p.taps(), size = alignedFloats(elements);
    const int64_t outputs = p.groupOutputs();
    // decided by the whole product, as for a matrix product
    const auto product = isSmallGemm({p.o, p.taps(), p.n * p.places()}) ? gemm : libraryGemm;
    call.pool.run(parts, [&](int64_t part, int thread) {
        const int64_t begin = units * part / parts, end = units * (part + 1) / parts;
        for (int64_t unit = begin; unit < end && !stopped(call); ++unit) {
            const int64_t n = unit / tiles, place = unit % tiles * width;
            const int64_t count = std::min(width, p.places() - place);
            const float* columns = areas.thread(thread);
            if (p.pointwise())
                columns = image + n * p.image() + place;
            else
                imageToColumns(p, image + n * p.image(), place, count, areas.thread(thread));
            const GemmShape shape{.m = outputs,
                                  .n = p.taps(),
                                  .k = count,
                                  .transposeB = true,
                                  .lda = p.places(),
                                  .ldb = p.pointwise() ? p.places() : count,
                                  .ldc = p.taps(),
                                  .accumulate = unit > begin};
            for (int64_t group = 0; group < p.groups; ++group)
                product(shape, dy + (n * p.o + group * outputs) * p.places() + place,
                        columns + group * p.taps() * shape.ldb,
                        areas.partials() + part * size + group * outputs * p.taps());
        }
    });
    float* const sums = areas.partials();
    addParts(call, sums, parts, size, elements, [&](int64_t first, int64_t count) {
        storeRows(call, sums + first, 1, count, first, 0);
    });
}

bool cpuTakesChannelsLast(const Graph& graph, NodeId id) {
    const Node &node = graph[id], &a = graph[node.in[0]], &b = graph[node.in[1]];
    ConvPlan p = planOf(node, a.shape, b.shape, a.dtype);
    // Loops go through rows of all channels: few of them leave vectors empty.
    constexpr int64_t kFewestChannels = 16;
    if (p.groups > 1 || a.dtype == DType::F64 || PointwiseConv::takes(node.op, p)) return false;
    if (p.o < kFewestChannels || (p.c < kFewestChannels && p.c > 1)) return false;
    p.imageLast = p.outputLast = true;
    return libraryConv(node.op, p) != nullptr;
}

size_t cpuConvScratchBytes(const Graph& graph, NodeId id, int threads) {
    const Node &node = graph[id], &a = graph[node.in[0]], &b = graph[node.in[1]];
    const ConvPlan p = planOf(node, a.shape, b.shape, a.dtype);
    if (PointwiseConv::takes(node.op, p))
        return static_cast<size_t>(PointwiseConv(node.op, p).floats(threads)) * sizeof(float);
    return scratchOf(node.op, p).floats(threads) * sizeof(float);
}

} // namespace halfscope
