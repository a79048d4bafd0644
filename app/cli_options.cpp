// Implements the choice of an experiment. Numbers stay text until the field table checks them, so
// that every wrong value gets the same kind of message.
#include "app/cli_options.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/io/input_file.h"
#include "engine/models/output_layer.h"
#include "engine/models/program_network.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/idle_settings.h"
#include "engine/settings/optimizer_warnings.h"
#include "engine/settings/preset_network.h"
#include "engine/settings/run_task.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace halfscope::cli {

CLI::Option& textOption(CLI::App& command, const char* name, std::string& to, const char* help,
                        const char* type, const std::string& allowed) {
    return *command.add_option(name, to, help)
                ->type_name(type)
                ->check([&command, allowed](const std::string& value) {
                    // CLI11 takes whatever comes next, also when the value was forgotten
                    const std::string start = value.substr(0, value.find('='));
                    const bool option = command.get_option_no_throw(start) != nullptr;
                    const bool wrong = value.empty() || (option && value.front() == '-');
                    if (wrong) return quotedText(value) + " is not allowed: " + allowed;
                    if (value != "-" || allowed.find("path") == std::string::npos)
                        return std::string();
                    // scripts mean standard input or output by it
                    return "\"-\" is not allowed: " + allowed +
                           "; standard input and output cannot stand for files, and a file of "
                           "this name is ./-";
                })
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option& countOption(CLI::App& command, const char* name, int& to, const char* help, int least,
                         int most) {
    const std::string allowed =
        "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    const auto check = [=](const std::string& text) {
        int number = 0;
        const char* const last = text.data() + text.size();
        const auto [end, code] = std::from_chars(text.data(), last, number);
        const bool fits = code == std::errc{} && end == last && number >= least && number <= most;
        return fits ? std::string() : quotedText(text) + " is not allowed: " + allowed;
    };
    return *command.add_option(name, to, help)
                ->type_name("N")
                ->check(check)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void deviceOption(CLI::App& command, std::string& to) {
    constexpr const char* kAllowed = "auto, cpu, cuda or cuda:INDEX";
    textOption(command, "--device", to, kAllowed, "DEVICE", kAllowed);
}

namespace {

constexpr size_t kMostModelBytes = size_t{1} << 20; // of a file; its text may have far less

/// Returns the text of the network in a file of Python: all of it where that is a network with
/// nothing but imports and numbers, else the part that the window would take. Throws InputError.
std::string networkOf(const std::string& file, const std::string& program) {
    try {
        readModel(program);
        return program;
    } catch (const InputError&) { // a program, or a network with a fault
    }
    try {
        const ProgramNetwork network = networkIn(withoutByteOrderMark(program));
        if (network.doubt.empty()) return network.text.text;
        throw InputError(phrase("Program", "%1; write the whole network as one nn.Sequential(...) "
                                           "in a file of its own"),
                         network.doubt);
    } catch (const InputError& error) {
        throw InputError(within(pathText(file), error.message()));
    }
}

/// Puts the text of a file in place of its name, "@FILE" or a file of Python, where the setting is
/// a network. Returns what is wrong.
std::string withModelText(std::string& setting) {
    const size_t equals = setting.find('=');
    const std::string key = setting.substr(0, equals);
    if (equals == std::string::npos || (key != "model.layers" && key != "model.critic")) return {};
    std::string file = setting.substr(equals + 1);
    const bool marked = file.starts_with('@');
    if (marked) file.erase(0, 1);
    if (!marked && !(file.ends_with(".py") && file.find('(') == std::string::npos)) return {};
    try {
        const std::string text = readFile(file, kMostModelBytes);
        setting = key + '=' + (file.ends_with(".py") ? networkOf(file, text) : text);
        return {};
    } catch (const InputError& error) {
        return key + ": " + error.what();
    }
}

} // namespace

void ExperimentOptions::addTo(CLI::App& command, Trains whether) {
    trains = whether;
    textOption(command, "experiment", file,
               "An experiment file (JSON), the folder of a saved run, or data to train on: a csv "
               "table, .npy, .npz or .safetensors arrays, a folder of pictures or of .tar shards, "
               "MNIST, CIFAR, a text; or a picture to paint; without it, the preset",
               "FILE", "the path of an experiment file, a run or data");
    textOption(command, "--preset", preset, "The name of a preset (default: checkerboard)", "NAME",
               "the name of a preset, such as checkerboard");
    textOption(command, "--lanes", lanes,
               "Lanes by precision, such as fp32,amp-fp16,apex-o2 (settings lists them)", "A,B",
               "one to six precisions, such as fp32,amp-fp16");
    const auto field = [&command](const char* name, std::string& to, const char* key,
                                  const char* help, const char* type) {
        textOption(command, name, to, help, type, allowedText(*findField(key)).english());
    };
    if (trains == Trains::Yes) {
        field("--steps", steps, "run.steps", "Stop after this many steps", "N");
        field("--epochs", epochs, "run.epochs", "Stop after this many passes over the samples",
              "N");
    }
    field("--seed", seed, "run.seed", "Seed of weights, data and batches", "N");
    field("--weights", weights, "model.weights",
          trains == Trains::Yes
              ? "Start every lane from the state_dict in this safetensors file"
              : "The state_dict to judge, a safetensors file (default: of a run's folder, "
                "the weights that each lane came to)",
          "FILE");
    if (trains == Trains::Yes)
        command.add_flag("--partial", partial,
                         "Of the file of weights, take the tensors that fit, as strict=False does "
                         "in PyTorch; the others keep their initial values");
    deviceOption(command, device);
    field("--threads", threads, "run.threads", "Threads of the CPU device; 0 for all", "N");
    command
        .add_option("--set", settings,
                    "Any setting, such as scaler.init_scale=2^10, or lanes.1.KEY=VALUE for one "
                    "lane; model.layers=@FILE reads a network from a file; can be repeated")
        ->type_name("KEY=VALUE")
        ->transform(CLI::Validator(withModelText, ""))
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

namespace {

/// Returns the experiment's file: a folder that run --out wrote stands for the experiment in it.
std::string experimentIn(const std::string& path) {
    std::error_code ignored; // a path that cannot be examined cannot be read either, and reading
                             // says why
    const bool folder = std::filesystem::is_directory(path, ignored);
    return folder ? (std::filesystem::path(path) / "experiment.json").string() : path;
}

constexpr const char* kFirstPreset = "checkerboard"; // when no experiment is named

/// Reads an experiment's file or folder, and sets `read`; for data, returns a first experiment on
/// them under these settings, and for a picture one that paints it.
RunConfig experimentAt(const std::string& path, const std::vector<std::string>& settings,
                       bool& read) {
    std::error_code ignored;
    const std::string file = experimentIn(path);
    const bool saved = file != path && std::filesystem::exists(file, ignored);
    if (isNetworkFile(path))
        throw InputError(Message::data(pathText(path) +
                                       ": the text is a network, not data to train on; beside "
                                       "data or a preset, --set model.layers=@" +
                                       shellText(path) + " takes it"));
    if (!saved) {
        std::vector<Assignment> given;
        for (const std::string& each : settings)
            given.push_back(parseAssignment(each));
        if (auto made = experimentOn(path, given)) return *std::move(made);
    }
    if (namesPicture(path)) return painting(presetNamed(kFirstPreset).config, path);
    const bool folder = file != path;
    if (folder && !saved && !ignored) // otherwise the reader says what is wrong with the file
        throw nothingInFolder(path);
    if (file == path) checkCanBeExperiment(path);
    read = true;
    return readConfig(file);
}

/// Refuses the name of a preset among those of precisions: some are called like one.
void refusePresets(const std::string& lanes) {
    for (const std::string_view name : partsOf(lanes, ','))
        for (const Preset& each : presets()) {
            if (each.name != trimmed(name)) continue;
            std::string own;
            for (const LaneConfig& lane : each.config.lanes)
                own += (own.empty() ? "" : ",") + std::string(nameOf(lane.precision));
            throw InputError(Message::data("--lanes: " + quotedText(each.name) +
                                           " is a preset, not a precision: --preset " + each.name +
                                           " has the lanes " + own));
        }
}

/// Returns the lanes of --lanes. Those of `before` keep their settings.
std::vector<LaneConfig> namedLanes(const std::string& lanes, std::span<const LaneConfig> before) {
    try {
        return parseLanes(lanes, before);
    } catch (const InputError& error) {
        refusePresets(lanes);
        throw InputError(within("--lanes", error.message()));
    }
}

/// Refuses no epochs: the setting's 0 would leave the length to run.steps.
void checkEpochs(const std::string& epochs) {
    if (epochs.empty()) return;
    const Field& field = *findField("run.epochs");
    if (parseValue(field, epochs) == FieldValue(int64_t{0}))
        throw InputError(Message::data("run.epochs: 0 is not allowed with --epochs: at least 1; "
                                       "--steps sets the length in steps"));
}

/// Returns a first experiment on the arrays that settings name, as for an opened file: a preset has
/// no loss or network for them. Returns nothing when they name none.
std::optional<RunConfig> arraysIn(const std::vector<std::string>& settings) {
    RunConfig named = defaultConfig();
    std::vector<Assignment> given;
    for (const std::string& each : settings) {
        const Assignment& last = given.emplace_back(parseAssignment(each));
        if (last.field->key == "data.kind" || last.field->key == "data.x")
            setField(named, last.lane, last.field->key, last.value);
    }
    if (named.task.kind != TaskKind::Arrays || named.task.x.empty()) return std::nullopt;
    return experimentOn(named.task.x, given);
}

/// Returns what settings change where no file is named: the preset, or what the data begin with.
RunConfig startOf(const std::string& preset, const std::vector<std::string>& settings) {
    if (!preset.empty()) return presetNamed(preset).config;
    if (auto arrays = arraysIn(settings)) return *std::move(arrays);
    return presetNamed(kFirstPreset).config;
}

constexpr std::string_view kScalerPreset = "scaler.preset";

/// Puts a scaler's preset before the settings that it brings with it, so that one of these that is
/// given counts wherever it stands.
std::vector<std::string> presetsFirst(std::vector<std::string> settings) {
    const auto isPreset = [](const std::string& setting) {
        return setting.substr(0, setting.find('=')).ends_with(kScalerPreset);
    };
    std::stable_partition(settings.begin(), settings.end(), isPreset);
    return settings;
}

/// Returns a line about the data that a preset takes in place of its own, which are not here; empty
/// when they are, or when others were given.
std::string missingText(const std::string& preset, const RunConfig& config) {
    if (preset.empty()) return {};
    const Preset& named = presetNamed(preset);
    const bool same = config.task.kind == named.config.task.kind && config.task.path.empty();
    return same && !named.otherAbout.empty() ? named.otherAbout.text() + std::string("\n")
                                             : std::string();
}

/// Fits the network of a preset to other data and returns a line about it; empty where it stays.
std::string fitNetwork(const std::string& preset, RunConfig& config) {
    if (preset.empty() || !fitNetworkToData(config, presetNamed(preset).config)) return {};
    ModelSpec model = readModel(config.model.layers);
    return "The network of the preset is fitted to the data: it ends in " +
           outputLayer(model)->written + "\n";
}

/// Returns a line about the settings of --set and, where there is one, of the experiment's file
/// that have no effect; empty when all have one.
std::string idleText(const RunConfig& config, const std::vector<std::string>& settings,
                     bool fromFile) {
    std::vector<Assignment> given;
    for (const std::string& setting : settings)
        given.push_back(parseAssignment(setting));
    const std::vector<std::string> keys =
        fromFile ? idleBesideFile(config, given) : idleSettings(config, given);
    std::string text;
    for (const std::string& key : keys)
        text += (text.empty() ? "Without effect beside the other settings: " : ", ") + key;
    if (const Message why = withoutScaler(config, keys); !why.empty()) text += "\n" + why.english();
    return text.empty() ? text : text + "\n";
}

std::string optimizerText(const RunConfig& config) {
    std::string text;
    for (const Message& warning : optimizerWarnings(config))
        text += "Warning: " + warning.english() + "\n";
    return text;
}

/// Refuses a picture that is given as data.path, because the default one would be painted instead.
void checkPicturePath(const RunConfig& config, const std::vector<std::string>& settings) {
    if (config.task.kind != TaskKind::Image) return;
    std::string path;
    for (const std::string& setting : settings) {
        const Assignment given = parseAssignment(setting);
        if (given.field->key == "task.image") return;
        if (given.field->key == "data.path") path = std::get<std::string>(given.value);
    }
    if (!path.empty())
        throw InputError(Message::data("data.path: with data.kind image, task.image names the "
                                       "picture: --set task.image=" +
                                       shellText(path)));
}

} // namespace

void ExperimentOptions::addSweepTo(CLI::App& command) {
    command
        .add_option("--sweep", sweeps,
                    "One lane for each value of a lane's setting, such as "
                    "scaler.init_scale=2^10,2^16; repeated, one for each combination, up to six; "
                    "ends with a table that ranks them")
        ->type_name("KEY=A,B")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

RunConfig ExperimentOptions::config(std::string* note) const {
    if (!file.empty() && !preset.empty()) {
        throw InputError(Message::data("an experiment file and --preset: give one of them"));
    }
    if (!steps.empty() && !epochs.empty())
        throw InputError(Message::data("--steps and --epochs: give one of them"));
    bool read = false; // from an experiment's file
    RunConfig config =
        !file.empty() ? experimentAt(file, settings, read) : startOf(preset, settings);
    const TaskKind titled = config.task.kind;
    if (!lanes.empty()) {
        std::vector<LaneConfig> named = namedLanes(lanes, config.lanes);
        const LostScaler lost = lostScaler(config.lanes, named);
        if (note && !lost.has.empty())
            *note = "Lane " + lost.has +
                    " starts with its own loss scaler, not with the settings that " + lost.had +
                    " has in this experiment (--set changes them)\n";
        config.lanes = std::move(named);
        forgetLanes(config);
    }
    checkEpochs(epochs);
    if (!steps.empty() || !epochs.empty())
        std::erase_if(config.edits, [](const LiveEdit& edit) {
            return edit.key == "run.steps" || edit.key == "run.epochs";
        });
    const std::pair<const char*, const std::string&> named[] = {
        {"run.steps", steps},       {"run.epochs", epochs}, {"run.seed", seed},
        {"model.weights", weights}, {"run.device", device}, {"run.threads", threads}};
    for (const auto& [key, text] : named) {
        if (!text.empty()) setField(config, -1, key, parseValue(*findField(key), text));
    }
    // what was said of an experiment's own file holds for no other one
    if (partial || !weights.empty()) setField(config, -1, "model.partial_weights", partial);
    for (const std::string& setting : presetsFirst(settings))
        applySetting(config, setting);
    checkPicturePath(config, settings);
    if (partial && config.model.weights.empty())
        throw InputError(Message::data("--partial: --weights is missing, the file of which the "
                                       "tensors that fit are taken"));
    if (config.task.kind != titled) config.title = titleOfData(config.task).english();
    applySweeps(config, swept());
    trains == Trains::Yes ? checkConfig(config) : checkSettings(config);
    const std::string fitted = fitNetwork(preset, config);
    if (note)
        *note += missingText(preset, config) + fitted + idleText(config, settings, read) +
                 optimizerText(config);
    return config;
}

std::vector<Sweep> ExperimentOptions::parsed(const std::vector<std::string>& texts,
                                             SweptBy by) const {
    std::vector<Sweep> all;
    for (const std::string& each : texts) {
        Sweep& sweep = all.emplace_back(parseSweep(each, by));
        if (sweep.field->key != kScalerPreset) continue;
        for (const std::string& setting : settings)
            if (Assignment given = parseAssignment(setting);
                given.field->key.starts_with("scaler.") && given.field != sweep.field)
                sweep.given.push_back(std::move(given));
    }
    return all;
}

std::string ExperimentOptions::runFolder() const {
    const std::string inside = experimentIn(file);
    std::error_code ignored;
    return inside != file && std::filesystem::exists(inside, ignored) ? file : std::string();
}

bool ExperimentOptions::givesWeights() const {
    return !weights.empty() ||
           std::any_of(settings.begin(), settings.end(), [](const std::string& each) {
               return parseAssignment(each).field->key == "model.weights";
           });
}

std::vector<Assignment> ExperimentOptions::resumedSettings() const {
    const std::pair<const char*, const std::string&> others[] = {{"an experiment file", file},
                                                                 {"--preset", preset},
                                                                 {"--lanes", lanes},
                                                                 {"--seed", seed},
                                                                 {"--weights", weights}};
    for (const auto& [name, text] : others)
        if (!text.empty())
            throw InputError(Message::data(std::string(name) +
                                           " and --resume: give one of them; "
                                           "the checkpoint has the whole experiment"));
    if (partial)
        throw InputError(Message::data("--partial and --resume: give one of them; "
                                       "the checkpoint has the whole experiment"));
    if (!sweeps.empty())
        throw InputError(Message::data("--sweep and --resume: give one of them; the lanes of a "
                                       "checkpoint are there already"));
    if (!steps.empty() && !epochs.empty())
        throw InputError(Message::data("--steps and --epochs: give one of them"));
    checkEpochs(epochs);
    std::vector<Assignment> given;
    const std::pair<const char*, const std::string&> named[] = {{"run.steps", steps},
                                                                {"run.epochs", epochs},
                                                                {"run.device", device},
                                                                {"run.threads", threads}};
    for (const auto& [key, text] : named) {
        if (text.empty()) continue;
        const Field* field = findField(key);
        given.push_back({-1, field, parseValue(*field, text)});
    }
    for (const std::string& setting : presetsFirst(settings))
        given.push_back(parseAssignment(setting));
    return given;
}

void refuseRecorded(const RunConfig& config) {
    if (config.task.kind == TaskKind::Recorded) (void)factsOf(taskOf(config));
}

} // namespace halfscope::cli
