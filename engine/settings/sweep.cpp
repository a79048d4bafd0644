// Turns lists of values into lanes.
#include "engine/settings/sweep.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/settings/lane_titles.h"

#include <algorithm>
#include <utility>

namespace halfscope {

namespace {

constexpr const char* kPrecision = "precision";

bool appliesTo(const Field& field, const RunConfig& config, size_t lane) {
    return !field.applies || field.applies(config, static_cast<int>(lane));
}

const Field& sweptField(std::string_view key) {
    const Field* field = findField(key);
    if (!field)
        throw InputError(phrase("Settings", "%1 is an unknown setting%2"), quotedText(key),
                         keyHint(key));
    if (key == kPrecision)
        throw InputError(phrase("Settings", "--sweep: %1 is not swept: --lanes names precisions"),
                         field->key);
    if (field->scope == FieldScope::Run)
        throw InputError(phrase("Settings", "--sweep: %1 is the same in all lanes of a run; only "
                                            "settings of a lane can be swept (scaler.*)"),
                         field->key);
    if (field->kind == FieldKind::Path || field->kind == FieldKind::Text)
        throw InputError(phrase("Settings", "--sweep: %1 is not swept: it is a text"), field->key);
    return *field;
}

/// Returns the configuration with each lane in which the setting means something repeated for each
/// of its values.
RunConfig swept(const RunConfig& config, const Sweep& sweep) {
    RunConfig made = config;
    made.lanes.clear();
    bool any = false;
    for (size_t i = 0; i < config.lanes.size(); ++i) {
        if (!appliesTo(*sweep.field, config, i)) {
            made.lanes.push_back(config.lanes[i]);
            continue;
        }
        any = true;
        for (const FieldValue& value : sweep.values) {
            made.lanes.push_back(config.lanes[i]);
            sweep.field->set(made, static_cast<int>(made.lanes.size()) - 1, value);
        }
    }
    if (!any)
        throw InputError(phrase("Settings", "--sweep: %1 means nothing in any lane of this run"),
                         sweep.field->key);
    return made;
}

} // namespace

Sweep parseSweep(std::string_view text) {
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos)
        throw InputError(phrase("Settings", "%1 is not a sweep: KEY=VALUE,VALUE"),
                         quotedText(text));
    Sweep sweep{&sweptField(text.substr(0, equals)), {}};
    for (const std::string_view part : partsOf(text.substr(equals + 1), ',')) {
        FieldValue value = valueFor(*sweep.field, parseValue(*sweep.field, part));
        if (std::find(sweep.values.begin(), sweep.values.end(), value) != sweep.values.end())
            throw InputError(phrase("Settings", "--sweep: %1 has the value %2 twice"),
                             sweep.field->key, valueText(value));
        sweep.values.push_back(std::move(value));
    }
    return sweep;
}

void applySweeps(RunConfig& config, std::span<const Sweep> sweeps) {
    if (sweeps.empty()) return;
    for (size_t i = 0; i < sweeps.size(); ++i) {
        for (size_t before = 0; before < i; ++before)
            if (sweeps[before].field == sweeps[i].field)
                throw InputError(phrase("Settings", "--sweep: %1 is given twice"),
                                 sweeps[i].field->key);
        // this is not a large number: there are at most six lanes before it, and somebody typed the
        // list
        RunConfig next = swept(config, sweeps[i]);
        if (next.lanes.size() > kMaxLanes)
            throw InputError(
                phrase("Settings", "--sweep: these values make %1 lanes, and a run has at most %2: "
                                   "give fewer values, or fewer lanes with --lanes"),
                next.lanes.size(), kMaxLanes);
        config.lanes = std::move(next.lanes);
    }
    forgetLanes(config);
}

std::string sweptText(const RunConfig& config, size_t lane, std::span<const Sweep> sweeps) {
    std::string text;
    for (const Sweep& sweep : sweeps) {
        if (!appliesTo(*sweep.field, config, lane)) continue;
        const FieldValue value = sweep.field->get(config, static_cast<int>(lane));
        std::string words = settingWords(*sweep.field, value);
        if (words.empty()) // "default" has no words of its own
            words =
                sweep.field->key.substr(sweep.field->key.find('.') + 1) + ' ' + valueText(value);
        text += (text.empty() ? "" : ", ") + words;
    }
    return text;
}

void forgetLanes(RunConfig& config) {
    config.forks.clear();
    std::erase_if(config.edits, [](const LiveEdit& edit) {
        const Field* field = findField(edit.key);
        return field == nullptr || field->scope == FieldScope::Lane;
    });
}

} // namespace halfscope
