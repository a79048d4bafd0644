// oneDNN's convolution primitives, and the reorders around them.
#include "engine/cpu/conv_library.h"

#ifdef HALFSCOPE_ONEDNN

#include "engine/core/error.h"
#include "engine/cpu/cpu_kernels.h"

#include <dnnl.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace halfscope {

namespace {

using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;
using Desc = dnnl::memory::desc;

constexpr int64_t kChunkFloats = 1 << 17; ///< of a chunk's largest operand: half a MiB, in L2
constexpr size_t kMostKept = 1024;        ///< kernels of some ten kilobytes each
/// Fewer samples, or larger ones, are cut into tiles instead: they would leave threads without work
/// and need much scratch.
constexpr int64_t kFewestSamples = 8, kLargestSample = 1 << 20;

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

dnnl::memory memoryAt(const Desc& desc, const float* at) {
    return {desc, cpuEngine(), const_cast<float*>(at)}; // oneDNN knows no const memory
}

/// Between planes and the layout of a kernel; nothing where they are the same.
class Layouts {
public:
    Layouts() = default;
    Layouts(const Desc& from, const Desc& to, const dnnl::primitive_attr& attributes)
        : m_from(from), m_to(to) {
        if (from == to) return;
        const dnnl::reorder::primitive_desc plan(cpuEngine(), from, cpuEngine(), to, attributes);
        m_scratch = floatsOf(plan.scratchpad_desc());
        m_reorder = dnnl::reorder(plan);
    }
    bool differ() const { return m_reorder.has_value(); }
    int64_t scratch() const { return m_scratch; }
    void move(const float* from, float* to, float* scratch) const {
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
    std::optional<dnnl::reorder> m_reorder;
    int64_t m_scratch = 0;
};

/// What a kernel reads and writes, by the names of LibraryConv.
struct Kernel {
    dnnl::primitive primitive;
    int a = 0, b = 0, out = 0; ///< names of arguments
    Desc wantedA, wantedB, wantedOut, scratch;
    std::string implementation;
};

/// The descriptions of one convolution, layouts left open.
struct Descriptions {
    Desc image, weight, y;
    Dims stride, padding;
    dnnl::primitive_attr attributes;
};

using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

Forward::primitive_desc forwardPlan(const Descriptions& d) {
    constexpr auto kKind = dnnl::prop_kind::forward_training;
#if DNNL_VERSION_MAJOR >= 3
    return {cpuEngine(), kKind,    kDirect,   d.image,   d.weight,
            d.y,         d.stride, d.padding, d.padding, d.attributes};
#else
    return {{kKind, kDirect, d.image, d.weight, d.y, d.stride, d.padding, d.padding},
            d.attributes,
            cpuEngine()};
#endif
}

template <class Backward>
typename Backward::primitive_desc backwardPlan(const Descriptions& d) {
#if DNNL_VERSION_MAJOR >= 3
    return {cpuEngine(), kDirect,   d.image,   d.weight,       d.y,
            d.stride,    d.padding, d.padding, forwardPlan(d), d.attributes};
#else
    return {{kDirect, d.image, d.weight, d.y, d.stride, d.padding, d.padding},
            d.attributes,
            cpuEngine(),
            forwardPlan(d)};
#endif
}

Kernel kernelFor(Op op, const Descriptions& d) {
    if (op == Op::Conv2d) {
        const Forward::primitive_desc plan = forwardPlan(d);
        return {Forward(plan),   DNNL_ARG_SRC,           DNNL_ARG_WEIGHTS,
                DNNL_ARG_DST,    plan.src_desc(),        plan.weights_desc(),
                plan.dst_desc(), plan.scratchpad_desc(), plan.impl_info_str()};
    }
    if (op == Op::Conv2dInputGrad) {
        const auto plan = backwardPlan<BackwardData>(d);
        return {BackwardData(plan),   DNNL_ARG_DIFF_DST,      DNNL_ARG_WEIGHTS,
                DNNL_ARG_DIFF_SRC,    plan.diff_dst_desc(),   plan.weights_desc(),
                plan.diff_src_desc(), plan.scratchpad_desc(), plan.impl_info_str()};
    }
    const auto plan = backwardPlan<BackwardWeights>(d);
    return {BackwardWeights(plan),    DNNL_ARG_SRC,           DNNL_ARG_DIFF_DST,
            DNNL_ARG_DIFF_WEIGHTS,    plan.src_desc(),        plan.diff_dst_desc(),
            plan.diff_weights_desc(), plan.scratchpad_desc(), plan.impl_info_str()};
}

/// The convolution of so many samples.
class Piece {
public:
    Piece() = default;
    Piece(Op op, const ConvPlan& p, int64_t samples) {
        constexpr auto kFloat = dnnl::memory::data_type::f32;
        const Dims image{samples, p.c, p.h, p.w}, weight{p.o, p.c, p.kh, p.kw},
            y{samples, p.o, p.oh, p.ow};
        Descriptions d;
        d.image = Desc(image, kFloat, Tag::any);
        d.weight = Desc(weight, kFloat, Tag::any);
        d.y = Desc(y, kFloat, Tag::any);
        d.stride = {p.stride[0], p.stride[1]};
        d.padding = {p.padding[0], p.padding[1]};
        d.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
        m_kernel = kernelFor(op, d);
        const Desc planesOfImage(image, kFloat, Tag::nchw), planesOfY(y, kFloat, Tag::nchw),
            planesOfWeight(weight, kFloat, Tag::oihw);
        const Desc& a = op == Op::Conv2dInputGrad ? planesOfY : planesOfImage;
        const Desc& b = op == Op::Conv2dWeightGrad ? planesOfY : planesOfWeight;
        const Desc& out = op == Op::Conv2d            ? planesOfY
                          : op == Op::Conv2dInputGrad ? planesOfImage
                                                      : planesOfWeight;
        m_a = Layouts(a, m_kernel.wantedA, d.attributes);
        m_b = Layouts(b, m_kernel.wantedB, d.attributes);
        m_out = Layouts(m_kernel.wantedOut, out, d.attributes);
    }

    const Layouts& b() const { return m_b; }
    const Layouts& out() const { return m_out; }
    int64_t bFloats() const { return floatsOf(m_kernel.wantedB); }
    int64_t outFloats() const { return floatsOf(m_kernel.wantedOut); }
    const Desc& wantedB() const { return m_kernel.wantedB; }
    const Desc& wantedOut() const { return m_kernel.wantedOut; }
    /// Whether the library has more for it than a loop in C++ or what we do ourselves.
    bool isFast() const {
        const std::string_view name = m_kernel.implementation;
        return name.starts_with("jit") || name.starts_with("brg");
    }
    int64_t threadFloats() const {
        return scratchFloats() + floatsOf(m_kernel.wantedA) + bFloats() + outFloats();
    }

    /// b and out lie as the kernel wants them where `asWanted` says so.
    struct AsWanted {
        bool b = false, out = false;
    };
    void run(const float* a, const float* b, float* out, float* thread, AsWanted asWanted) const {
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

class OneDnnConv final : public LibraryConv {
public:
    OneDnnConv(Op op, const ConvPlan& p)
        : m_op(op), m_plan(p),
          m_chunk(std::clamp<int64_t>(std::min(kChunkFloats / std::max(p.image(), p.o * p.places()),
                                               ceilDiv(p.n, kMaxParts)),
                                      1, p.n)),
          m_chunks(ceilDiv(p.n, m_chunk)), m_whole(op, p, m_chunk) {
        if (p.n % m_chunk != 0) m_rest.emplace(op, p, p.n % m_chunk);
    }

    /// False where pieces would want different layouts of what they share.
    bool isFast() const {
        if (!m_whole.isFast()) return false;
        if (!m_rest) return true;
        return m_op == Op::Conv2dWeightGrad ? m_rest->wantedOut() == m_whole.wantedOut()
                                            : m_rest->wantedB() == m_whole.wantedB();
    }

    int64_t threadFloats() const override {
        return std::max(m_whole.threadFloats(), m_rest ? m_rest->threadFloats() : 0) +
               (m_op == Op::Conv2dWeightGrad ? m_whole.outFloats() : 0);
    }
    int64_t sharedFloats() const override {
        if (m_op != Op::Conv2dWeightGrad) return m_whole.bFloats() + m_whole.b().scratch();
        return tasks() * m_whole.outFloats() + alignedFloats(m_plan.o * m_plan.taps()) +
               m_whole.out().scratch();
    }
    void prepare(const float* b, float* shared) const override {
        if (m_op != Op::Conv2dWeightGrad && m_whole.b().differ())
            m_whole.b().move(b, shared, shared + m_whole.bFloats());
    }
    int64_t tasks() const override {
        return m_op == Op::Conv2dWeightGrad ? std::min(kMaxParts, m_chunks) : m_chunks;
    }
    int64_t firstSample(int64_t task) const override { return task * m_chunk; }
    int64_t samples(int64_t task) const override {
        return std::min(m_chunk, m_plan.n - task * m_chunk);
    }
    void run(int64_t task, const float* a, const float* b, float* shared, float* thread,
             float* out) const override {
        const bool prepared = m_whole.b().differ();
        piece(task).run(a, prepared ? shared : b, out, thread, {.b = prepared});
    }
    void runPart(int64_t task, const SamplesOf& samplesOf, float* shared,
                 float* thread) const override {
        const int64_t size = m_whole.outFloats();
        float* const sum = shared + task * size;
        float* const more = thread;
        const int64_t begin = m_chunks * task / tasks(), end = m_chunks * (task + 1) / tasks();
        for (int64_t chunk = begin; chunk < end; ++chunk) {
            const auto [a, b] = samplesOf(firstSample(chunk), samples(chunk));
            piece(chunk).run(a, b, chunk == begin ? sum : more, thread + size, {.out = true});
            for (int64_t i = 0; chunk > begin && i < size; ++i)
                sum[i] += more[i];
        }
    }
    const float* sum(float* shared) const override {
        const int64_t size = m_whole.outFloats();
        for (int64_t part = 1; part < tasks(); ++part)
            for (int64_t i = 0; i < size; ++i)
                shared[i] += shared[part * size + i];
        if (!m_whole.out().differ()) return shared;
        float* const planes = shared + tasks() * size;
        m_whole.out().move(shared, planes, planes + alignedFloats(m_plan.o * m_plan.taps()));
        return planes;
    }

private:
    const Piece& piece(int64_t chunk) const {
        return m_rest && chunk == m_chunks - 1 ? *m_rest : m_whole;
    }
    Op m_op;
    ConvPlan m_plan;
    int64_t m_chunk, m_chunks;
    Piece m_whole;
    std::optional<Piece> m_rest;
};

std::shared_ptr<const LibraryConv> made(Op op, const ConvPlan& p) {
    prepareGemmThread(); // kernels are made for as many threads as there are here
    try {
        auto conv = std::make_shared<OneDnnConv>(op, p);
        return conv->isFast() ? conv : nullptr;
    } catch (const dnnl::error&) {
        return nullptr; // it has nothing for it
    }
}

} // namespace

std::shared_ptr<const LibraryConv> libraryConv(Op op, const ConvPlan& p) {
    if (p.pointwise()) return nullptr; // a matrix product as it is
    if (p.n < kFewestSamples || std::max(p.image(), p.o * p.places()) > kLargestSample)
        return nullptr;
    static std::mutex mutex;
    static std::map<std::array<int64_t, 13>, std::shared_ptr<const LibraryConv>> kept;
    const std::array<int64_t, 13> key{static_cast<int64_t>(op),
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
                                      p.padding[1]};
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
