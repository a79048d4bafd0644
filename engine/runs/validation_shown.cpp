// Compares what the pictures count with what the columns of validations hold.
#include "engine/runs/validation_shown.h"

#include "engine/data/class_counts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace halfscope {
namespace {

/// Returns the share of a caption like "425/500", see countCaption(); nothing for other captions.
std::optional<double> captionShare(std::string_view caption) {
    if (caption == kNoClasses) return 0;
    const char* const end = caption.data() + caption.size();
    int64_t right = 0, all = 0;
    const auto first = std::from_chars(caption.data(), end, right);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '/') return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, all);
    if (second.ec != std::errc{} || second.ptr != end || all < 1) return std::nullopt;
    return static_cast<double>(right) / static_cast<double>(all);
}

} // namespace

std::optional<int64_t> validationShown(const RunSnapshot& run, const LanePictures& pictures) {
    constexpr double kNear = 1e-6; // of the same share, rounded
    std::optional<int64_t> shown;
    for (int lane = 0; lane < run.laneCount(); ++lane) {
        const auto at = static_cast<size_t>(lane);
        if (std::ranges::find(pictures.lost.outputs, at) != pictures.lost.outputs.end()) continue;
        const auto last = run.column(lane, metric::ValidationLoss).upTo(pictures.step);
        if (!last || at >= pictures.outputs.size()) return std::nullopt;
        if (shown.value_or(last->step) != last->step) return std::nullopt;
        shown = last->step;
        const std::optional<double> share =
            captionShare(tableCaption(pictures.outputs[at].caption).right);
        if (!share && last->step != pictures.step) return std::nullopt;
        const auto measured = run.column(lane, metric::Accuracy).at(last->step);
        if (share && !(measured && std::abs(*measured - *share) <= kNear)) return std::nullopt;
    }
    return shown;
}

} // namespace halfscope
