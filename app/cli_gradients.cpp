// Shares are of all gradients of a lane or layer, outputs and weights together.
#include "app/cli_gradients.h"

#include "app/cli_output.h"

#include "engine/settings/precision.h"

#include <algorithm>
#include <vector>

namespace halfscope::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string shareText(int64_t count, int64_t total) {
    const auto all = static_cast<double>(std::max<int64_t>(1, total));
    return percentText(static_cast<double>(count) / all, 3);
}

bool isScaled(const Experiment& experiment, size_t lane) {
    return scalesLoss(experiment.config().lanes[lane]);
}

std::string byLane(const Experiment& experiment, std::span<const GradientRange> ranges) {
    Rows rows{{"lane", "dtype", "zero", "subnormal in dtype", "inf or nan", "scale"}};
    for (size_t i = 0; i < ranges.size(); ++i) {
        const GradientRange& range = ranges[i];
        const auto share = [&](int64_t count) { return shareText(count, range.total()); };
        rows.push_back({experiment.laneName(static_cast<int>(i)), std::string(nameOf(range.type)),
                        share(range.zeros()), share(range.subnormals()), share(range.notFinite()),
                        isScaled(experiment, i) ? scaleText(range.scale) : "-"});
    }
    return tableText(rows);
}

/// Returns by how many times as large the scale could be, or why no number says it.
std::string roomText(const LayerGradients& layer) {
    if (layer.notFinite() > 0) return "none";
    if (const std::optional<int> room = layer.room()) return "2^" + std::to_string(*room);
    return layer.total() > 0 && layer.inHalfRange() ? "all zero" : "-";
}

/// Puts the lanes of each layer one below the other.
std::string byLayer(const Experiment& experiment, std::span<const GradientRange> ranges) {
    Rows rows{
        {"layer", "lane", "dtype", "zero", "small for fp16", "inf or nan", "fp16 room", "error"}};
    for (const LayerRow& row : layerRows(ranges)) {
        const LayerGradients& layer = ranges[static_cast<size_t>(row.lane)].layers[row.at];
        const auto share = [&](int64_t count) { return shareText(count, layer.total()); };
        rows.push_back({row.layer, experiment.laneName(row.lane),
                        layer.fp8 ? "float8_e5m2" : std::string(nameOf(layer.type)),
                        share(layer.zeros()), share(layer.small()), share(layer.notFinite()),
                        roomText(layer), layer.error ? shortNumber(*layer.error, 3) : "-"});
    }
    if (rows.size() == 1) return {};
    return "By layer (small for fp16: not zero, but below 2^-14, where fp16 keeps fewer digits; "
           "fp16 room: how many times as large the scale could be, not told of wider types; error: "
           "measured where "
           "run.gradient_error is set):\n" +
           tableText(rows);
}

} // namespace

std::string gradientTables(const Experiment& experiment, std::span<const GradientRange> ranges) {
    if (ranges.empty()) return {};
    bool scaled = false;
    for (size_t i = 0; i < ranges.size(); ++i)
        scaled = scaled || isScaled(experiment, i);
    return "Gradients after step " + std::to_string(ranges.front().step - 1) +
           (scaled ? ", times the loss scale where there is one:\n" : ":\n") +
           byLane(experiment, ranges) + byLayer(experiment, ranges);
}

} // namespace halfscope::cli
