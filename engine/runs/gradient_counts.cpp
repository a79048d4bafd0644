// Counts values by their exponents.
#include "engine/runs/gradient_counts.h"

#include "engine/core/dtype.h"
#include "engine/core/half_limits.h"

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
    // by float32's exponent, where 0 stands for less than 2^-126; the second half is below zero
    std::array<int64_t, 2 * kExponents> counts{};
    const size_t n = bytes.size() / bytesOf(type);
    for (size_t at = 0; at < n; at += kBlock) {
        const size_t count = std::min(kBlock, n - at);
        loadAsFloat(type, bytes.data() + at * bytesOf(type), values.data(), count);
        for (size_t i = 0; i < count; ++i) {
            const uint32_t bits = std::bit_cast<uint32_t>(values[i]);
            const bool zero = (bits & 0x7fffffffu) == 0;
            counts[bits >> 23] += !zero;
            zeros += zero;
        }
    }
    notFinite += counts[kExponents - 1] + counts[2 * kExponents - 1];
    for (int field = 0; field < kExponents - 1; ++field) {
        const int exponent = field - kExponentBias;
        const auto bucket = static_cast<size_t>(std::clamp(exponent - kLowest, 0, kBuckets - 1));
        const int64_t below = counts[static_cast<size_t>(field + kExponents)];
        const int64_t both = counts[static_cast<size_t>(field)] + below;
        buckets[bucket] += both;
        negative[bucket] += below;
        if (exponent < smallestNormal(type)) subnormals += both;
    }
}

void MagnitudeCounts::add(const MagnitudeCounts& other) {
    for (size_t i = 0; i < buckets.size(); ++i) {
        buckets[i] += other.buckets[i];
        negative[i] += other.negative[i];
    }
    zeros += other.zeros;
    notFinite += other.notFinite;
    subnormals += other.subnormals;
}

std::optional<int> MagnitudeCounts::highest() const {
    for (int i = kBuckets - 1; i >= 0; --i)
        if (buckets[static_cast<size_t>(i)] > 0) return kLowest + i;
    return std::nullopt;
}

int64_t MagnitudeCounts::below(int exponent) const {
    const int end = std::clamp(exponent - kLowest, 0, kBuckets);
    return std::accumulate(buckets.begin(), buckets.begin() + end, int64_t{0});
}

int64_t LayerGradients::small() const {
    return outputs.below(kHalfNormal) + weights.below(kHalfNormal);
}

std::optional<int> LayerGradients::room() const {
    const std::optional<int> highest = std::max(outputs.highest(), weights.highest());
    if (!highest || !inHalfRange()) return {};
    return kHalfInfinite - 1 - *highest;
}

int64_t MagnitudeCounts::total() const {
    return std::accumulate(buckets.begin(), buckets.end(), zeros + notFinite);
}

std::vector<LayerRow> layerRows(std::span<const GradientRange> lanes) {
    std::vector<std::string> layers;
    for (const GradientRange& range : lanes) {
        auto at = layers.begin();
        for (const LayerGradients& layer : range.layers) {
            const auto same = std::find(layers.begin(), layers.end(), layer.layer);
            at = 1 + (same == layers.end() ? layers.insert(at, layer.layer) : same);
        }
    }
    std::vector<LayerRow> rows;
    for (const std::string& name : layers) {
        for (size_t lane = 0; lane < lanes.size(); ++lane) {
            const std::vector<LayerGradients>& own = lanes[lane].layers;
            for (size_t i = 0; i < own.size(); ++i)
                if (own[i].layer == name) rows.push_back({name, static_cast<int>(lane), i});
        }
    }
    return rows;
}

} // namespace halfscope
