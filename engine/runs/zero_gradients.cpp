// Compares the shares of zeros of the lanes.
#include "engine/runs/zero_gradients.h"

#include "engine/settings/precision.h"
#include "engine/settings/run_config.h"

#include <algorithm>

namespace halfscope {

namespace {

double shareOfZeros(const GradientRange& range) {
    return static_cast<double>(range.zeros()) / static_cast<double>(range.total());
}

bool isComparable(const GradientRange& range) {
    return range.total() > 0 && range.notFinite() == 0;
}

/// Whether values were rounded to a type that holds no smaller numbers than fp16 does.
bool roundsToZero(const GradientRange& range) {
    const bool wide = range.type == DType::F32 || range.type == DType::BF16;
    return !wide || std::any_of(range.layers.begin(), range.layers.end(),
                                [](const LayerGradients& layer) { return layer.fp8; });
}

// Lanes with other weights have other zeros behind ReLU. Where rounding has taken many values, most
// of those that are left are hardly larger than those that it took.
bool areMostlySmall(const GradientRange& range) {
    constexpr int kSmallestNormal = -14; // of fp16, and of E5M2
    const int64_t small =
        range.outputs.below(kSmallestNormal) + range.weights.below(kSmallestNormal);
    return 2 * small >= range.total() - range.zeros();
}

} // namespace

std::optional<ZeroGradients> zeroGradientsOf(std::span<const GradientRange> ranges, int lane) {
    const auto at = static_cast<size_t>(lane);
    if (at >= ranges.size() || ranges[at].total() == 0) return std::nullopt;
    const GradientRange& own = ranges[at];
    ZeroGradients zeros{own.step - 1, own.scale, shareOfZeros(own), own.notFinite() == 0};
    for (size_t i = 0; i < ranges.size() && zeros.reference < 0; ++i) {
        const GradientRange& other = ranges[i];
        if (other.type != DType::F32 || !isComparable(other)) continue;
        zeros.reference = static_cast<int>(i);
        zeros.expected = shareOfZeros(other);
    }
    return zeros;
}

std::optional<LostGradients> lostGradientsOf(std::span<const GradientRange> ranges, int lane) {
    constexpr double kNearlyAll = 0.99, kUsual = 0.9, kFarMore = 0.2;
    const auto at = static_cast<size_t>(lane);
    if (at >= ranges.size() || !isComparable(ranges[at])) return std::nullopt;
    if (!roundsToZero(ranges[at])) return std::nullopt; // its zeros are those of ReLU
    LostGradients lost{shareOfZeros(ranges[at]), -1, 1};
    for (size_t i = 0; i < ranges.size(); ++i) {
        if (!isComparable(ranges[i]) || shareOfZeros(ranges[i]) >= lost.kept) continue;
        lost.beside = static_cast<int>(i);
        lost.kept = shareOfZeros(ranges[i]);
    }
    if (lost.share >= kNearlyAll && lost.kept < kUsual) {
        lost.beside = -1;
        return lost;
    }
    if (!areMostlySmall(ranges[at]) || lost.share - lost.kept < kFarMore) return std::nullopt;
    return lost;
}

bool lacksFp8Scaling(const LaneConfig& lane) {
    return lane.precision == Precision::Fp8 && lane.fp8Scaling == Fp8Scaling::None;
}

Message scalingAdvice(const LaneConfig& lane, size_t lanes) {
    // one loss scale rarely suits all tensors, and their own scales suit each
    if (lacksFp8Scaling(lane)) return phrase("Events", "Set FP8 scaling to dynamic.");
    if (!presetOf(lane.precision).mayScale)
        return lanes == 1
                   ? phrase("Events", "Use a precision that can scale it, such as amp-fp16.")
                   : phrase("Events", "Use a precision that can scale them, such as amp-fp16.");
    return lanes == 1 ? phrase("Events", "Switch its loss scaling on.")
                      : phrase("Events", "Switch their loss scaling on.");
}

} // namespace halfscope
