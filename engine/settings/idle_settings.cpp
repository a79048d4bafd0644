// Asks the table of settings.
#include "engine/settings/idle_settings.h"

#include <algorithm>

namespace halfscope {

namespace {

std::string keyOf(const Field& field, int lane) {
    return (lane < 0 ? "" : "lanes." + std::to_string(lane) + ".") + field.key;
}

bool acts(const Field& field, const RunConfig& config, int lane) {
    return !field.applies || field.applies(config, lane);
}

/// Calls `use(field, lane, usual value)` for each setting that differs from the usual and has no
/// effect.
template <class Use>
void eachIdle(const RunConfig& config, Use use) {
    RunConfig usual = defaultConfig();
    std::ranges::transform(config.lanes, (usual.lanes = config.lanes).begin(),
                           [](const LaneConfig& lane) { return defaultLane(lane.precision); });
    for (const Field& field : fieldTable()) {
        if (field.key == "scaler.preset") continue; // a name for the values of other settings
        const bool ofLane = field.scope == FieldScope::Lane;
        for (int lane = ofLane ? 0 : -1; lane < (ofLane ? int(config.lanes.size()) : 0); ++lane)
            if (const FieldValue value = field.get(usual, lane);
                field.get(config, lane) != value && !acts(field, config, lane))
                use(field, lane, value);
    }
}

} // namespace

std::vector<std::string> idleSettings(const RunConfig& config, std::span<const Assignment> given) {
    std::vector<std::string> keys;
    for (const Assignment& each : given)
        if (each.lane < static_cast<int>(config.lanes.size()) &&
            !acts(*each.field, config, each.lane))
            keys.push_back(keyOf(*each.field, each.lane));
    return keys;
}

std::vector<std::string> idleSettings(const RunConfig& config) {
    std::vector<std::string> keys;
    eachIdle(config, [&](const Field& field, int lane, const FieldValue&) {
        keys.push_back(keyOf(field, lane));
    });
    return keys;
}

RunConfig withoutIdle(const RunConfig& config) {
    RunConfig clean = config;
    eachIdle(config, [&](const Field& field, int lane, const FieldValue& usual) {
        field.set(clean, lane, usual);
    });
    return clean;
}

} // namespace halfscope
