// Writes tensorboard/compat/proto/summary.proto. Its older histograms and pictures are used, which
// all versions of TensorBoard read.
#include "engine/runs/board_values.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

constexpr int kBoardSide = 200; // of the longer side of a picture, in pixels

constexpr std::string_view kLogCounts =
    "How many gradients have which magnitude. The axis shows log2 of the magnitude, times the loss "
    "scale: the bucket from -10 to -9 counts 2^-10 to 2^-9. Zeros, inf and nan are in zero and "
    "not_finite.";
constexpr std::string_view kLogShares =
    "Which share of the gradients has which magnitude. The axis shows log2 of the magnitude, times "
    "the loss scale: the bucket from -10 to -9 holds 2^-10 to 2^-9. Zeros, inf and nan are in zero "
    "and not_finite.";
constexpr std::string_view kSigned =
    "The gradients of this layer's weights and biases, with their signs and without the loss "
    "scale. A bucket reaches from one power of two to the next. Inf and nan are left out.";

/// Buckets side by side: each one begins where the one before ends.
struct Bars {
    double begin = 0;
    std::vector<double> ends{}, heights{};

    void add(double end, double height) {
        ends.push_back(end);
        heights.push_back(height);
    }
};

/// Returns the histogram from the first to the last bar that is not empty, or nothing when all are.
std::optional<ProtoMessage> histogramOf(const std::string& tag, std::string_view about,
                                        const Bars& bars) {
    constexpr int kHistogram = 5, kMetadata = 9, kPlugin = 1, kDescription = 3;
    constexpr int kDataClass = 4, kTensors = 2; // else TensorBoard drops the description
    const auto holds = [](double height) { return height > 0; };
    const auto& heights = bars.heights;
    const auto filled = std::find_if(heights.begin(), heights.end(), holds);
    if (filled == heights.end()) return std::nullopt;
    const auto first = static_cast<size_t>(filled - heights.begin());
    const auto behind = static_cast<size_t>(
        std::find_if(heights.rbegin(), heights.rend(), holds).base() - heights.begin());
    const auto beginOf = [&bars](size_t i) { return i == 0 ? bars.begin : bars.ends[i - 1]; };
    double all = 0, sum = 0, squares = 0;
    for (size_t i = first; i < behind; ++i) {
        const double middle = (beginOf(i) + bars.ends[i]) / 2;
        all += heights[i];
        sum += heights[i] * middle;
        squares += heights[i] * middle * middle;
    }
    ProtoMessage histogram;
    histogram.real(1, beginOf(first)).real(2, bars.ends[behind - 1]);
    histogram.real(3, all).real(4, sum).real(5, squares);
    histogram.packed(6, std::span(bars.ends).subspan(first, behind - first));
    histogram.packed(7, std::span(heights).subspan(first, behind - first));
    ProtoMessage metadata;
    metadata.message(kPlugin, ProtoMessage().text(1, "histograms"));
    metadata.text(kDescription, about).whole(kDataClass, kTensors);
    return ProtoMessage().text(1, tag).message(kHistogram, histogram).message(kMetadata, metadata);
}

/// Returns a bar for each power of two; `heightOf` is called with the number of its bucket.
template <class HeightOf>
Bars logBars(const HeightOf& heightOf) {
    Bars bars{MagnitudeCounts::kLowest};
    for (int i = 0; i < MagnitudeCounts::kBuckets; ++i)
        bars.add(MagnitudeCounts::kLowest + i + 1, heightOf(static_cast<size_t>(i)));
    return bars;
}

/// Returns the bars of values that were counted `scale` times as large. One in the middle holds the
/// zeros and what is in the lowest bucket, which has no end towards zero.
Bars signedBars(const MagnitudeCounts& counts, double scale) {
    constexpr size_t kLast = MagnitudeCounts::kBuckets - 1;
    const auto upperEnd = [scale](size_t bucket) {
        return std::ldexp(1 / scale, MagnitudeCounts::kLowest + static_cast<int>(bucket) + 1);
    };
    const auto below = [&counts](size_t i) { return static_cast<double>(counts.negative[i]); };
    const auto above = [&counts](size_t i) {
        return static_cast<double>(counts.buckets[i] - counts.negative[i]);
    };
    Bars bars{-upperEnd(kLast)};
    for (size_t i = kLast; i > 0; --i)
        bars.add(-upperEnd(i - 1), below(i));
    bars.add(upperEnd(0), below(0) + static_cast<double>(counts.zeros) + above(0));
    for (size_t i = 1; i <= kLast; ++i)
        bars.add(upperEnd(i), above(i));
    return bars;
}

/// Adds what the histogram of magnitudes cannot show; `group` goes before the tags.
void addOthers(ProtoMessage& summary, const std::string& group, const GradientShares& shares) {
    summary.message(1, boardScalar(group + "/zero", shares.zeros));
    summary.message(1, boardScalar(group + "/not_finite", shares.notFinite));
}

void addCounts(ProtoMessage& summary, const std::string& group, const GradientRange& range) {
    const Bars bars = logBars([&range](size_t i) {
        return static_cast<double>(range.outputs.buckets[i] + range.weights.buckets[i]);
    });
    if (const auto histogram = histogramOf(group + "/log2_magnitude_counts", kLogCounts, bars))
        summary.message(1, *histogram);
    addOthers(summary, group, GradientShares::of(range));
}

/// Returns a picture in which each pixel is a square of pixels.
Picture enlarged(const Picture& picture, int factor) {
    const auto times = static_cast<size_t>(factor);
    const auto channels = static_cast<size_t>(picture.channels);
    const size_t row = static_cast<size_t>(picture.width) * channels;
    Picture large{picture.width * factor, picture.height * factor, picture.channels, {}};
    large.values.reserve(picture.values.size() * times * times);
    large.caption = picture.caption;
    for (size_t at = 0; at < picture.values.size(); at += row) {
        const std::span<const float> from = std::span(picture.values).subspan(at, row);
        for (size_t y = 0; y < times; ++y)
            for (size_t x = 0; x < row * times; ++x)
                large.values.push_back(from[x / (times * channels) * channels + x % channels]);
    }
    return large;
}

} // namespace

ProtoMessage boardScalar(std::string_view tag, float value) {
    return ProtoMessage().text(1, tag).real(2, value);
}

ProtoMessage boardPicture(const Picture& picture) {
    const int side = std::max(picture.width, picture.height);
    const int factor = std::max(1, (kBoardSide + side - 1) / side);
    const int channels = holdsOnlyFinite(picture) ? picture.channels : 3; // as pngBytes() draws it
    const ProtoMessage encoded =
        ProtoMessage()
            .whole(1, picture.height * factor)
            .whole(2, picture.width * factor)
            .whole(3, channels)
            .text(4, pngBytes(factor == 1 ? picture : enlarged(picture, factor)));
    return ProtoMessage().text(1, "picture").message(4, encoded);
}

ProtoMessage boardGradients(const GradientShares& shares) {
    ProtoMessage summary;
    const Bars bars = logBars([&shares](size_t i) { return double{shares.buckets[i]}; });
    if (const auto histogram = histogramOf("gradients/log2_magnitude", kLogShares, bars))
        summary.message(1, *histogram);
    addOthers(summary, "gradients", shares);
    return summary;
}

ProtoMessage boardGradients(const GradientRange& range) {
    ProtoMessage summary;
    addCounts(summary, "gradients", range);
    for (const LayerGradients& layer : range.layers) {
        const std::string group = "gradients/" + layer.layer;
        GradientRange own;
        own.outputs = layer.outputs;
        own.weights = layer.weights;
        addCounts(summary, group, own);
        if (const auto histogram = histogramOf(group + "/of_parameters", kSigned,
                                               signedBars(layer.weights, double{range.scale})))
            summary.message(1, *histogram);
        if (layer.error)
            summary.message(1, boardScalar(group + "/error", static_cast<float>(*layer.error)));
    }
    return summary;
}

} // namespace halfscope
