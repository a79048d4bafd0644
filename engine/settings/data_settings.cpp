// Goes through the table of settings, so that a new setting of the data is compared, too.
#include "engine/settings/data_settings.h"

#include "engine/core/error.h"
#include "engine/data/channel_values.h"
#include "engine/data/csv_columns.h"
#include "engine/data/dataset.h"
#include "engine/data/own_files.h"
#include "engine/data/targets.h"
#include "engine/data/text_table.h"
#include "engine/io/json_text.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace halfscope {

namespace {

/// They vary the samples to train on, or say how they are read, or keep some for the test of those
/// that are held back anyway.
constexpr std::array<std::string_view, 9> kOfTrainingAlone{
    "data.flip",   "data.crop",          "data.damaged",    "data.shuffle",   "data.workers",
    "data.latent", "data.shard_readers", "data.last_batch", "data.test_share"};
constexpr std::array<std::string_view, 5> kHoldingBack{
    "data.test", "data.validation", "data.held_back", "data.gap", "data.stratify"};

template <size_t count>
bool isOneOf(const std::array<std::string_view, count>& keys, std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool namesColumn(std::string_view key) { return key == "data.target" || key == "data.text"; }

/// Returns the value of a setting that may name a column: also where that is left open, if the
/// table can be read.
std::string namedColumn(const Field& field, const RunConfig& config) {
    std::string given = valueText(field.get(config, -1));
    if (!given.empty()) return given;
    const TaskConfig& task = config.task;
    try {
        const bool target = field.key == "data.target";
        if (task.kind == TaskKind::TextClasses) {
            const TextColumns columns = chosenColumns(task);
            return target ? columns.target : columns.text;
        }
        if (target) return targetColumn(task);
    } catch (const InputError&) { // whoever reads the samples says what is wrong
    }
    return given;
}

/// Whether two texts are the same value of a setting: .5,.5,.5 is 0.5, 0.5, 0.5.
bool isSameValue(std::string_view key, const std::string& was, const std::string& is) {
    if (was == is) return true;
    if (key != "data.mean" && key != "data.std") return false;
    try {
        return channelValuesOf(key, was) == channelValuesOf(key, is);
    } catch (const InputError&) { // somebody else wrote it
        return false;
    }
}

/// Whether a setting says the same of samples that could be trained on with what it was.
bool changesNothing(std::string_view key, const std::string& was, const TaskConfig& task) {
    if (namesColumn(key)) return was.empty();          // the table was gone by then
    if (key == "data.missing") return was == "refuse"; // so no value was missing
    // what is judged has files of its own: the setting only says what means are taken of
    return key == "data.validation" && validatesOwn(task) && !learnsMeans(task);
}

std::string textOf(const Field& field, const RunConfig& config) {
    if (namesColumn(field.key)) return namedColumn(field, config);
    if (field.key == "data.drop") { // whatever the order and the spaces between them
        std::vector<std::string> names = droppedColumns(config.task.drop);
        std::ranges::sort(names);
        std::string text;
        for (const std::string& name : names)
            text += (text.empty() ? "" : ", ") + name;
        return text;
    }
    return valueText(field.get(config, -1));
}

} // namespace

bool learnsMeans(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    return (info.has("data.standardise") && task.standardise) ||
           (info.has("data.standardise_x") && task.standardiseX) || standardisesTarget(task) ||
           (info.has("data.missing") && task.missing == Missing::Mean) ||
           (info.has("data.mean") && (task.mean == "auto" || task.deviation == "auto"));
}

std::string dataSettings(const RunConfig& config) {
    JsonText json = JsonText::object();
    for (const Field& field : fieldTable()) {
        const bool ofData = field.scope == FieldScope::Run && field.key.starts_with("data.");
        if (!ofData || field.kind == FieldKind::Path || isOneOf(kOfTrainingAlone, field.key))
            continue;
        if (field.key == "data.validation" && validatesOwn(config.task))
            json.add(field.key, std::string("0")); // none of the samples to train on
        else if (!field.applies || field.applies(config, -1))
            json.add(field.key, textOf(field, config));
    }
    return json.text();
}

std::vector<ChangedSetting> changedDataSettings(const std::string& trained,
                                                const RunConfig& config) {
    std::vector<ChangedSetting> changed;
    if (trained.empty()) return changed;
    try {
        // both as texts: a file has other bytes in place of those that are no UTF-8
        const JsonTree then = parseStrictJson(trained), now = parseStrictJson(dataSettings(config));
        if (!then.root().is_object()) return changed;
        for (const auto& [key, is] : now.root().items()) {
            const auto found = then.root().find(key);
            if (found == then.root().end() || !found->is_string()) continue;
            const std::string was = found->get<std::string>(), value = is.get<std::string>();
            if (isSameValue(key, was, value) || changesNothing(key, was, config.task)) continue;
            changed.push_back({key, was, value, isOneOf(kHoldingBack, key)});
        }
    } catch (const InputError&) { // somebody else wrote it
        changed.clear();
    }
    return changed;
}

} // namespace halfscope
