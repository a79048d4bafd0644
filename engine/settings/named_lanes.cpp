// Lanes by the names of their precisions ("fp32,amp-fp16").
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/settings/field_parts.h"

#include <algorithm>
#include <map>

namespace halfscope {

std::vector<LaneConfig> parseLanes(std::string_view list, std::span<const LaneConfig> before) {
    const Field& field = *findField("precision");
    std::vector<LaneConfig> lanes;
    std::map<Precision, size_t> taken; // how far into `before` each precision has got
    const std::vector<std::string_view> names = partsOf(list, ',');
    const auto isBlank = [](std::string_view name) {
        return name.find_first_not_of(" \t") == std::string_view::npos;
    };
    if (names.size() > 1 && std::ranges::any_of(names, isBlank))
        throw InputError(phrase("Settings", "%1 has a comma without a precision on each side; "
                                            "write precisions with one comma between two, such as "
                                            "fp32,amp-fp16"),
                         quotedText(list));
    for (const std::string_view name : names) {
        Precision precision{};
        field_parts::fromValue(precision, parseValue(field, name));
        const auto has = [precision](const LaneConfig& lane) {
            return lane.precision == precision;
        };
        size_t& next = taken[precision];
        const auto found =
            std::find_if(before.begin() + static_cast<std::ptrdiff_t>(next), before.end(), has);
        if (found != before.end()) {
            next = static_cast<size_t>(found - before.begin()) + 1;
            lanes.push_back(*found);
        } else {
            lanes.push_back(next > 0 ? before[next - 1] : defaultLane(precision));
        }
    }
    return lanes;
}

LostScaler lostScaler(std::span<const LaneConfig> before, std::span<const LaneConfig> after) {
    const auto lacks = [](std::span<const LaneConfig> lanes, Precision precision) {
        return std::none_of(lanes.begin(), lanes.end(), [precision](const LaneConfig& lane) {
            return lane.precision == precision;
        });
    };
    for (const LaneConfig& old : before) {
        const bool usual = old.scaler == defaultLane(old.precision).scaler;
        if (usual || !lacks(after, old.precision)) continue;
        for (const LaneConfig& lane : after)
            if (scalesLoss(lane) && lacks(before, lane.precision))
                return {nameOf(old.precision), nameOf(lane.precision)};
    }
    return {};
}

} // namespace halfscope
