// The one table of settings. It drives JSON files, checks, the command line, the window's panels,
// tool tips and the reference in the manual.
#pragma once

#include "engine/core/message.h"
#include "engine/settings/run_config.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

enum class FieldKind : uint8_t { Bool, Integer, Real, Choice, Path, Text };
enum class FieldScope : uint8_t { Run, Lane };
/// When an edit acts: at the next step boundary, or when the run starts again.
enum class FieldEffect : uint8_t { Live, Restart };

/// How an edit acts on a lane that runs. Experiment carries it out.
enum class FieldApply : uint8_t {
    Nothing,  ///< it does not: it needs a restart
    Pace,     ///< the window trains at another pace; no number of the run depends on it
    Length,   ///< the run ends at another step; lanes are left alone
    Scaler,   ///< the lane's scaler and its rules
    Rates,    ///< the tables of learning rates
    Training, ///< the lane's step is compiled again and continues with all its states
};

struct Field {
    std::string key; ///< "scaler.growth_interval": its place in the file and in --set
    Phrase group;    ///< "Task", "Network", "Optimizer", "Schedule", "Gradients", "Run", ...
    Phrase label;    ///< "Growth interval"
    Phrase unit;     ///< "steps", "pixels", or empty
    Message help;    ///< one or two sentences, for tool tips and the reference
    FieldKind kind = FieldKind::Real;
    FieldScope scope = FieldScope::Run;
    FieldEffect effect = FieldEffect::Restart;
    FieldApply apply = FieldApply::Nothing; ///< of a live field, never Nothing
    double minimum = 0, maximum = 0;        ///< numbers; both included
    bool exclusiveMinimum = false;          ///< the minimum itself is not allowed
    bool exclusiveMaximum = false;          ///< the maximum itself is not allowed
    bool logarithmic = false;               ///< a slider moves by powers of two (or ten)
    std::vector<std::string> choices;       ///< Choice
    /// Text of several lines that has rules of its own: InputError, a whole sentence with the key.
    std::function<void(const std::string&)> check{};
    Phrase allowed{}; ///< what such a text may be
    /// Whether the field means something for this configuration (frequency: only the checkerboard).
    std::function<bool(const RunConfig&, int lane)> applies;
    /// Run fields ignore `lane`.
    std::function<FieldValue(const RunConfig&, int lane)> get;
    std::function<void(RunConfig&, int lane, const FieldValue&)> set; ///< value is checked already
};

/// No field: the loss scale at hand, which a live edit can set.
inline constexpr const char* kLiveScale = "scaler.scale";

std::span<const Field> fieldTable();
/// nullptr when there is none.
const Field* findField(std::string_view key);
/// The known key that is closest to a misspelt one.
std::string nearestKey(std::string_view key);
/// The end of a message about an unknown key: the nearest one where it can have been meant, else
/// where they are listed.
Message keyHint(std::string_view key);

/// Checks kind and range; InputError "scaler.init_scale: -1 is not allowed: a number above 0 and at
/// most 3.4e+38".
void checkValue(const Field&, const FieldValue&);
/// Parses text ("1024", "2^10", "true", "adam") for a field and checks it.
FieldValue parseValue(const Field&, std::string_view text);
/// A checked value in the type that the field's kind has: 8 for a real number is 8.0.
FieldValue valueFor(const Field&, const FieldValue&);
std::string valueText(const FieldValue&);
/// What is allowed, in words: "a whole number from 1 to 8".
Message allowedText(const Field&);
/// The same, and why a number inside the range is refused: devices hold it as float32, where it may
/// be the end that is not allowed.
Message allowedText(const Field&, const FieldValue& refused);

/// Sets a field of the run, or of one lane (lane < 0: of every lane). InputError for unknown keys,
/// which names the nearest known one.
void setField(RunConfig&, int lane, std::string_view key, const FieldValue&);
/// "scaler.init_scale=1024", or "lanes.1.scaler.init_scale=1024" for one lane, with a checked
/// value. InputError.
struct Assignment {
    int lane = -1;
    const Field* field = nullptr;
    FieldValue value;
};
Assignment parseAssignment(std::string_view);
void applySetting(RunConfig&, std::string_view assignment);

/// Reads an experiment file's text; `name` is the file for messages. Absent keys keep their
/// defaults. InputError for bad JSON (with line and column), unknown keys, wrong types, out of
/// range.
RunConfig parseConfig(std::string_view json, const std::string& name);
RunConfig readConfig(const std::string& path);
/// Complete: every field that exists, version first.
std::string configText(const RunConfig&);
/// Checks every field, and what one alone cannot: lanes 1 to 6, batch <= samples, a first scale
/// within the scaler's guards, what optimizers, schedules and precisions refuse, forks and edits
/// that the run can go through. InputError.
void checkConfig(const RunConfig&);
/// The part of it that a lane can be checked by alone, such as one that is forked.
void checkLane(const LaneConfig&, size_t index);
/// What several settings together refuse of an edit in the middle of a run: a setting of the run
/// that means nothing beside the others, optimizers, lengths. InputError.
void checkEdited(const RunConfig&, const Field& edited);
/// What a live edit may set: a live field, or kLiveScale, which takes what a first scale may be.
/// InputError for any other key, and for a value that is not allowed.
void checkLiveEdit(std::string_view key, const FieldValue&);

/// Lanes by precision, "fp32,amp-fp16", each as its precision starts it. `before`, the lanes that
/// they replace: the nth lane of a precision keeps the settings of the nth that was there, and
/// further ones those of the last.
std::vector<LaneConfig> parseLanes(std::string_view list, std::span<const LaneConfig> before = {});
/// Whether a lane that scales its loss replaces one whose loss scaler had other settings than its
/// precision starts with, which are lost: the two precisions' names; empty ones otherwise.
struct LostScaler {
    std::string had, has;
};
LostScaler lostScaler(std::span<const LaneConfig> before, std::span<const LaneConfig> after);

/// The settings at the end of a recorded run: its forks stand among the lanes, its edits among the
/// settings.
RunConfig settingsAtEnd(RunConfig recorded);

struct Preset {
    std::string name; ///< "checkerboard"
    Phrase group;     ///< "Examples": the heading under which lists and menus show it
    Phrase title;     ///< "Checkerboard"
    Phrase about;     ///< one sentence
    RunConfig config;
};
/// Presets of a group stand together; the first one is what the window opens with.
std::span<const Preset> presets();
/// InputError names the nearest preset.
const Preset& presetNamed(std::string_view name);

/// The reference of settings as Markdown, for the manual.
std::string fieldReference();

} // namespace halfscope
