// The packing of planes, and the products.
#include "engine/cpu/pointwise_conv.h"

#include "engine/cpu/conv_parts.h"
#include "engine/cpu/pair_gemm.h"
#include "engine/cpu/small_gemm.h"
#include "engine/cpu/transpose_block.h"

#include <algorithm>

namespace halfscope {

namespace {

/// Fewer places, or channels of an image whose weight's gradient is computed, leave panels empty.
constexpr int64_t kFewestColumns = kPanelColumns / 2;
/// With more channels than these the library's product of floats takes up to 15 % less time.
constexpr int64_t kFewChannels = 64;
/// Places that a partial sum of a weight's gradient takes at least: it costs as much as a few.
constexpr int64_t kPartPlaces = 512;
constexpr int64_t kUnitFloats = 1 << 15; ///< of the panels of a block: they stay in L2

uint32_t* lanesOf(float* area) { return reinterpret_cast<uint32_t*>(area); }

int64_t wholePanels(int64_t columns) { return ceilDiv(columns, kPanelColumns) * kPanelColumns; }

const uint16_t* wordsOf(const CpuTensor& tensor, int64_t first) {
    return static_cast<const uint16_t*>(tensor.data) + first;
}

bool multipliesPairs(const ConvPlan& p) {
    return p.type == DType::BF16 && hasPairGemm(usedVectorSet());
}

/// Widens rows that are `stride` elements apart to rows of `count` floats.
void widenRows(const CpuTensor& from, int64_t first, int64_t stride, int64_t rows, int64_t count,
               float* to) {
    for (int64_t row = 0; row < rows; ++row)
        loadAsFloat(from.dtype, elementAt(from.data, first + row * stride, from.dtype),
                    to + row * count, static_cast<size_t>(count));
}

} // namespace

bool PointwiseConv::takes(Op op, const ConvPlan& p) {
    const bool grad = op == Op::Conv2dWeightGrad;
    return p.pointwise() && p.ofPlanes() && p.groups == 1 && !p.tf32 &&
           hasPanelGemm(usedVectorSet()) && p.places() >= kFewestColumns &&
           (!grad || p.c >= kFewestColumns) &&
           (grad || multipliesPairs(p) || std::min(p.c, p.o) <= kFewChannels) &&
           !isSmallGemm({p.o, p.c, p.n * p.places()});
}

PointwiseConv::PointwiseConv(Op op, const ConvPlan& p)
    : m_op(op), m_plan(p), m_low(p.type != DType::F32), m_pairs(multipliesPairs(p)),
      m_from(op == Op::Conv2dInputGrad ? p.o : p.c), m_to(op == Op::Conv2dInputGrad ? p.c : p.o) {
    op == Op::Conv2dWeightGrad ? planWeightGrad() : planProduct();
}

void PointwiseConv::planProduct() {
    const int64_t depth = std::min(kPanelDepth, m_from);
    m_places = std::clamp(kUnitFloats / depth / kPanelColumns * kPanelColumns, kPanelColumns,
                          wholePanels(m_plan.places()));
    m_pieces = ceilDiv(m_plan.places(), m_places);
    const bool turned = m_op == Op::Conv2dInputGrad; // from another copy
    if (m_pairs || m_low || turned)
        m_shared = alignedFloats((m_pairs ? pairsOf(m_from) : m_from) * m_to) * (turned ? 2 : 1);
    m_wide = m_low && !m_pairs ? alignedFloats(depth * m_places) : 0;
    m_panels = (m_pairs ? pairsOf(depth) : depth) * m_places;
    m_perThread = m_wide + m_panels + (m_plan.direct ? 0 : alignedFloats(m_to * m_places));
}

void PointwiseConv::planWeightGrad() {
    m_places = std::min(kPanelDepth, m_plan.places());
    m_pieces = ceilDiv(m_plan.places(), m_places);
    m_parts = std::clamp<int64_t>(m_plan.n * m_plan.places() / kPartPlaces, 1,
                                  std::min(kMaxParts, m_plan.n * m_pieces));
    m_shared = m_parts * alignedFloats(m_plan.o * m_plan.c);
    const int64_t depth = m_pairs ? pairsOf(m_places) : m_places;
    m_wide = m_pairs ? alignedFloats(m_plan.o * depth)
             : m_low ? alignedFloats((m_plan.o + m_plan.c) * depth)
                     : 0;
    m_panels = depth * wholePanels(m_plan.c);
    m_perThread = m_wide + m_panels;
}

void PointwiseConv::run(const CpuCall& call) const {
    if (m_op == Op::Conv2dWeightGrad) {
        runWeightGrad(call);
        return;
    }
    const int least = prepareWeight(call);
    call.pool.run(m_plan.n * m_pieces, [&](int64_t unit, int thread) {
        if (!stopped(call))
            product(call, unit, least, scratchFloats(call) + m_shared + thread * m_perThread);
    });
}

/// Writes the weight as (m_to, m_from): as pairs, block by block, whose least exponent it returns,
/// or as floats, unless it is stored so.
int PointwiseConv::prepareWeight(const CpuCall& call) const {
    const CpuTensor& weight = call.in[1];
    float* const to = scratchFloats(call);
    const bool turned = m_op == Op::Conv2dInputGrad;
    int least = kNoExponent;
    if (!m_pairs) {
        const float* from = static_cast<const float*>(weight.data);
        float* const wide = turned ? to + alignedFloats(m_from * m_to) : to;
        if (m_low) {
            loadAsFloat(weight.dtype, weight.data, wide, static_cast<size_t>(m_from * m_to));
            from = wide;
        }
        if (turned) transpose(from, m_to, m_to, m_from, to, m_from);
        return least;
    }
    uint32_t* const pairs = lanesOf(to) + (turned ? alignedFloats(pairsOf(m_from) * m_to) : 0);
    for (int64_t k = 0; k < m_from; k += kPanelDepth) {
        const int64_t depth = std::min(kPanelDepth, m_from - k);
        uint32_t* const block = lanesOf(to) + k / 2 * m_to;
        if (!turned) {
            least = std::min(least, packPairs(wordsOf(weight, k), m_from, m_to, depth, block));
            continue;
        }
        least =
            std::min(least, interleavePairs(wordsOf(weight, k * m_to), m_to, depth, m_to, pairs));
        transpose(pairs, m_to, m_to, pairsOf(depth), block, pairsOf(depth));
    }
    return least;
}

/// Computes all channels of some places of a sample.
void PointwiseConv::product(const CpuCall& call, int64_t unit, int leastOfWeight,
                            float* area) const {
    const int64_t places = m_plan.places();
    const int64_t sample = unit / m_pieces, place = unit % m_pieces * m_places;
    const int64_t count = std::min(m_places, places - place);
    const int64_t out = sample * m_to * places + place;
    float* const panels = area + m_wide;
    float* const c = m_plan.direct ? static_cast<float*>(call.out) + out : panels + m_panels;
    for (int64_t k = 0; k < m_from; k += kPanelDepth) {
        const int64_t depth = std::min(kPanelDepth, m_from - k);
        const int64_t first = (sample * m_from + k) * places + place;
        PanelShape shape{m_to, count, depth, m_from, m_plan.direct ? places : count, false, k > 0};
        if (!m_pairs) {
            const bool asStored = !m_low && m_op == Op::Conv2d;
            const float* const weight =
                asStored ? static_cast<const float*>(call.in[1].data) : scratchFloats(call);
            packPlanes(call, first, depth, count, area, panels);
            multiplyPanels(usedVectorSet(), shape, weight + k, panels, c);
            continue;
        }
        shape.k = shape.lda = pairsOf(depth);
        int least = kNoExponent;
        for (int64_t column = 0; column < count; column += kPanelColumns)
            least =
                std::min(least, packPairPanel(wordsOf(call.in[0], first + column), places, false,
                                              depth, std::min(kPanelColumns, count - column),
                                              lanesOf(panels) + column * shape.k));
        multiplyPairBlock(shape, lanesOf(scratchFloats(call)) + k / 2 * m_to, leastOfWeight,
                          lanesOf(panels), least, c);
    }
    if (!m_plan.direct) storeRows(call, c, m_to, count, out, places);
}

/// Packs some places of `depth` channels from element `first` on as panels of floats.
void PointwiseConv::packPlanes(const CpuCall& call, int64_t first, int64_t depth, int64_t count,
                               float* wide, float* panels) const {
    const float* from = static_cast<const float*>(call.in[0].data) + first;
    int64_t stride = m_plan.places();
    if (m_low) {
        widenRows(call.in[0], first, stride, depth, count, wide);
        from = wide;
        stride = count;
    }
    for (int64_t column = 0; column < count; column += kPanelColumns)
        packPanel(usedVectorSet(), from + column, stride, 1, depth,
                  std::min(kPanelColumns, count - column), panels + column * depth);
}

void PointwiseConv::runWeightGrad(const CpuCall& call) const {
    const int64_t units = m_plan.n * m_pieces;
    const int64_t elements = m_plan.o * m_plan.c, size = alignedFloats(elements);
    float* const sums = scratchFloats(call);
    call.pool.run(m_parts, [&](int64_t part, int thread) {
        const int64_t begin = units * part / m_parts, end = units * (part + 1) / m_parts;
        for (int64_t unit = begin; unit < end && !stopped(call); ++unit)
            addUnit(call, unit, unit > begin, sums + m_shared + thread * m_perThread,
                    sums + part * size);
    });
    if (stopped(call)) return;
    addParts(call, sums, m_parts, size, elements, [&](int64_t first, int64_t count) {
        storeRows(call, sums + first, 1, count, first, 0);
    });
}

/// Adds the products of some places of a sample to the weight's gradient.
void PointwiseConv::addUnit(const CpuCall& call, int64_t unit, bool accumulate, float* area,
                            float* sums) const {
    const int64_t places = m_plan.places(), c = m_plan.c, o = m_plan.o;
    const int64_t sample = unit / m_pieces, place = unit % m_pieces * m_places;
    const int64_t depth = std::min(m_places, places - place);
    const int64_t atImage = sample * c * places + place, atY = sample * o * places + place;
    const CpuTensor &image = call.in[0], &y = call.in[1];
    float* const panels = area + m_wide;
    if (m_pairs) {
        const int64_t pairs = pairsOf(depth);
        const int leastOfY = packPairs(wordsOf(y, atY), places, o, depth, lanesOf(area));
        int least = kNoExponent;
        for (int64_t column = 0; column < c; column += kPanelColumns)
            least = std::min(least, packPairPanel(wordsOf(image, atImage + column * places), places,
                                                  true, depth, std::min(kPanelColumns, c - column),
                                                  lanesOf(panels) + column * pairs));
        multiplyPairBlock({o, c, pairs, pairs, c, false, accumulate}, lanesOf(area), leastOfY,
                          lanesOf(panels), least, sums);
        return;
    }
    const float* a = static_cast<const float*>(y.data) + atY;
    const float* b = static_cast<const float*>(image.data) + atImage;
    if (m_low) {
        widenRows(y, atY, places, o, depth, area);
        widenRows(image, atImage, places, c, depth, area + o * depth);
        a = area;
        b = area + o * depth;
    }
    const int64_t stride = m_low ? depth : places;
    for (int64_t column = 0; column < c; column += kPanelColumns)
        packPanel(usedVectorSet(), b + column * stride, 1, stride, depth,
                  std::min(kPanelColumns, c - column), panels + column * depth);
    multiplyPanels(usedVectorSet(), {o, c, depth, stride, c, false, accumulate}, a, panels, sums);
}

} // namespace halfscope
