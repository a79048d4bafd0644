// Everything that is done with a field: finding it; checking, parsing and printing a value; setting
// it in a configuration. Also the checks that need several fields, and the reference of settings.
// The table is in field_table.cpp.
#include "engine/settings/fields.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/class_weights.h"
#include "engine/data/dataset.h"
#include "engine/data/losses.h"
#include "engine/settings/field_parts.h"
#include "engine/settings/precision_plan.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/settings/scaler_checks.h"
#include "engine/settings/schedule_checks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace halfscope {

namespace {

constexpr double kExactWhole = 9007199254740992.0; // 2^53: above it, doubles skip whole numbers
constexpr std::string_view kDeviceKey = "run.device";
constexpr std::string_view kLayersKey = "precision.layers";

Message shown(const FieldValue& value) {
    if (const auto* text = std::get_if<std::string>(&value))
        return Message::data(quotedText(*text));
    return valueMessage(value);
}

[[noreturn]] void refuse(const Field& field, const Message& value, const Message& allowed) {
    throw InputError(phrase("Settings", "%1: %2 is not allowed: %3"), field.key, value, allowed);
}

/// Whether the text is "auto", a device, or one device per lane.
bool isDeviceText(std::string_view text) {
    if (text == "auto") return true;
    const size_t comma = text.find(',');
    if (comma != std::string_view::npos && !isDeviceText(text.substr(comma + 1))) return false;
    if (comma != std::string_view::npos && text.ends_with("auto")) return false;
    std::string_view name = text.substr(0, comma);
    if (name == "cpu" || name == "cuda") return true;
    if (!name.starts_with("cuda:")) return false;
    name.remove_prefix(5);
    return !name.empty() && name.size() <= 3 &&
           name.find_first_not_of("0123456789") == std::string_view::npos;
}

bool inRange(const Field& field, double x) {
    if (!std::isfinite(x) || x < field.minimum || x > field.maximum) return false;
    // Devices hold these values as float32: a factor that rounds to 1 there would be 1.
    const float stored = static_cast<float>(x);
    if (field.exclusiveMinimum && stored <= static_cast<float>(field.minimum)) return false;
    return !(field.exclusiveMaximum && stored >= static_cast<float>(field.maximum));
}

bool takesText(FieldKind kind) { return kind == FieldKind::Path || kind == FieldKind::Text; }

bool isAllowed(const Field& field, const FieldValue& value) {
    const auto* whole = std::get_if<int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    const auto* text = std::get_if<std::string>(&value);
    switch (field.kind) {
    case FieldKind::Bool: return std::holds_alternative<bool>(value);
    case FieldKind::Integer:
        if (real && (std::abs(*real) > kExactWhole || std::trunc(*real) != *real)) return false;
        return (whole && inRange(field, static_cast<double>(*whole))) ||
               (real && inRange(field, *real));
    case FieldKind::Real:
        return (whole && inRange(field, static_cast<double>(*whole))) ||
               (real && inRange(field, *real));
    case FieldKind::Choice:
        return text && (std::find(field.choices.begin(), field.choices.end(), *text) !=
                            field.choices.end() ||
                        (!text->empty() && *text == field.unoffered));
    case FieldKind::Path:
    case FieldKind::Text:
        if (!text || text->size() > kMostSettingBytes || !isPlainText(*text)) return false;
        if (field.key == kLayersKey) return forcedLayers(*text).has_value();
        return field.key != kDeviceKey || isDeviceText(*text);
    }
    return false;
}

/// Returns the words for a range; %1 is the least and %2 the largest number.
Phrase rangePhrase(const Field& field) {
    if (field.exclusiveMinimum && field.exclusiveMaximum)
        return phrase("Settings", "a number above %1 and below %2");
    if (field.exclusiveMinimum) return phrase("Settings", "a number above %1 and at most %2");
    if (field.exclusiveMaximum) return phrase("Settings", "a number from %1 and below %2");
    return phrase("Engine", "a number from %1 to %2");
}

/// Returns the part after the last dot, which is what people remember of a key.
std::string_view lastPart(std::string_view key) {
    const size_t dot = key.rfind('.');
    return dot == std::string_view::npos ? key : key.substr(dot + 1);
}

/// Returns nothing unless the whole text is one number.
template <class Number>
std::optional<Number> numberFrom(std::string_view text) {
    if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
    Number number{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// Reads "2^10", with or without spaces, because people think of scales as powers. Infinite when it
/// is too large for a double.
std::optional<double> powerFrom(std::string_view text) {
    const size_t hat = text.find('^');
    if (hat == std::string_view::npos || trimmed(text.substr(0, hat)) != "2") return std::nullopt;
    const auto exponent = numberFrom<int>(trimmed(text.substr(hat + 1)));
    return exponent ? std::optional(std::exp2(static_cast<double>(*exponent))) : std::nullopt;
}

/// Whether a setting is a loss scale or a limit of one, which people give as powers of two.
bool isScale(const Field& field) {
    return field.kind == FieldKind::Real && field.logarithmic && field.key.starts_with("scaler.");
}

/// Returns what is allowed where a value is given as text; a file has numbers alone.
Message withPowers(const Field& field) {
    return {phrase("Settings", "%1, also as a power such as 2^10"), allowedText(field)};
}

} // namespace

const Field* findField(std::string_view key) {
    if (key == "task.kind") key = "data.kind"; // its name in older files
    const auto table = fieldTable();
    const auto found = std::find_if(table.begin(), table.end(),
                                    [key](const Field& field) { return field.key == key; });
    return found == table.end() ? nullptr : &*found;
}

std::string nearestKey(std::string_view key) {
    key = key.substr(0, 100); // anything longer is not a misspelling
    std::string best;
    size_t fewest = ~size_t{0};
    for (const Field& field : fieldTable()) {
        // "lr" and "run.lr" both mean optimizer.lr: the last part counts most; when it is the whole
        // key, it counts even more
        const size_t name =
            lastPart(key).empty() ? 0 : editDistance(lastPart(key), lastPart(field.key));
        const size_t weight = lastPart(key) == key ? 4 : 2;
        const size_t edits = weight * name + editDistance(key, field.key);
        if (edits < fewest) {
            fewest = edits;
            best = field.key;
        }
    }
    return best;
}

Message keyHint(std::string_view key) {
    const std::string nearest = nearestKey(key);
    if (isNear(key, nearest) || isNear(lastPart(key), lastPart(nearest)))
        return {kNearestKnown, nearest};
    return phrase("Settings", "; halfscope-cli settings lists all");
}

void checkValue(const Field& field, const FieldValue& value) {
    if (const auto* text = std::get_if<std::string>(&value); text && field.check)
        return field.check(*text);
    if (!isAllowed(field, value)) refuse(field, shown(value), allowedText(field, value));
}

FieldValue parseValue(const Field& field, std::string_view given) {
    const std::string_view text = trimmed(given);
    FieldValue value = std::string(text);
    if (field.kind == FieldKind::Bool) {
        if (text == "true" || text == "false") value = text == "true";
    } else if (field.kind == FieldKind::Integer || field.kind == FieldKind::Real) {
        // Whole numbers first: a seed above 2^53 is not exact as a double.
        if (const auto whole = numberFrom<int64_t>(text)) {
            value = *whole;
        } else if (const auto real = numberFrom<double>(text)) {
            value = *real;
        } else if (const auto power = powerFrom(text)) {
            value = *power;
        }
        if (std::holds_alternative<std::string>(value)) {
            refuse(field,
                   text.empty() ? Message(phrase("Settings", "an empty value"))
                                : Message::data(quotedText(text)),
                   isScale(field) ? withPowers(field) : allowedText(field));
        }
    }
    const Message allowed = allowedText(field, value);
    if (isScale(field) && !isAllowed(field, value) && allowed == allowedText(field))
        refuse(field, shown(value), withPowers(field));
    checkValue(field, value);
    return valueFor(field, value);
}

FieldValue valueFor(const Field& field, const FieldValue& value) {
    if (field.kind == FieldKind::Integer && std::holds_alternative<double>(value))
        return static_cast<int64_t>(std::get<double>(value));
    if (field.kind == FieldKind::Real && std::holds_alternative<int64_t>(value))
        return static_cast<double>(std::get<int64_t>(value));
    return value;
}

std::string valueText(const FieldValue& value) {
    if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
    if (const auto* whole = std::get_if<int64_t>(&value)) return numberText(*whole);
    if (const auto* real = std::get_if<double>(&value)) return Message::number(*real).english();
    return std::get<std::string>(value);
}

Message valueMessage(const FieldValue& value) {
    if (const auto* whole = std::get_if<int64_t>(&value)) return Message::number(*whole);
    if (const auto* real = std::get_if<double>(&value)) return Message::number(*real);
    return Message::data(valueText(value));
}

Phrase titleOfChoice(const Field& field, std::string_view choice) {
    const auto found = std::find(field.choices.begin(), field.choices.end(), choice);
    const auto place = static_cast<size_t>(found - field.choices.begin());
    return place < field.titles.size() ? field.titles[place] : Phrase();
}

Message allowedText(const Field& field) {
    const auto number = [&field](double x) {
        const bool whole = field.kind == FieldKind::Integer;
        if (!whole) return Message::number(x);
        // 2^63 as a double is one more than the largest int64_t
        return Message::number(x >= 9223372036854775807.0 ? INT64_MAX : static_cast<int64_t>(x));
    };
    switch (field.kind) {
    case FieldKind::Bool: return phrase("Settings", "true or false");
    case FieldKind::Integer:
        return {phrase("Engine", "a whole number from %1 to %2"), number(field.minimum),
                number(field.maximum)};
    case FieldKind::Real: return {rangePhrase(field), number(field.minimum), number(field.maximum)};
    case FieldKind::Choice: {
        std::vector<Message> choices;
        for (const std::string& choice : field.choices)
            choices.push_back(Message::data(choice));
        if (choices.size() == 1) return choices.front();
        return {phrase("Settings", "one of %1"), listed(choices)};
    }
    case FieldKind::Path: return phrase("Settings", "a path in plain UTF-8, or nothing");
    case FieldKind::Text:
        if (field.key == kLayersKey)
            return phrase("Settings",
                          "pairs such as layer 1=float32, output layer=float16 with each layer "
                          "once and float32, float16 or bfloat16, or nothing");
        if (field.check) return field.allowed;
        return field.key == kDeviceKey
                   ? phrase(
                         "Settings",
                         "auto, cpu, cuda or cuda:INDEX, or one for each lane with commas between")
                   : phrase("Settings", "plain UTF-8 text");
    }
    return {};
}

Message allowedText(const Field& field, const FieldValue& refused) {
    if (const auto* text = std::get_if<std::string>(&refused); text && takesText(field.kind)) {
        if (text->size() > kMostSettingBytes)
            return {phrase("Settings", "at most %1 bytes; it has %2"), kMostSettingBytes,
                    text->size()};
        if (std::ranges::any_of(*text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7F'; }))
            return phrase("Settings", "text without line breaks and other control characters");
    }
    const auto* real = std::get_if<double>(&refused);
    const bool rounds =
        field.kind == FieldKind::Real && real && *real > field.minimum && *real < field.maximum;
    if (!rounds) return allowedText(field);
    return {phrase("Settings", "%1; as float32 it is %2"), allowedText(field),
            static_cast<float>(*real)};
}

void setField(RunConfig& config, int lane, std::string_view key, const FieldValue& value) {
    const Field* field = findField(key);
    if (!field) {
        throw InputError(phrase("Settings", "%1: unknown setting%2"), key, keyHint(key));
    }
    checkValue(*field, value);
    const int lanes = static_cast<int>(config.lanes.size());
    if (field->scope == FieldScope::Run) {
        field->set(config, lane, value);
    } else if (lane >= lanes) {
        throw InputError(phrase("Settings", "lanes.%1: there is no such lane: 0 to %2"), lane,
                         lanes - 1);
    } else if (lane >= 0) {
        field->set(config, lane, value);
    } else {
        for (int each = 0; each < lanes; ++each)
            field->set(config, each, value);
    }
}

void applySetting(RunConfig& config, std::string_view assignment) {
    const Assignment parsed = parseAssignment(assignment);
    setField(config, parsed.lane, parsed.field->key, parsed.value);
}

Assignment parseAssignment(std::string_view assignment) {
    const size_t equals = assignment.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        throw InputError(
            phrase("Settings", "%1 is not a setting: KEY=VALUE, such as scaler.init_scale=2^10"),
            quotedText(assignment));
    }
    std::string_view key = trimmed(assignment.substr(0, equals));
    int lane = -1;
    // messages call a lane lanes[1]
    if (key == "lanes" || key.starts_with("lanes.") || key.starts_with("lanes[")) {
        const std::string_view rest = key.starts_with("lanes.") ? key.substr(6) : "";
        const size_t dot = std::min(rest.find('.'), rest.size());
        const auto index = numberFrom<int>(rest.substr(0, dot));
        if (!index || *index < 0 || dot + 1 >= rest.size()) {
            throw InputError(phrase("Settings", "%1 is not a lane's setting: lanes.INDEX.KEY, such "
                                                "as lanes.1.scaler.init_scale"),
                             quotedText(key));
        }
        lane = *index;
        key = rest.substr(dot + 1);
    }
    const Field* field = findField(key);
    if (!field) {
        throw InputError(phrase("Settings", "%1 is an unknown setting%2"), quotedText(key),
                         keyHint(key));
    }
    if (lane >= 0 && field->scope == FieldScope::Run) {
        throw InputError(
            phrase("Settings", "%1 belongs to the whole run, not to a lane: set %2=VALUE"),
            field->key, field->key);
    }
    return {lane, field, parseValue(*field, assignment.substr(equals + 1))};
}

namespace {

void checkBatches(const RunConfig& config) {
    const DataSetInfo& data = infoOf(config.task.kind);
    if (Message refused = lossObstacle(config, infoOf(config.task.loss.kind).name);
        !refused.empty())
        throw InputError(std::move(refused));
    if (data.wholeSet) return;
    if (!data.fromFiles && config.task.batch > config.task.samples) {
        throw InputError(
            phrase("Settings", "task.batch: %1 is not allowed: at most task.samples, %2"),
            config.task.batch, config.task.samples);
    }
    if (config.model.layers.empty() && config.model.norm == Norm::BatchNorm &&
        config.task.batch == 1)
        throw InputError(phrase("Settings", "task.batch: 1 is not allowed with model.norm batch: a "
                                            "variance over one sample does not exist; at least 2"));
}

/// Checks the numbers of samples and classes that the files have now, and the last batch of an
/// epoch, which has its own number of samples: a single sample has no variance.
void checkData(const RunConfig& config) {
    if (infoOf(config.task.kind).wholeSet) return;
    const std::optional<DataFacts> facts = knownFactsOf(config);
    if (facts && !config.onlyJudges && config.task.batch > facts->train)
        throw InputError(phrase("Settings",
                                "task.batch: %1 is not allowed: at most %2, the samples "
                                "to train on"),
                         config.task.batch, facts->train);
    if (facts) checkClassWeights(config.task.loss, facts->tensors[kTarget].classes);
    const bool norms = config.model.layers.empty() && config.model.norm == Norm::BatchNorm;
    if (!norms || config.onlyJudges) return;
    if (epochPlanOf(config).lastRows() == 1)
        throw InputError(
            phrase("Settings",
                   "data.last_batch: keep is not allowed with model.norm batch where one of %1 "
                   "samples is left over: drop, or another batch"),
            epochPlanOf(config).samples);
}

/// Refuses an optimizer that has nothing to cycle, as OneCycleLR does.
void checkCycledMomentum(const char* key, OptimizerKind kind) {
    if (infoOf(kind).has.betas || infoOf(kind).has.momentum) return;
    throw InputError(phrase("Settings", "schedule.cycle_momentum: true is not allowed with %1 %2, "
                                        "which has no momentum: only false is"),
                     key, nameOf(kind));
}

/// Refuses the combinations that torch.optim.SGD and OneCycleLR refuse.
void checkTraining(const RunConfig& config) {
    const OptimizerConfig& optimizer = config.optimizer;
    const bool used = infoOf(optimizer.kind).has.nesterov ||
                      (networksOf(config.model) > 1 && infoOf(config.second.kind).has.nesterov);
    if (used && optimizer.nesterov && (optimizer.momentum == 0 || optimizer.dampening != 0))
        throw InputError(phrase(
            "Settings", "optimizer.nesterov: true is not allowed without optimizer.momentum or "
                        "with optimizer.dampening: a momentum above 0 and a dampening of 0"));
    checkFollowing(config);
    checkPatience(config);
    const ScheduleConfig& schedule = config.schedule;
    if (cyclesMomentum(schedule)) {
        checkCycledMomentum("optimizer.kind", optimizer.kind);
        if (networksOf(config.model) > 1)
            checkCycledMomentum("optimizer.second_kind", config.second.kind);
    }
    if (schedule.kind == ScheduleKind::OneCycle && schedule.threePhase && schedule.pctStart > 0.5)
        throw InputError(phrase("Settings",
                                "schedule.pct_start: %1 is not allowed with schedule.three_phase: "
                                "at most 0.5, because the second phase is as long as the first"),
                         schedule.pctStart);
}

/// Checks the settings of a critic, which compares predictions with targets of their kind and has a
/// penalty of its own.
void checkAdversary(const RunConfig& config) {
    if (!isAdversarial(config.model)) return;
    const char* adversary = nameOf(config.model.adversary);
    if (infoOf(config.task.loss.kind).ofLabels)
        throw InputError(phrase("Settings", "model.adversary: %1 is not allowed where targets are "
                                            "classes, as with data.kind %2 and task.loss %3"),
                         adversary, infoOf(config.task.kind).name,
                         infoOf(config.task.loss.kind).name);
    if (config.gradients.penalty != 0)
        throw InputError(phrase("Settings", "gradients.penalty: %1 is not allowed with "
                                            "model.adversary %2: only 0 is"),
                         config.gradients.penalty, adversary);
}

/// Returns the configuration with the lanes of all forks.
RunConfig withForks(const RunConfig& config) {
    RunConfig whole = config;
    for (size_t i = 0; i < config.forks.size(); ++i) {
        const LaneFork& fork = config.forks[i];
        const std::string path = "forks." + std::to_string(i);
        const auto lanes = static_cast<int>(whole.lanes.size());
        if (fork.step < 1 || (i > 0 && fork.step < config.forks[i - 1].step))
            throw InputError(
                phrase("Settings",
                       "%1.step: %2 is not allowed: at least 1 and the step of the fork before it"),
                path, fork.step);
        if (fork.parent < 0 || fork.parent >= lanes)
            throw InputError(
                phrase("Settings", "%1.parent: %2 is not allowed: a lane that is there, 0 to %3"),
                path, fork.parent, lanes - 1);
        const auto edits = static_cast<int64_t>(config.edits.size());
        const int64_t least = i > 0 ? config.forks[i - 1].afterEdits : 0;
        if (fork.afterEdits < least || fork.afterEdits > edits)
            throw InputError(
                phrase("Settings",
                       "%1.after_edits: %2 is not allowed: %3 to the number of edits, %4"),
                path, fork.afterEdits, least, edits);
        whole.lanes.push_back(fork.lane);
    }
    return whole;
}

/// Allows at most one device per lane: the rest would be ignored silently.
void checkDevices(const RunConfig& config) {
    const auto devices = 1 + std::count(config.device.begin(), config.device.end(), ',');
    const auto lanes = static_cast<std::ptrdiff_t>(config.lanes.size());
    if (devices > lanes)
        throw InputError(lanes == 1
                             ? phrase("Settings", "%1: %2 is not allowed: %3 devices for %4 lane")
                             : phrase("Settings", "%1: %2 is not allowed: %3 devices for %4 lanes"),
                         kDeviceKey, quotedText(config.device), devices, lanes);
}

void checkEdits(const RunConfig& config) {
    for (size_t i = 0; i < config.edits.size(); ++i) {
        const LiveEdit& edit = config.edits[i];
        const std::string path = "edits." + std::to_string(i);
        if (edit.step < 1 || (i > 0 && edit.step < config.edits[i - 1].step))
            throw InputError(
                phrase("Settings",
                       "%1.step: %2 is not allowed: at least 1 and the step of the edit before it"),
                path, edit.step);
        const auto forks =
            std::count_if(config.forks.begin(), config.forks.end(), [i](const LaneFork& fork) {
                return fork.afterEdits <= static_cast<int64_t>(i);
            });
        const int64_t lanes = static_cast<int64_t>(config.lanes.size()) + forks;
        if (edit.lane < -1 || edit.lane >= lanes)
            throw InputError(
                phrase(
                    "Settings",
                    "%1.lane: %2 is not allowed: a lane that is there, 0 to %3, or none for all"),
                path, edit.lane, lanes - 1);
        try {
            checkLiveEdit(edit.key, edit.value);
        } catch (const InputError& error) {
            throw InputError(within(path, error.message()));
        }
    }
}

} // namespace

void checkEdited(const RunConfig& config, const Field& edited) {
    for (size_t lane = 0; lane < config.lanes.size(); ++lane)
        if (edited.key.starts_with("scaler.")) checkGuards(config.lanes[lane].scaler, lane);
    if (edited.scope == FieldScope::Lane) return;
    if (!edited.applies(config, -1))
        throw InputError(
            phrase("Settings",
                   "%1 cannot be changed: with the other settings of this run it has no effect"),
            edited.key);
    checkTraining(config);
}

void checkReached(const RunConfig& config, int lane, const Field& edited) {
    if (!edited.key.starts_with("scaler.")) return;
    for (size_t i = 0; i < config.lanes.size(); ++i)
        if ((lane < 0 || i == static_cast<size_t>(lane)) &&
            presetOf(config.lanes[i].precision).mayScale)
            return;
    if (lane < 0)
        throw InputError(phrase("Settings", "%1 cannot be changed: no lane scales its loss"),
                         edited.key);
    throw InputError(phrase("Settings", "%1 cannot be changed: with precision %2, the lane does "
                                        "not scale its loss"),
                     edited.key, presetOf(config.lanes[static_cast<size_t>(lane)].precision).name);
}

void checkLiveEdit(std::string_view key, const FieldValue& value) {
    const Field* field = findField(key == kLiveScale ? "scaler.init_scale" : key);
    if (!field) throw InputError(phrase("Settings", "unknown setting %1%2"), key, keyHint(key));
    Field edited = *field;
    edited.key = key;
    if (key != kLiveScale && field->effect != FieldEffect::Live)
        throw InputError(
            phrase("Settings",
                   "%1 cannot be changed during a run; it takes effect after a restart"),
            field->key);
    checkValue(edited, value);
}

void checkLane(const LaneConfig& lane, size_t index) {
    RunConfig alone;
    alone.lanes = {lane};
    for (const Field& field : fieldTable())
        if (field.scope == FieldScope::Lane) checkValue(field, field.get(alone, 0));
    checkGuards(lane.scaler, index);
    checkPrecision(lane, index);
}

void checkSettings(const RunConfig& start) {
    checkEdits(start);
    const RunConfig config = withForks(start);
    if (config.lanes.empty() || config.lanes.size() > kMaxLanes) {
        throw InputError(phrase("Settings", "lanes: %1 lanes are not allowed: 1 to %2"),
                         config.lanes.size(), kMaxLanes);
    }
    checkDevices(config);
    for (const Field& field : fieldTable()) {
        const int lanes =
            field.scope == FieldScope::Run ? 1 : static_cast<int>(config.lanes.size());
        for (int lane = 0; lane < lanes; ++lane)
            checkValue(field, field.get(config, lane));
    }
    for (size_t lane = 0; lane < config.lanes.size(); ++lane) {
        checkGuards(config.lanes[lane].scaler, lane); // no first scale fits guards that do not
        checkPrecision(config.lanes[lane], lane);
    }
    // a fork continues with its parent's scale, so only the first lanes are checked
    for (size_t lane = 0; lane < start.lanes.size(); ++lane)
        checkFirstScale(start.lanes[lane].scaler, lane);
    checkTraining(config);
    checkBatches(config);
    checkAdversary(config);
    checkLengths(config);
}

void checkConfig(const RunConfig& config) {
    checkSettings(config);
    checkData(config);
}

RunConfig settingsAtEnd(RunConfig recorded) {
    RunConfig config = std::move(recorded);
    for (LaneFork& fork : std::exchange(config.forks, {}))
        config.lanes.push_back(std::move(fork.lane));
    for (const LiveEdit& edit : std::exchange(config.edits, {}))
        if (edit.key != kLiveScale) setField(config, edit.lane, edit.key, edit.value);
    return config;
}

} // namespace halfscope
