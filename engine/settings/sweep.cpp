// Turns lists of values into lanes.
#include "engine/settings/sweep.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/settings/lane_titles.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace halfscope {

namespace {

constexpr const char* kPrecision = "precision";
constexpr const char* kScalerPreset = "scaler.preset"; // sets other settings, too

bool appliesTo(const Field& field, const RunConfig& config, size_t lane) {
    return !field.applies || field.applies(config, static_cast<int>(lane));
}

bool isText(const Field& field) {
    return field.kind == FieldKind::Path || field.kind == FieldKind::Text;
}

constexpr const char* kSeedKey = "run.seed"; // other weights, batches and random data: chance alone

/// Whether trainings with other values of a setting of the run can share their data and their
/// length.
bool keepsData(const Field& field) {
    static constexpr std::array kParts{"model.", "optimizer.", "schedule.", "gradients."};
    return std::any_of(kParts.begin(), kParts.end(),
                       [&](const char* part) { return field.key.starts_with(part); });
}

const Field& sweptField(std::string_view key, SweptBy by) {
    const Field* field = findField(key);
    if (!field)
        throw InputError(phrase("Settings", "%1 is an unknown setting%2"), quotedText(key),
                         keyHint(key));
    const bool trainable = field->scope == FieldScope::Lane || keepsData(*field) || key == kSeedKey;
    if (by == SweptBy::Trainings && !trainable)
        throw InputError(phrase("Settings", "--sweep: %1 is the same in all trainings of a map, "
                                            "which share their data and their length"),
                         field->key);
    if (by == SweptBy::Lanes && key == kPrecision)
        throw InputError(phrase("Settings", "--sweep: %1 is not swept: --lanes names precisions"),
                         field->key);
    if (by == SweptBy::Lanes && field->scope == FieldScope::Run && trainable)
        throw InputError(phrase("Settings", "--sweep: %1 is the same in all lanes of a run; only "
                                            "settings of a lane can be swept (scaler.*). "
                                            "halfscope-cli sweep trains once for each value of "
                                            "this one"),
                         field->key);
    if (by == SweptBy::Lanes && field->scope == FieldScope::Run)
        throw InputError(phrase("Settings", "--sweep: %1 is the same in all lanes of a run; only "
                                            "settings of a lane can be swept (scaler.*)"),
                         field->key);
    if (isText(*field))
        throw InputError(phrase("Settings", "--sweep: %1 is not swept: it is a text"), field->key);
    return *field;
}

struct SweptLanes {
    std::vector<LaneConfig> lanes;
    std::vector<size_t> from; ///< for each lane, the one that it was made from
};

/// Repeats each lane in which the setting means something for each of its values. `origins` are the
/// lanes of the experiment that these were made from.
SweptLanes swept(const RunConfig& config, const Sweep& sweep, std::span<const size_t> origins) {
    RunConfig made = config;
    made.lanes.clear();
    std::vector<size_t> from;
    const auto copy = [&](size_t lane) {
        made.lanes.push_back(config.lanes[lane]);
        from.push_back(lane);
    };
    bool any = false;
    for (size_t i = 0; i < config.lanes.size(); ++i) {
        if (!appliesTo(*sweep.field, config, i)) {
            copy(i);
            continue;
        }
        any = true;
        bool repeats = false;
        for (size_t before = 0; before < i && !repeats; ++before)
            repeats = makesTheSame(sweep, config, origins, before, i);
        if (repeats) continue;
        for (const FieldValue& value : sweep.values) {
            copy(i);
            sweep.set(made, made.lanes.size() - 1, value, origins[i]);
        }
    }
    if (!any)
        throw InputError(phrase("Settings", "%1 means nothing in any lane of this run"),
                         sweep.field->key);
    return {std::move(made.lanes), std::move(from)};
}

/// Returns the value of a sweep that a lane has. A preset of the scaler is "custom" once others of
/// its settings were given or swept, too: it is the one that makes the lane what it is.
FieldValue valueIn(const RunConfig& config, size_t lane, const Sweep& sweep,
                   std::span<const Sweep> all) {
    const auto at = static_cast<int>(lane);
    if (sweep.field->key == kScalerPreset)
        for (const FieldValue& value : sweep.values)
            for (size_t from = 0; from < kMaxLanes; ++from) {
                RunConfig made = config;
                sweep.set(made, lane, value, from);
                for (const Sweep& other : all)
                    if (other.field != sweep.field)
                        other.field->set(made, at, other.field->get(config, at));
                if (sameSettings(made, lane, config, lane)) return value;
            }
    return sweep.field->get(config, at);
}

} // namespace

void Sweep::set(RunConfig& config, size_t lane, const FieldValue& value, size_t from) const {
    const auto at = static_cast<int>(lane);
    field->set(config, at, value);
    for (const Assignment& each : given)
        if (each.lane < 0 || each.lane == static_cast<int>(from))
            each.field->set(config, at, each.value);
}

bool makesTheSame(const Sweep& sweep, RunConfig config, std::span<const size_t> origins, size_t a,
                  size_t b) {
    if (!appliesTo(*sweep.field, config, a) || !appliesTo(*sweep.field, config, b)) return false;
    for (const size_t lane : {a, b})
        sweep.set(config, lane, sweep.values.front(), origins[lane]);
    return sameSettings(config, a, config, b);
}

Sweep parseSweep(std::string_view text, SweptBy by) {
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos)
        throw InputError(phrase("Settings", "%1 is not a sweep: KEY=VALUE,VALUE"),
                         quotedText(text));
    Sweep sweep{&sweptField(text.substr(0, equals), by), {}, {}};
    for (const std::string_view part : partsOf(text.substr(equals + 1), ',')) {
        FieldValue value = valueFor(*sweep.field, parseValue(*sweep.field, part));
        if (std::find(sweep.values.begin(), sweep.values.end(), value) != sweep.values.end())
            throw InputError(phrase("Settings", "%1 has the value %2 twice"), sweep.field->key,
                             valueText(value));
        sweep.values.push_back(std::move(value));
    }
    return sweep;
}

std::vector<const Field*> sweptFields(const RunConfig& config, SweptBy by) {
    std::vector<const Field*> fields;
    for (const Field& field : fieldTable()) {
        const bool ofLane = field.scope == FieldScope::Lane && field.key != kPrecision;
        const bool ofTraining = field.scope == FieldScope::Lane || keepsData(field);
        if (isText(field) || !(by == SweptBy::Lanes ? ofLane : ofTraining)) continue;
        for (size_t lane = 0; lane < config.lanes.size(); ++lane)
            if (appliesTo(field, config, lane)) {
                fields.push_back(&field);
                break;
            }
    }
    return fields;
}

std::vector<size_t> applySweeps(RunConfig& config, std::span<const Sweep> sweeps) {
    std::vector<size_t> from(config.lanes.size());
    std::iota(from.begin(), from.end(), size_t{0});
    if (sweeps.empty()) return from;
    for (size_t i = 0; i < sweeps.size(); ++i)
        for (size_t before = 0; before < i; ++before)
            if (sweeps[before].field == sweeps[i].field)
                throw InputError(phrase("Settings", "--sweep: %1 is given twice"),
                                 sweeps[i].field->key);
    std::vector<Sweep> ordered(sweeps.begin(), sweeps.end());
    std::stable_partition(ordered.begin(), ordered.end(),
                          [](const Sweep& sweep) { return sweep.field->key == kScalerPreset; });
    for (const Sweep& sweep : ordered) {
        // this is not a large number: there are at most six lanes before it, and somebody typed the
        // list
        SweptLanes next = swept(config, sweep, from);
        if (next.lanes.size() > kMaxLanes)
            throw InputError(phrase("Settings", "These values make %1 lanes, and a run has at most "
                                                "%2: give fewer values, or remove lanes first. "
                                                "More of them make a map: halfscope-cli sweep, or "
                                                "Edit > Map of two settings… in the window"),
                             next.lanes.size(), kMaxLanes);
        config.lanes = std::move(next.lanes);
        for (size_t& lane : next.from)
            lane = from[lane];
        from = std::move(next.from);
    }
    forgetLanes(config);
    return from;
}

std::string sweptText(const RunConfig& config, size_t lane, std::span<const Sweep> sweeps) {
    std::string text;
    for (const Sweep& sweep : sweeps) {
        if (!appliesTo(*sweep.field, config, lane)) continue;
        const FieldValue value = valueIn(config, lane, sweep, sweeps);
        std::string words = settingWords(*sweep.field, value);
        const std::vector<std::string> axis = axisTexts(sweep.values);
        const auto at = std::find(sweep.values.begin(), sweep.values.end(), value);
        const size_t number = static_cast<size_t>(at - sweep.values.begin());
        if (number < axis.size() && axis[number].starts_with("2^")) // all are, or none
            words = shortKey(*sweep.field) + ' ' + axis[number];
        if (words.empty()) // "default" has no words of its own
            words = shortKey(*sweep.field) + ' ' + valueText(value);
        text += (text.empty() ? "" : ", ") + words;
    }
    return text;
}

bool sameSettings(const RunConfig& config, size_t lane, const RunConfig& other, size_t otherLane) {
    const auto& fields = fieldTable();
    return std::all_of(fields.begin(), fields.end(), [&](const Field& field) {
        return field.scope == FieldScope::Run || field.get(config, static_cast<int>(lane)) ==
                                                     field.get(other, static_cast<int>(otherLane));
    });
}

void forgetLanes(RunConfig& config) {
    config.forks.clear();
    std::erase_if(config.edits, [](const LiveEdit& edit) {
        const Field* field = findField(edit.key);
        return field == nullptr || field->scope == FieldScope::Lane;
    });
}

} // namespace halfscope
