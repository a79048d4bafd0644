// Counts values by their exponents.
#include "engine/runs/gradient_counts.h"

#include "engine/core/dtype.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace halfscope {

namespace {

int smallestNormal(DType type) { return type == DType::F16 ? -14 : -126; }

} // namespace

void MagnitudeCounts::add(DType type, std::span<const std::byte> bytes) {
    constexpr size_t kBlock = 1024;
    constexpr int kExponentBias = 127, kExponents = 256;
    std::array<float, kBlock> values{};
    std::array<int64_t, kExponents>
        counts{}; // by float32's exponent; 0 stands for zero and for less than 2^-126
    const size_t n = bytes.size() / bytesOf(type);
    for (size_t at = 0; at < n; at += kBlock) {
        const size_t count = std::min(kBlock, n - at);
        loadAsFloat(type, bytes.data() + at * bytesOf(type), values.data(), count);
        for (size_t i = 0; i < count; ++i) {
            const uint32_t bits = std::bit_cast<uint32_t>(values[i]) & 0x7fffffffu;
            ++counts[bits >> 23];
            zeros += bits == 0;
            counts[0] -= bits == 0;
        }
    }
    notFinite += counts[kExponents - 1];
    for (int field = 0; field < kExponents - 1; ++field) {
        const int exponent = field - kExponentBias;
        const int bucket = std::clamp(exponent - kLowest, 0, kBuckets - 1);
        buckets[static_cast<size_t>(bucket)] += counts[static_cast<size_t>(field)];
        if (exponent < smallestNormal(type)) subnormals += counts[static_cast<size_t>(field)];
    }
}

int64_t MagnitudeCounts::total() const {
    return std::accumulate(buckets.begin(), buckets.end(), zeros + notFinite);
}

} // namespace halfscope
