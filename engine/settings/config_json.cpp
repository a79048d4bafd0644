// Experiment files: turns JSON into RunConfig and back, driven by the field table. Every error is
// one line with the file, the key's path, the value, what is allowed, and for unknown keys the
// nearest known one.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/input_file.h"
#include "engine/io/json_text.h"
#include "engine/settings/fields.h"
#include "engine/settings/settings_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace halfscope {

namespace {

constexpr int kVersion = 1;
constexpr size_t kMaxTitleBytes = 200;

/// Returns a key of the file as messages show it.
std::string shownKey(const std::string& path, const std::string& key) {
    const std::string whole = path.empty() ? key : path + "." + key;
    const bool shows = !key.empty() && isPlainText(whole) && whole.size() <= 100;
    return shows ? whole : quotedText(whole);
}

[[noreturn]] void refuse(const std::string& path, const Message& value, const Message& allowed) {
    throw InputError(phrase("Settings", "%1: %2 is not allowed: %3"), path, value, allowed);
}

FieldValue valueOf(const Field& field, const std::string& path, const Json& value) {
    FieldValue result;
    if (value.is_boolean()) {
        result = value.get<bool>();
    } else if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}) {
        if (field.kind != FieldKind::Real)
            refuse(path, Message::data(value.dump()), allowedText(field));
        result = static_cast<double>(value.get<uint64_t>());
    } else if (value.is_number_integer()) {
        result = value.get<int64_t>();
    } else if (value.is_number_float()) {
        result = value.get<double>();
    } else if (value.is_string()) {
        result = value.get<std::string>();
    } else {
        refuse(path, shown(value), allowedText(field));
    }
    try {
        checkValue(field, result);
    } catch (const InputError&) {
        if (field.check && value.is_string()) throw;
        refuse(path, shown(value), allowedText(field, result));
    }
    return result;
}

/// Returns the section of a key; empty for a key that is used by its whole name: "precision", and
/// "precision.policy", whose first part already is a value.
std::string sectionOf(const Field& field) {
    const size_t dot = field.key.find('.');
    const std::string section = dot == std::string::npos ? std::string() : field.key.substr(0, dot);
    return findField(section) ? std::string() : section;
}

/// Returns the keys that the root of the file (Run) or a lane (Lane) may have.
std::vector<std::string> rootKeys(FieldScope scope) {
    std::vector<std::string> keys;
    if (scope == FieldScope::Run) keys = {"version", "title", "lanes", "forks", "edits"};
    for (const Field& field : fieldTable()) {
        if (field.scope != scope) continue;
        const std::string section = sectionOf(field);
        const std::string key = section.empty() ? field.key : section;
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
    return keys;
}

[[noreturn]] void unknownKey(const std::string& path, const std::string& key, const Message& hint) {
    throw InputError(phrase("Settings", "%1: unknown key%2"), shownKey(path, key), hint);
}

void readKey(RunConfig& config, int lane, FieldScope scope, const std::string& path,
             const std::string& section, const std::string& key, const Json& value) {
    const std::string fieldKey = section + "." + key;
    const Field* field = findField(fieldKey);
    if (!field || field->scope != scope) {
        unknownKey(path, key, keyHint(fieldKey));
    }
    field->set(config, lane, valueOf(*field, path + "." + key, value));
}

void readSection(RunConfig& config, int lane, FieldScope scope, const std::string& path,
                 const std::string& section, const Json& json) {
    if (!json.is_object())
        refuse(path, shown(json), {phrase("Settings", "an object with keys of %1"), section});
    // Before the rest: a preset sets all the other values, and steps undo epochs.
    const std::string early = section == "scaler" ? "preset" : section == "run" ? "steps" : "";
    const auto first = json.find(early);
    if (first != json.end()) readKey(config, lane, scope, path, section, early, *first);
    for (const auto& [key, value] : json.items()) {
        if (first == json.end() || key != early)
            readKey(config, lane, scope, path, section, key, value);
    }
}

void readLane(RunConfig& config, int lane, const std::string& path, const Json& json) {
    if (!json.is_object())
        refuse(path, shown(json),
               phrase("Settings", "an object such as {\"precision\": \"fp32\"}"));
    const Field& precision = *findField("precision");
    const auto given = json.find("precision");
    if (given == json.end()) {
        throw InputError(phrase("Settings", "%1.precision: missing; it must be %2"), path,
                         allowedText(precision));
    }
    // Before the rest: the precision brings the scaler's defaults.
    precision.set(config, lane, valueOf(precision, path + ".precision", *given));
    const std::vector<std::string> known = rootKeys(FieldScope::Lane);
    for (const auto& [key, value] : json.items()) {
        if (key == "precision") continue;
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            unknownKey(path, key, nearestHint(key, known, kNearestKnown));
        }
        if (const Field* field = findField(key)) {
            field->set(config, lane, valueOf(*field, path + "." + key, value));
            continue;
        }
        readSection(config, lane, FieldScope::Lane, path + "." + key, key, value);
    }
}

void readLanes(RunConfig& config, const Json& json) {
    if (!json.is_array())
        refuse("lanes", shown(json), phrase("Settings", "a list of 1 to 6 lanes"));
    if (json.empty() || json.size() > kMaxLanes) {
        throw InputError(phrase("Settings", "lanes: %1 lanes are not allowed: 1 to %2"),
                         json.size(), kMaxLanes);
    }
    config.lanes.assign(json.size(), defaultLane(Precision::Fp32));
    for (size_t i = 0; i < json.size(); ++i)
        readLane(config, static_cast<int>(i), "lanes." + std::to_string(i), json[i]);
}

/// Checks that an entry of `forks` or `edits` has only `known` keys and all `wanted` ones.
void checkKeys(const Json& json, const std::string& path, const std::vector<std::string>& known,
               const std::vector<std::string>& wanted) {
    if (!json.is_object())
        refuse(path, shown(json), {phrase("Settings", "an object with %1"), wanted.front()});
    for (const auto& [key, value] : json.items())
        if (std::find(known.begin(), known.end(), key) == known.end())
            unknownKey(path, key, nearestHint(key, known, kNearestKnown));
    for (const std::string& key : wanted)
        if (!json.contains(key)) throw InputError(phrase("Settings", "%1.%2: missing"), path, key);
}

int64_t wholeNumber(const Json& object, const std::string& path, const char* key, int64_t absent,
                    int64_t least, int64_t most) {
    const auto found = object.find(key);
    if (found == object.end()) return absent;
    const bool fits = found->is_number_integer() &&
                      !(found->is_number_unsigned() && found->get<uint64_t>() > INT64_MAX) &&
                      found->get<int64_t>() >= least && found->get<int64_t>() <= most;
    if (!fits)
        refuse(path + "." + key, shown(*found),
               {phrase("Settings", "a whole number from %1 to %2"), least, most});
    return found->get<int64_t>();
}

constexpr int64_t kMostSteps = 1000000000;
constexpr int64_t kMostChanges = 100000; // an hour of a slider's drags

const Json& listOf(const Json& json, const char* key, int64_t most) {
    if (!json.is_array()) refuse(key, shown(json), phrase("Settings", "a list"));
    if (json.size() > static_cast<size_t>(most))
        refuse(key, {phrase("Settings", "a list of %1 entries"), json.size()},
               {phrase("Settings", "at most %1"), most});
    return json;
}

void readForks(RunConfig& config, const Json& json) {
    const std::vector<std::string> keys{"step", "parent", "after_edits", "lane"};
    for (const Json& entry : listOf(json, "forks", static_cast<int64_t>(kMaxLanes) - 1)) {
        const std::string path = "forks." + std::to_string(config.forks.size());
        checkKeys(entry, path, keys, {"step", "parent", "lane"});
        RunConfig lane = config;
        lane.lanes.assign(1, defaultLane(Precision::Fp32));
        readLane(lane, 0, path + ".lane", entry["lane"]);
        LaneFork& fork = config.forks.emplace_back();
        fork.lane = lane.lanes.front();
        fork.step = wholeNumber(entry, path, "step", 1, 1, kMostSteps + 1);
        fork.parent = static_cast<int>(
            wholeNumber(entry, path, "parent", 0, 0, static_cast<int64_t>(kMaxLanes) - 1));
        fork.afterEdits = wholeNumber(entry, path, "after_edits", -1, 0, kMostChanges);
    }
}

void readEdits(RunConfig& config, const Json& json) {
    const std::vector<std::string> keys{"step", "lane", "key", "value"};
    for (const Json& entry : listOf(json, "edits", kMostChanges)) {
        const std::string path = "edits." + std::to_string(config.edits.size());
        checkKeys(entry, path, keys, {"step", "key", "value"});
        if (!entry["key"].is_string())
            refuse(path + ".key", shown(entry["key"]), phrase("Settings", "a live setting"));
        LiveEdit& edit = config.edits.emplace_back();
        edit.key = entry["key"].get<std::string>();
        const Field* field = findField(edit.key == kLiveScale ? "scaler.init_scale" : edit.key);
        if (!field) unknownKey(path, "key " + edit.key, keyHint(edit.key));
        edit.value = valueOf(*field, path + ".value", entry["value"]);
        edit.step = wholeNumber(entry, path, "step", 1, 1, kMostSteps + 1);
        edit.lane = static_cast<int>(
            wholeNumber(entry, path, "lane", -1, 0, static_cast<int64_t>(kMaxLanes) - 1));
    }
}

/// Places forks that do not say where they come: after the edits of their step.
void placeForks(RunConfig& config) {
    for (LaneFork& fork : config.forks)
        if (fork.afterEdits < 0)
            fork.afterEdits =
                std::count_if(config.edits.begin(), config.edits.end(),
                              [&](const LiveEdit& edit) { return edit.step <= fork.step; });
}

void readTitle(RunConfig& config, const Json& json) {
    const bool fits = json.is_string() &&
                      json.get_ref<const std::string&>().size() <= kMaxTitleBytes &&
                      isPlainText(json.get_ref<const std::string&>());
    if (!fits) {
        refuse("title", shown(json),
               {phrase("Settings", "one line of text, at most %1 bytes"), kMaxTitleBytes});
    }
    config.title = json.get<std::string>();
}

void checkVersion(const Json& root) {
    const auto version = root.find("version");
    if (version == root.end()) {
        throw InputError(phrase("Settings", "this is not an experiment of Halfscope: its version "
                                            "is missing; it must be %1"),
                         kVersion);
    }
    if (!version->is_number_integer() || *version != kVersion) {
        refuse("version", shown(*version),
               {phrase("Settings", "%1, the version that this program reads"), kVersion});
    }
}

RunConfig readRoot(const Json& root) {
    if (!root.is_object()) {
        throw InputError(phrase("Settings",
                                "%1 is not an experiment: it must be an object with version, task, "
                                "model, optimizer, schedule, gradients, run and lanes"),
                         shown(root));
    }
    checkVersion(root);
    RunConfig config = defaultConfig();
    const std::vector<std::string> known = rootKeys(FieldScope::Run);
    const std::vector<std::string> ofLanes = rootKeys(FieldScope::Lane);
    for (const auto& [key, value] : root.items()) {
        if (key == "version") continue;
        if (key == "title") {
            readTitle(config, value);
        } else if (key == "lanes") {
            readLanes(config, value);
        } else if (key == "forks") {
            readForks(config, value);
        } else if (key == "edits") {
            readEdits(config, value);
        } else if (std::find(known.begin(), known.end(), key) != known.end()) {
            readSection(config, -1, FieldScope::Run, key, key, value);
        } else if (std::find(ofLanes.begin(), ofLanes.end(), key) != ofLanes.end()) {
            throw InputError(
                phrase("Settings", "%1: not allowed here: it belongs in the objects of lanes"),
                key);
        } else {
            unknownKey({}, key, nearestHint(key, known, kNearestKnown));
        }
    }
    placeForks(config);
    checkSettings(config);
    return config;
}

JsonText jsonOf(const FieldValue& value) {
    if (const auto* truth = std::get_if<bool>(&value)) return *truth;
    if (const auto* whole = std::get_if<int64_t>(&value)) return *whole;
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    const double real = std::get<double>(value);
    // 65536 rather than 65536.0: below 2^53 a whole double and its integer are the same value.
    // Minus zero keeps its decimal point and with it its sign.
    const bool whole = std::abs(real) < 9007199254740992.0 && std::trunc(real) == real &&
                       !(real == 0 && std::signbit(real));
    return whole ? JsonText(static_cast<int64_t>(real)) : JsonText(real);
}

void put(JsonText& object, const Field& field, const RunConfig& config, int lane) {
    const std::string section = sectionOf(field);
    JsonText value = jsonOf(field.get(config, lane));
    if (section.empty()) {
        object[field.key] = std::move(value);
    } else {
        object[section][field.key.substr(section.size() + 1)] = std::move(value);
    }
}

JsonText laneJson(const RunConfig& config, int index) {
    JsonText lane;
    for (const Field& field : fieldTable())
        if (field.scope == FieldScope::Lane) put(lane, field, config, index);
    return lane;
}

JsonText forksJson(const RunConfig& config) {
    JsonText list = JsonText::list();
    for (const LaneFork& fork : config.forks) {
        RunConfig lane = config;
        lane.lanes = {fork.lane};
        JsonText entry;
        entry["step"] = fork.step;
        entry["parent"] = fork.parent;
        entry["after_edits"] = fork.afterEdits;
        entry["lane"] = laneJson(lane, 0);
        list.push_back(std::move(entry));
    }
    return list;
}

JsonText editsJson(const RunConfig& config) {
    JsonText list = JsonText::list();
    for (const LiveEdit& edit : config.edits) {
        JsonText entry;
        entry["step"] = edit.step;
        if (edit.lane >= 0) entry["lane"] = edit.lane;
        entry["key"] = edit.key;
        entry["value"] = jsonOf(edit.value);
        list.push_back(std::move(entry));
    }
    return list;
}

} // namespace

RunConfig parseConfig(std::string_view json, const std::string& name) {
    try {
        return readRoot(parseStrictJson(json).root());
    } catch (const InputError& error) {
        throw InputError(Message(kInSettingsFile, pathText(name), error.message()));
    }
}

RunConfig readConfig(const std::string& path) {
    RunConfig config = parseConfig(readFile(path, kMostJsonBytes), path);
    for (const Field& field : fieldTable()) {
        if (field.kind != FieldKind::Path || field.scope != FieldScope::Run) continue;
        const std::filesystem::path given = std::get<std::string>(field.get(config, -1));
        if (given.empty() || !given.is_relative()) continue;
        const auto folder = std::filesystem::path(path).parent_path();
        field.set(config, -1, (folder / given).lexically_normal().string());
    }
    const auto place = [&path](LaneConfig& lane) {
        const std::filesystem::path policy = lane.policyFile;
        if (policy.empty() || !policy.is_relative()) return;
        const auto folder = std::filesystem::path(path).parent_path();
        lane.policyFile = (folder / policy).lexically_normal().string();
    };
    for (LaneConfig& lane : config.lanes)
        place(lane);
    for (LaneFork& fork : config.forks)
        place(fork.lane);
    return config;
}

std::string configText(const RunConfig& config) {
    JsonText root;
    root["version"] = kVersion;
    root["title"] = config.title;
    for (const Field& field : fieldTable()) {
        if (field.scope == FieldScope::Run) put(root, field, config, -1);
    }
    JsonText lanes = JsonText::list();
    for (size_t i = 0; i < config.lanes.size(); ++i)
        lanes.push_back(laneJson(config, static_cast<int>(i)));
    root["lanes"] = std::move(lanes);
    if (!config.forks.empty()) root["forks"] = forksJson(config);
    if (!config.edits.empty()) root["edits"] = editsJson(config);
    return root.text();
}

} // namespace halfscope
