// The end of a step on the CPU: the count of non-finite values, taken from their bits, and the
// scaler's update, which is next() itself.
#include "engine/core/vector_clones.h"
#include "engine/cpu/support.h"
#include "engine/scaler/grad_scaler.h"

#include <atomic>

namespace halfscope {
namespace {

/// Counts values whose exponent bits are all ones. A block's count fits into the values' own width,
/// so that a vector counts as many of them as it holds.
template <class Bits>
[[gnu::always_inline]] inline int64_t countBits(const void* data, int64_t first, int64_t n,
                                                Bits mask) {
    constexpr int64_t kBlock = 1 << 12;
    const Bits* bits = static_cast<const Bits*>(data) + first;
    int64_t count = 0;
    for (int64_t begin = 0; begin < n; begin += kBlock) {
        const int64_t end = std::min(begin + kBlock, n);
        Bits some = 0;
        for (int64_t i = begin; i < end; ++i)
            some = static_cast<Bits>(some + ((bits[i] & mask) == mask ? 1 : 0));
        count += static_cast<int64_t>(some);
    }
    return count;
}

HALFSCOPE_VECTOR int64_t countHalves(const void* data, int64_t first, int64_t n, uint16_t mask) {
    return countBits(data, first, n, mask);
}
HALFSCOPE_VECTOR int64_t countFloats(const void* data, int64_t first, int64_t n, uint32_t mask) {
    return countBits(data, first, n, mask);
}

int64_t countNonFinite(const CpuTensor& x, int64_t first, int64_t n) {
    switch (x.dtype) {
    case DType::F16: return countHalves(x.data, first, n, 0x7c00);
    case DType::BF16: return countHalves(x.data, first, n, 0x7f80);
    case DType::F64: return countBits<uint64_t>(x.data, first, n, 0x7ff0000000000000u);
    default: return countFloats(x.data, first, n, 0x7f800000u);
    }
}

} // namespace

void cpuCountNonFinite(const CpuCall& call) {
    constexpr int64_t kTaskElements = 1 << 14;
    const int64_t elements = call.in[0].shape->elements();
    std::atomic<int64_t> total{0}; // integers, so the order of the threads does not matter
    call.pool.run(ceilDiv(elements, kTaskElements), [&](int64_t task, int) {
        const int64_t first = task * kTaskElements;
        total += countNonFinite(call.in[0], first, std::min(kTaskElements, elements - first));
    });
    *static_cast<float*>(call.out) = static_cast<float>(total.load());
}

void cpuScalerUpdate(const CpuCall& call) {
    const auto doubles = [&](size_t i, size_t n) {
        return std::span(static_cast<const double*>(call.in[i].data), n);
    };
    nextSlots(doubles(0, kScalerSlots), doubles(1, kRuleSlots),
              *static_cast<const float*>(call.in[2].data) != 0,
              std::span(static_cast<double*>(call.out), kScalerSlots));
}

} // namespace halfscope
