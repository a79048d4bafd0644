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
/// When an edit takes effect: at the next step boundary, or when the run starts again.
enum class FieldEffect : uint8_t { Live, Restart };

/// How an edit changes a lane that is running. Experiment carries it out.
enum class FieldApply : uint8_t {
    Nothing,  ///< it changes nothing: it needs a restart
    Pace,     ///< the window trains at another pace; no number of the run depends on that
    Length,   ///< the run ends at another step; lanes do not change
    Patience, ///< the run waits longer or shorter for a better validation; likewise
    Scaler,   ///< the lane's scaler and its rules
    Rates,    ///< the tables of learning rates
    Training, ///< the lane's step is compiled again and continues with all its states
};

struct Field {
    std::string key; ///< its key in the file and in --set: "scaler.growth_interval"
    Phrase group;    ///< "Task", "Network", "Optimizer", "Schedule", "Gradients", "Run", ...
    Phrase label;    ///< "Growth interval"
    Phrase unit;     ///< "steps", "pixels", or empty
    Message help;    ///< one or two sentences, for tool tips and the reference
    FieldKind kind = FieldKind::Real;
    FieldScope scope = FieldScope::Run;
    FieldEffect effect = FieldEffect::Restart;
    FieldApply apply = FieldApply::Nothing; ///< for a live field, never Nothing
    double minimum = 0, maximum = 0;        ///< for numbers; both included
    bool exclusiveMinimum = false;          ///< the minimum itself is not allowed
    bool exclusiveMaximum = false;          ///< the maximum itself is not allowed
    bool logarithmic = false;               ///< a slider moves by powers of two (or of ten)
    std::vector<std::string> choices;       ///< for FieldKind::Choice
    /// What each choice is, "mse: mean of squared errors"; empty where the help says so.
    std::vector<Message> meanings{};
    /// What the window calls each choice; empty where it shows the choices themselves.
    std::vector<Phrase> titles{};
    /// What titles say of a check box that is on, and of one that is off; empty where its name with
    /// "on" or "off" behind it reads well.
    Phrase whenOn{}, whenOff{};
    /// Says why a choice is not allowed beside the other settings; null where all of them are.
    std::function<Message(const RunConfig&, std::string_view choice)> obstacle{};
    std::string unoffered{}; ///< one more choice, which files may have but nobody can choose
    /// Checks a text of several lines that has rules of its own. Throws InputError, a whole
    /// sentence with the key.
    std::function<void(const std::string&)> check{};
    Phrase allowed{}; ///< what such a text may be, in words
    /// Whether the field means something for this configuration (frequency: only for the
    /// checkerboard).
    std::function<bool(const RunConfig&, int lane)> applies;
    /// Fields of the run ignore `lane`.
    std::function<FieldValue(const RunConfig&, int lane)> get;
    std::function<void(RunConfig&, int lane, const FieldValue&)> set; ///< takes checked values
};

/// Not a field: the current loss scale, which a live edit can set.
inline constexpr const char* kLiveScale = "scaler.scale";
/// The key of the setting that says when the loss scale grows.
inline constexpr const char* kGrowthTest = "scaler.growth_test";

std::span<const Field> fieldTable();
/// Returns the field, or nullptr when there is none.
const Field* findField(std::string_view key);
/// Returns the known key that is closest to a misspelt one.
std::string nearestKey(std::string_view key);
/// Returns the end of a message about an unknown key: the nearest key if it may have been meant,
/// else where the keys are listed.
Message keyHint(std::string_view key);

/// Checks kind and range. Throws InputError "scaler.init_scale: -1 is not allowed: a number above 0
/// and at most 3.4e+38".
void checkValue(const Field&, const FieldValue&);
/// Parses text ("1024", "2^10", "true", "adam") for a field and checks it.
FieldValue parseValue(const Field&, std::string_view text);
/// Returns a checked value in the type that the field's kind has: 8 becomes 8.0 for a real number.
FieldValue valueFor(const Field&, const FieldValue&);
std::string valueText(const FieldValue&);
/// Returns what the window calls a choice; empty where it shows the choice itself.
Phrase titleOfChoice(const Field&, std::string_view choice);
/// Returns the same for use in a message, in which a number is one.
Message valueMessage(const FieldValue&);
/// Returns what is allowed, in words: "a whole number from 1 to 8".
Message allowedText(const Field&);
/// Returns the same and, for a number inside the range, why it is refused: devices hold it as
/// float32, where it may become the end of the range that is not allowed.
Message allowedText(const Field&, const FieldValue& refused);

/// Sets a field of the run, or of one lane (lane < 0: of every lane). Throws InputError for unknown
/// keys, which names the nearest known one.
void setField(RunConfig&, int lane, std::string_view key, const FieldValue&);
/// A key with a checked value: "scaler.init_scale=1024", or "lanes.1.scaler.init_scale=1024" for
/// one lane.
struct Assignment {
    int lane = -1;
    const Field* field = nullptr;
    FieldValue value;
};
Assignment parseAssignment(std::string_view);
void applySetting(RunConfig&, std::string_view assignment);

/// Reads the text of an experiment file; messages call the file `name`. Absent keys keep their
/// defaults. Throws InputError for bad JSON (with line and column), unknown keys, wrong types and
/// values out of range.
RunConfig parseConfig(std::string_view json, const std::string& name);
RunConfig readConfig(const std::string& path);
/// Returns the complete text of an experiment file: every field that exists, the version first.
std::string configText(const RunConfig&);
/// Checks every field, and what depends on several: lanes 1 to 6, batch <= samples, an initial
/// scale within the scaler's guards, what optimizers, schedules and precisions refuse, and forks
/// and edits that the run can go through. Throws InputError.
void checkSettings(const RunConfig&);
/// Does the same, and checks them against the files of the data as they are now: what was trained
/// once may be looked at when they have fewer samples than a batch, but not be trained.
void checkConfig(const RunConfig&);
/// Checks the part of it that concerns one lane alone, such as a lane that is forked.
void checkLane(const LaneConfig&, size_t index);
/// Checks an edit in the middle of a run against the other settings: a setting of the run that
/// means nothing beside them, optimizers, lengths. Throws InputError.
void checkEdited(const RunConfig&, const Field& edited);
/// Checks that an edit of a loss scaler reaches a lane whose precision can have one; -1 means all
/// lanes. Throws InputError.
void checkReached(const RunConfig&, int lane, const Field& edited);
/// Checks what a live edit may set: a live field, or kLiveScale, which takes the values of an
/// initial scale. Throws InputError for any other key, and for a value that is not allowed.
void checkLiveEdit(std::string_view key, const FieldValue&);

/// Reads a list of lanes by precision, "fp32,amp-fp16"; each has the settings that its precision
/// starts with. `before` holds the lanes that they replace: the nth lane of a precision keeps the
/// settings of the nth one there, and further ones have those of the last.
std::vector<LaneConfig> parseLanes(std::string_view list, std::span<const LaneConfig> before = {});
/// The names of two precisions, when a lane that scales its loss replaces one whose loss scaler had
/// other settings than its precision starts with: those settings are lost. Empty names otherwise.
struct LostScaler {
    std::string had, has;
};
LostScaler lostScaler(std::span<const LaneConfig> before, std::span<const LaneConfig> after);

/// Returns the settings at the end of a recorded run: its forks become lanes, and its edits are
/// applied to the settings.
RunConfig settingsAtEnd(RunConfig recorded);

struct Preset {
    std::string name; ///< "checkerboard"
    Phrase group;     ///< "Examples": the heading under which lists and menus show it
    Phrase title;     ///< "Checkerboard"
    Phrase about;     ///< one sentence
    RunConfig config;
    /// What it is called and does where the machine lacks its data; empty where it has them. The
    /// manual, which is the same everywhere, has the title and the sentence above.
    Phrase otherTitle{}, otherAbout{};
    std::string formerTitle{}; ///< in experiments of earlier versions; empty when it is the title

    /// Whether an experiment with this title is or was one of this preset.
    bool isCalled(std::string_view experiment) const {
        return !experiment.empty() && (experiment == config.title || experiment == formerTitle);
    }
    const Phrase& titleHere() const { return otherTitle.empty() ? title : otherTitle; }
    const Phrase& aboutHere() const { return otherAbout.empty() ? about : otherAbout; }
};
/// Returns the presets, those of a group together; the window opens with the first one.
std::span<const Preset> presets();
/// Returns a preset. Throws InputError that names the nearest preset when there is none of this
/// name.
const Preset& presetNamed(std::string_view name);

} // namespace halfscope
