// oneDNN's convolution primitives, and the reorders around them.
#include "engine/cpu/conv_library.h"

#ifdef HALFSCOPE_ONEDNN

#include "engine/core/error.h"
#include "engine/core/vector_set.h"
#include "engine/cpu/channel_blocks.h"
#include "engine/cpu/cpu_kernels.h"

#include <dnnl.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

using Dim = dnnl::memory::dim;
using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;
using Desc = dnnl::memory::desc;

constexpr int64_t kChunkFloats = 1 << 17; ///< of a chunk's largest operand: half a MiB, in L2
constexpr size_t kMostKept = 1024;        ///< kernels, of some ten kilobytes each
/// Fewer or larger samples are cut into tiles instead: here they would leave threads without work
/// and need much scratch.
constexpr int64_t kFewestSamples = 8, kLargestSample = 1 << 20;
/// With fewer channels of the image, im2col finds gradients sooner: the library's kernels keep
/// these channels in vectors, most of which would be empty.
constexpr int64_t kFewestChannels = 4;

const dnnl::engine& cpuEngine() {
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

dnnl::stream& threadStream() {
    thread_local dnnl::stream stream(cpuEngine());
    return stream;
}

int64_t floatsOf(const Desc& desc) {
    return alignedFloats(
        static_cast<int64_t>((desc.get_size() + sizeof(float) - 1) / sizeof(float)));
}

dnnl::memory memoryAt(const Desc& desc, const void* at) {
    return {desc, cpuEngine(), const_cast<void*>(at)}; // oneDNN has no const memory
}

/// Returns how `blocks` are laid out when they are blocks of channels of images whose planes are
/// described by `planes`.
std::optional<ChannelBlocks> blocksOf(const Desc& planes, const Desc& blocks) {
#if DNNL_VERSION_MAJOR >= 3
    const Dims dims = planes.get_dims();
    const auto type = planes.get_data_type();
#else
    const Dims dims = planes.dims();
    const auto type = planes.data_type();
#endif
    if (dims.size() != 4 || planes != Desc(dims, type, Tag::nchw)) return {};
    for (const auto& [block, tag] :
         {std::pair{dims[1], Tag::nhwc}, std::pair{Dim{16}, Tag::nChw16c},
          std::pair{Dim{8}, Tag::nChw8c}}) {
        if (dims[1] % block == 0 && blocks == Desc(dims, type, tag))
            return ChannelBlocks{dims[0], dims[1], dims[2] * dims[3], block,
                                 dnnl::memory::data_type_size(type)};
    }
    return {};
}

/// Moves between planes and the layout of a kernel; does nothing where they are the same. Blocks of
/// channels are moved by loops of our own: the library moves most of them one element at a time,
/// and all with elements of two bytes.
class Layouts {
public:
    Layouts() = default;
    Layouts(const Desc& from, const Desc& to, const dnnl::primitive_attr& attributes)
        : m_from(from), m_to(to), m_differ(from != to) {
        if (!m_differ) return;
        m_blocks = blocksOf(from, to);
        if (!m_blocks) m_planes = blocksOf(to, from);
        if (m_blocks || m_planes) return;
        const dnnl::reorder::primitive_desc plan(cpuEngine(), from, cpuEngine(), to, attributes);
        m_scratch = floatsOf(plan.scratchpad_desc());
        m_reorder = dnnl::reorder(plan);
    }
    bool differ() const { return m_differ; }
    int64_t scratch() const { return m_scratch; }
    void move(const void* from, void* to, float* scratch) const {
        if (m_blocks) return planesToBlocks(*m_blocks, from, to);
        if (m_planes) return blocksToPlanes(*m_planes, from, to);
        std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_FROM, memoryAt(m_from, from)},
                                                        {DNNL_ARG_TO, memoryAt(m_to, to)}};
        if (m_scratch > 0)
            arguments.emplace(
                DNNL_ARG_SCRATCHPAD,
                memoryAt(Desc({m_scratch}, dnnl::memory::data_type::f32, Tag::a), scratch));
        m_reorder->execute(threadStream(), arguments);
    }

private:
    Desc m_from, m_to;
    bool m_differ = false;
    std::optional<ChannelBlocks> m_blocks, m_planes; ///< what is moved to blocks, or to planes
    std::optional<dnnl::reorder> m_reorder;          ///< does everything else
    int64_t m_scratch = 0;
};

/// What a kernel reads and writes, by the names of LibraryConv.
struct Kernel {
    dnnl::primitive primitive;
    int a = 0, b = 0, out = 0; ///< their names as arguments of oneDNN
    Desc wantedA, wantedB, wantedOut, scratch;
    std::string implementation;
};

/// The descriptions of one convolution.
struct Descriptions {
    Desc image, weight, y;
    Dims stride, padding, dilation; ///< oneDNN counts the pixels between two taps
    dnnl::primitive_attr attributes;
};

using Type = dnnl::memory::data_type;

dnnl::primitive_attr attributes() {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attributes;
}

/// A weight of several groups has an axis for them.
Dims weightDims(const ConvPlan& p) {
    Dims dims{p.groupOutputs(), p.groupChannels(), p.kh, p.kw};
    if (p.groups > 1) dims.insert(dims.begin(), p.groups);
    return dims;
}

/// Describes `samples` samples of the plan: the types of image, weight and y are given, and the
/// layout of images; Tag::any leaves it open, as it leaves the weight's.
Descriptions described(const ConvPlan& p, int64_t samples, Type image, Type weight, Type y,
                       Tag images) {
    Descriptions d;
    d.image = Desc({samples, p.c, p.h, p.w}, image, images);
    d.weight = Desc(weightDims(p), weight, Tag::any);
    d.y = Desc({samples, p.o, p.oh, p.ow}, y, images);
    d.stride = {p.stride[0], p.stride[1]};
    d.padding = {p.padding[0], p.padding[1]};
    d.dilation = {p.dilation[0] - 1, p.dilation[1] - 1};
    d.attributes = attributes();
    return d;
}

/// Describes operands of one type with a result of f32.
Descriptions described(Op op, const ConvPlan& p, int64_t samples, Type operands, Tag images) {
    return described(p, samples, op == Op::Conv2dInputGrad ? Type::f32 : operands,
                     op == Op::Conv2dWeightGrad ? Type::f32 : operands,
                     op == Op::Conv2d ? Type::f32 : operands, images);
}

/// Returns the layouts of images that kernels are asked for, the best first. Tag::any is the
/// library's own choice, blocks of channels as wide as a vector. With channels last it needs no
/// room for channels that fill no block, for which its own choice is a kernel of older instructions
/// where both operands are images; and its forward kernels become matrix products, which are better
/// for more channels than a block has. All by measurement on a Zen 5.
std::vector<Tag> imagesFor(Op op, const ConvPlan& p, Type operands) {
    if (!p.ofPlanes()) return {Tag::nhwc, Tag::any};
    const bool wide = usedVectorSet() >= VectorSet::Avx512, f32 = operands == Type::f32;
    const int64_t block = wide ? 16 : 8;
    const bool ragged = p.c % block != 0 || p.o % block != 0;
    const bool channelsLast = op == Op::Conv2dInputGrad ? ragged
                              : op == Op::Conv2dWeightGrad
                                  ? (wide && f32 ? p.kh * p.kw > 1 : ragged && p.c > block / 2)
                              : wide ? p.c > block && (f32 || ragged)
                                     : ragged;
    if (channelsLast && p.groups == 1) return {Tag::nhwc, Tag::any};
    return {Tag::any};
}

using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

Forward::primitive_desc forwardPlan(const Descriptions& d) {
    constexpr auto kKind = dnnl::prop_kind::forward_training;
#if DNNL_VERSION_MAJOR >= 3
    return {cpuEngine(), kKind,      kDirect,   d.image,   d.weight,    d.y,
            d.stride,    d.dilation, d.padding, d.padding, d.attributes};
#else
    return {{kKind, kDirect, d.image, d.weight, d.y, d.stride, d.dilation, d.padding, d.padding},
            d.attributes,
            cpuEngine()};
#endif
}

/// `forward` is the same convolution as a forward one, which the library asks for as a hint.
template <class Backward>
typename Backward::primitive_desc backwardPlan(const Descriptions& d, const Descriptions& forward) {
#if DNNL_VERSION_MAJOR >= 3
    return {cpuEngine(), kDirect,    d.image,   d.weight,  d.y,
            d.stride,    d.dilation, d.padding, d.padding, forwardPlan(forward),
            d.attributes};
#else
    return {{kDirect, d.image, d.weight, d.y, d.stride, d.dilation, d.padding, d.padding},
            d.attributes,
            cpuEngine(),
            forwardPlan(forward)};
#endif
}

Kernel kernelFor(Op op, const Descriptions& d, const Descriptions& forward) {
    if (op == Op::Conv2d) {
        const Forward::primitive_desc plan = forwardPlan(d);
        return {Forward(plan),   DNNL_ARG_SRC,           DNNL_ARG_WEIGHTS,
                DNNL_ARG_DST,    plan.src_desc(),        plan.weights_desc(),
                plan.dst_desc(), plan.scratchpad_desc(), plan.impl_info_str()};
    }
    if (op == Op::Conv2dInputGrad) {
        const auto plan = backwardPlan<BackwardData>(d, forward);
        return {BackwardData(plan),   DNNL_ARG_DIFF_DST,      DNNL_ARG_WEIGHTS,
                DNNL_ARG_DIFF_SRC,    plan.diff_dst_desc(),   plan.weights_desc(),
                plan.diff_src_desc(), plan.scratchpad_desc(), plan.impl_info_str()};
    }
    const auto plan = backwardPlan<BackwardWeights>(d, forward);
    return {BackwardWeights(plan),    DNNL_ARG_SRC,           DNNL_ARG_DIFF_DST,
            DNNL_ARG_DIFF_WEIGHTS,    plan.src_desc(),        plan.diff_dst_desc(),
            plan.diff_weights_desc(), plan.scratchpad_desc(), plan.impl_info_str()};
}

/// The convolution of a number of samples whose operands have one type.
class Piece {
public:
    Piece() = default;
    Piece(Op op, const ConvPlan& p, int64_t samples, Type operands, Tag images) {
        const Descriptions d = described(op, p, samples, operands, images);
        m_kernel = kernelFor(op, d, described(p, samples, operands, operands, operands, images));
        const auto stored = [&](Dims dims, bool result, Tag tag) {
            return Desc(dims, result ? Type::f32 : operands, tag);
        };
        // the planes of one channel are the same either way
        const bool imageLast = p.imageLast || (p.outputLast && p.c == 1);
        const Desc image = stored({samples, p.c, p.h, p.w}, op == Op::Conv2dInputGrad,
                                  imageLast ? Tag::nhwc : Tag::nchw),
                   y = stored({samples, p.o, p.oh, p.ow}, op == Op::Conv2d,
                              p.outputLast ? Tag::nhwc : Tag::nchw),
                   weight = stored(weightDims(p), op == Op::Conv2dWeightGrad,
                                   p.groups == 1 ? Tag::oihw : Tag::goihw);
        m_a = Layouts(op == Op::Conv2dInputGrad ? y : image, m_kernel.wantedA, d.attributes);
        m_b = Layouts(op == Op::Conv2dWeightGrad ? y : weight, m_kernel.wantedB, d.attributes);
        m_out = Layouts(m_kernel.wantedOut,
                        op == Op::Conv2d            ? y
                        : op == Op::Conv2dInputGrad ? image
                                                    : weight,
                        d.attributes);
    }

    const Layouts& b() const { return m_b; }
    const Layouts& out() const { return m_out; }
    int64_t bFloats() const { return floatsOf(m_kernel.wantedB); }
    int64_t outFloats() const { return floatsOf(m_kernel.wantedOut); }
    const Desc& wantedB() const { return m_kernel.wantedB; }
    const Desc& wantedOut() const { return m_kernel.wantedOut; }
    /// Whether the library has something better than a loop in C++ or our own way.
    bool isFast() const {
        const std::string_view name = m_kernel.implementation;
        return name.starts_with("jit") || name.starts_with("brg");
    }
    /// Whether the kernel multiplies pairs of bfloat16 with instructions that may be used. A kernel
    /// composed of others ends in "avx512_core".
    bool multipliesPairs() const {
        const auto uses = [&](const char* instructions) {
            return m_kernel.implementation.find(instructions) != std::string::npos;
        };
        if (uses("amx")) return usedVectorSet() >= VectorSet::Amx;
        return uses("avx512_core_bf16") || uses("avx512_core_fp16") || uses("avx10");
    }
    int64_t threadFloats() const {
        return scratchFloats() + floatsOf(m_kernel.wantedA) + bFloats() + outFloats();
    }

    /// b and out are in the kernel's layout if `asWanted` says so.
    struct AsWanted {
        bool b = false, out = false;
    };
    void run(const void* a, const void* b, float* out, float* thread, AsWanted asWanted) const {
        float* const scratch = thread;
        float* const ownA = scratch + scratchFloats();
        float* const ownB = ownA + floatsOf(m_kernel.wantedA);
        float* const ownOut = ownB + bFloats();
        if (m_a.differ()) m_a.move(a, ownA, scratch);
        const bool movesB = m_b.differ() && !asWanted.b;
        if (movesB) m_b.move(b, ownB, scratch);
        const bool movesOut = m_out.differ() && !asWanted.out;
        m_kernel.primitive.execute(
            threadStream(), {{m_kernel.a, memoryAt(m_kernel.wantedA, m_a.differ() ? ownA : a)},
                             {m_kernel.b, memoryAt(m_kernel.wantedB, movesB ? ownB : b)},
                             {m_kernel.out, memoryAt(m_kernel.wantedOut, movesOut ? ownOut : out)},
                             {DNNL_ARG_SCRATCHPAD, memoryAt(m_kernel.scratch, scratch)}});
        if (movesOut) m_out.move(ownOut, out, scratch);
    }

private:
    int64_t scratchFloats() const {
        return std::max(
            {floatsOf(m_kernel.scratch), m_a.scratch(), m_b.scratch(), m_out.scratch()});
    }
    Kernel m_kernel;
    Layouts m_a, m_b, m_out;
};

/// The chunks of a convolution, the last of which may be smaller, for operands of one type.
struct Pieces {
    Piece whole;
    std::optional<Piece> rest;

    Pieces(Op op, const ConvPlan& p, int64_t chunk, Type operands, Tag images)
        : whole(op, p, chunk, operands, images) {
        if (p.n % chunk != 0) rest.emplace(op, p, p.n % chunk, operands, images);
    }
    /// False when pieces would need different layouts of what they share.
    bool isFast(Op op) const {
        if (!whole.isFast()) return false;
        if (!rest) return true;
        return op == Op::Conv2dWeightGrad ? rest->wantedOut() == whole.wantedOut()
                                          : rest->wantedB() == whole.wantedB();
    }
    bool multiplyPairs() const {
        return whole.multipliesPairs() && (!rest || rest->multipliesPairs());
    }
    int64_t threadFloats() const {
        return std::max(whole.threadFloats(), rest ? rest->threadFloats() : 0);
    }
    /// Returns the floats of the prepared weight.
    int64_t sharedFloats() const { return whole.bFloats() + whole.b().scratch(); }
};

/// Returns the pieces in the first layout for which the library has a kernel of its own that
/// multiplies pairs, for operands of bfloat16; nothing when there is none.
std::optional<Pieces> fastPieces(Op op, const ConvPlan& p, int64_t chunk, Type operands) {
    for (const Tag images : imagesFor(op, p, operands)) {
        try {
            Pieces pieces(op, p, chunk, operands, images);
            if (pieces.isFast(op) && (operands == Type::f32 || pieces.multiplyPairs()))
                return pieces;
        } catch (const dnnl::error&) {
            // it has no such kernel
        }
    }
    return {};
}

int64_t chunkOf(const ConvPlan& p) {
    return std::clamp<int64_t>(
        std::min(kChunkFloats / std::max(p.image(), p.o * p.places()), ceilDiv(p.n, kMaxParts)), 1,
        p.n);
}

class OneDnnConv final : public LibraryConv {
public:
    OneDnnConv(Op op, const ConvPlan& p, Pieces wide)
        : m_op(op), m_plan(p), m_chunk(chunkOf(p)), m_chunks(ceilDiv(p.n, m_chunk)),
          m_wide(std::move(wide)) {
        if (p.type != DType::BF16 || usedVectorSet() < VectorSet::Avx512Bf16) return;
        m_pairs = fastPieces(op, p, m_chunk, Type::bf16);
        if (m_pairs && op == Op::Conv2dWeightGrad)
            m_toSum = Layouts(m_wide.whole.wantedOut(), m_pairs->whole.wantedOut(), attributes());
    }

    bool takesPairs() const override { return m_pairs.has_value(); }

    int64_t threadFloats() const override {
        const int64_t piece =
            std::max(m_wide.threadFloats(), m_pairs ? m_pairs->threadFloats() : 0);
        return m_op == Op::Conv2dWeightGrad ? sumFloats() + movedFloats() + piece : piece;
    }
    int64_t sharedFloats() const override {
        if (m_op != Op::Conv2dWeightGrad)
            return m_wide.sharedFloats() + (m_pairs ? m_pairs->sharedFloats() : 0);
        return tasks() * sumFloats() + alignedFloats(m_plan.o * m_plan.taps()) +
               summing().out().scratch();
    }
    void prepare(DType type, const void* b, float* shared) const override {
        const Piece& piece = of(type).whole;
        float* const to = preparedAt(type, shared);
        if (m_op != Op::Conv2dWeightGrad && piece.b().differ())
            piece.b().move(b, to, to + piece.bFloats());
    }
    int64_t tasks() const override {
        return m_op == Op::Conv2dWeightGrad ? std::min(kMaxParts, m_chunks) : m_chunks;
    }
    int64_t firstSample(int64_t task) const override { return task * m_chunk; }
    int64_t samples(int64_t task) const override {
        return std::min(m_chunk, m_plan.n - task * m_chunk);
    }
    void run(int64_t task, const Operands& in, float* shared, float* thread,
             float* out) const override {
        const bool prepared = of(in.type).whole.b().differ();
        piece(in.type, task)
            .run(in.a, prepared ? preparedAt(in.type, shared) : in.b, out, thread, {.b = prepared});
    }
    void runPart(int64_t task, const SamplesOf& samplesOf, float* shared,
                 float* thread) const override {
        const int64_t size = sumFloats();
        float* const sum = shared + task * size;
        float* const more = thread;
        const int64_t begin = m_chunks * task / tasks(), end = m_chunks * (task + 1) / tasks();
        for (int64_t chunk = begin; chunk < end; ++chunk) {
            addend(chunk, samplesOf(firstSample(chunk), samples(chunk)),
                   chunk == begin ? sum : more, thread + size);
            for (int64_t i = 0; chunk > begin && i < size; ++i)
                sum[i] += more[i];
        }
    }
    int64_t sumFloats() const override { return summing().outFloats(); }
    const float* planes(float* shared) const override {
        const Piece& whole = summing();
        if (!whole.out().differ()) return shared;
        float* const planes = shared + tasks() * sumFloats();
        whole.out().move(shared, planes, planes + alignedFloats(m_plan.o * m_plan.taps()));
        return planes;
    }

private:
    /// Returns the piece in whose layout partial weight gradients are summed.
    const Piece& summing() const { return m_pairs ? m_pairs->whole : m_wide.whole; }
    /// Returns the floats of a partial weight gradient that is brought into that layout.
    int64_t movedFloats() const {
        return m_toSum.differ() ? m_wide.whole.outFloats() + m_toSum.scratch() : 0;
    }
    /// Computes the weight gradient of a chunk.
    void addend(int64_t chunk, const Operands& in, float* out, float* thread) const {
        const bool moves = m_toSum.differ() && in.type == DType::F32;
        piece(in.type, chunk)
            .run(in.a, in.b, moves ? thread : out, thread + movedFloats(), {.out = true});
        if (moves) m_toSum.move(thread, out, thread + m_wide.whole.outFloats());
    }
    const Pieces& of(DType type) const { return type == DType::BF16 ? *m_pairs : m_wide; }
    const Piece& piece(DType type, int64_t chunk) const {
        const Pieces& pieces = of(type);
        return pieces.rest && chunk == m_chunks - 1 ? *pieces.rest : pieces.whole;
    }
    /// Returns where the prepared weight of a type is in what the threads share.
    float* preparedAt(DType type, float* shared) const {
        return type == DType::BF16 ? shared + m_wide.sharedFloats() : shared;
    }

    Op m_op;
    ConvPlan m_plan;
    int64_t m_chunk, m_chunks;
    Pieces m_wide;
    std::optional<Pieces> m_pairs;
    Layouts m_toSum; ///< from the layout of m_wide
};

std::shared_ptr<const LibraryConv> made(Op op, const ConvPlan& p) {
    limitGemmLibrary();
    requireRoomForCode();
    prepareGemmThread(); // kernels are made for the number of threads that is set here
    try {
        std::optional<Pieces> wide = fastPieces(op, p, chunkOf(p), Type::f32);
        return wide ? std::make_shared<OneDnnConv>(op, p, std::move(*wide)) : nullptr;
    } catch (const dnnl::error&) {
        return nullptr; // the library cannot reorder its sums
    }
}

/// Whether a convolution with a 1x1 kernel does better as a matrix product on its planes as they
/// are: with many places for each of many channels, it has no need of the library's layout.
bool isBestAsProduct(Op op, const ConvPlan& p) {
    constexpr int64_t kManyPlaces = 128, kFewChannels = 32;
    const bool pairs = p.type == DType::BF16 && usedVectorSet() >= VectorSet::Avx512Bf16;
    return p.pointwise() && op != Op::Conv2dWeightGrad && !pairs && p.places() >= kManyPlaces &&
           std::min(p.groupChannels(), p.groupOutputs()) > kFewChannels;
}

} // namespace

std::shared_ptr<const LibraryConv> libraryConv(Op op, const ConvPlan& p) {
    if (p.ofPlanes() && isBestAsProduct(op, p)) return nullptr;
    if (p.ofPlanes() && op != Op::Conv2d && p.c < kFewestChannels) return nullptr;
    if (p.n < kFewestSamples || std::max(p.image(), p.o * p.places()) > kLargestSample)
        return nullptr;
    static std::mutex mutex;
    static std::map<std::array<int64_t, 18>, std::shared_ptr<const LibraryConv>> kept;
    const std::array<int64_t, 18> key{static_cast<int64_t>(op),
                                      p.n,
                                      p.c,
                                      p.h,
                                      p.w,
                                      p.o,
                                      p.kh,
                                      p.kw,
                                      p.oh,
                                      p.ow,
                                      p.stride[0] * 65536 + p.stride[1],
                                      p.padding[0],
                                      p.padding[1],
                                      p.dilation[0],
                                      p.dilation[1],
                                      p.groups,
                                      p.type == DType::BF16 ? 1 : 0,
                                      (p.imageLast ? 1 : 0) + (p.outputLast ? 2 : 0)};
    const std::scoped_lock lock(mutex);
    if (const auto found = kept.find(key); found != kept.end()) return found->second;
    if (kept.size() >= kMostKept) kept.clear();
    return kept[key] = made(op, p);
}

} // namespace halfscope

#else

namespace halfscope {

std::shared_ptr<const LibraryConv> libraryConv(Op, const ConvPlan&) { return nullptr; }

} // namespace halfscope

#endif
