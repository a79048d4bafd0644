// Asks the table of settings.
#include "engine/settings/idle_settings.h"

#include "engine/settings/precision.h"

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

/// Adds a key unless it is there, or one that stands for it.
void addKey(std::vector<std::string>& keys, const Field& field, int lane) {
    const auto has = [&keys](const std::string& key) {
        return std::ranges::find(keys, key) != keys.end();
    };
    const std::string key = keyOf(field, lane);
    if (has(key) || has(field.key)) return;
    if (lane < 0)
        std::erase_if(keys, [&key](const std::string& each) { return each.ends_with("." + key); });
    keys.push_back(key);
}

/// Whether the value acts in another lane: then it was given for all of them.
bool actsElsewhere(const Field& field, const RunConfig& config, int lane) {
    for (int other = 0; lane >= 0 && other < static_cast<int>(config.lanes.size()); ++other)
        if (acts(field, config, other) && field.get(config, other) == field.get(config, lane))
            return true;
    return false;
}

/// Adds those that come from a file.
void addOfFile(std::vector<std::string>& keys, const RunConfig& config) {
    RunConfig built = config; // by the settings that model.layers takes the place of
    built.model.layers.clear();
    eachIdle(config, [&](const Field& field, int lane, const FieldValue&) {
        if (!acts(field, built, lane) && !actsElsewhere(field, config, lane))
            addKey(keys, field, lane);
    });
}

} // namespace

std::vector<std::string> idleSettings(const RunConfig& config, std::span<const Assignment> given) {
    std::vector<std::string> keys;
    for (const Assignment& each : given)
        if (each.lane < static_cast<int>(config.lanes.size()) &&
            !acts(*each.field, config, each.lane))
            addKey(keys, *each.field, each.lane);
    return keys;
}

std::vector<std::string> idleSettings(const RunConfig& config) {
    std::vector<std::string> keys;
    addOfFile(keys, config);
    return keys;
}

std::vector<std::string> idleBesideFile(const RunConfig& config,
                                        std::span<const Assignment> given) {
    std::vector<std::string> keys = idleSettings(config, given);
    addOfFile(keys, config);
    return keys;
}

Message withoutScaler(const RunConfig& config, std::span<const std::string> keys) {
    const std::string ofScaler = "scaler.";
    std::vector<Message> names;
    bool pureFp16 = false;
    // a key without a lane acts on the lanes that have a scaler, or another setting is the reason
    const bool noneScales = std::ranges::none_of(
        config.lanes, [](const LaneConfig& lane) { return presetOf(lane.precision).mayScale; });
    for (size_t lane = 0; lane < config.lanes.size(); ++lane) {
        const PrecisionPreset& preset = presetOf(config.lanes[lane].precision);
        const std::string ofLane = "lanes." + std::to_string(lane) + "." + ofScaler;
        const bool isIdle = std::ranges::any_of(keys, [&](const std::string& key) {
            return (noneScales && key.starts_with(ofScaler)) || key.starts_with(ofLane);
        });
        const Message name = Message::data(preset.name);
        if (!isIdle || preset.mayScale || std::ranges::find(names, name) != names.end()) continue;
        names.push_back(name);
        pureFp16 = pureFp16 || preset.precision == Precision::Fp16;
    }
    if (names.empty()) return {};
    const Message with = Message::data(nameOf(Precision::AmpFp16));
    if (!pureFp16)
        return {phrase("Settings", "Precisions without a loss scaler: %1. The precision %2 has "
                                   "one."),
                listed(names), with};
    return {phrase("Settings", "Precisions without a loss scaler: %1. The precision %2 has one, "
                               "and so has %3, which is float16 throughout; its scaler.mode is off "
                               "at first."),
            listed(names), with, nameOf(Precision::ApexO3)};
}

RunConfig withoutIdle(const RunConfig& config) {
    RunConfig clean = config;
    eachIdle(config, [&](const Field& field, int lane, const FieldValue& usual) {
        field.set(clean, lane, usual);
    });
    return clean;
}

} // namespace halfscope
