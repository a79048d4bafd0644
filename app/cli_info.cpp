// Implements the commands that only print.
#include "app/cli_info.h"

#include "app/cli_output.h"
#include "app/cli_overwriting.h"
#include "app/cli_targets.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/own_files.h"
#include "engine/devices/device_list.h"
#include "engine/exec/variant_table.h"
#include "engine/io/atomic_file.h"
#include "engine/ops/inspect.h"
#include "engine/runs/run_folder.h"
#include "engine/settings/field_reference.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/settings/sweep.h"
#include "engine/step/function_types.h"
#include "engine/step/model_shapes.h"
#include "engine/step/pytorch_script.h"
#include "engine/step/step_graph.h"
#include "engine/train/experiment.h"
#include "engine/train/state_dict.h"
#include "engine/train/step_samples.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace halfscope::cli {

namespace {

size_t laneIndex(const RunConfig& config, const std::string& wanted) {
    const std::vector<std::string> names = laneNames(config);
    if (wanted.empty()) {
        const auto low =
            std::find_if(config.lanes.begin(), config.lanes.end(),
                         [](const auto& lane) { return lane.precision != Precision::Fp32; });
        return low == config.lanes.end() ? 0 : static_cast<size_t>(low - config.lanes.begin());
    }
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found == names.end()) {
        throw InputError(Message::data("--lane: " + quotedText(wanted) +
                                       " is not a lane of this experiment" +
                                       nearestHint(wanted, names).english()));
    }
    return static_cast<size_t>(found - names.begin());
}

/// What a device reports about the step after loading it.
struct LoadedThere {
    DeviceInfo device;
    std::vector<VariantTime> variants;
};

LoadedThere loadOn(const std::string& device, const Graph& graph) {
    const std::unique_ptr<Executor> executor = makeExecutor(device);
    executor->load(std::make_shared<const Program>(compile(graph, executor->compileOptions())));
    return {executor->device(), executor->variants()};
}

std::string waysText(const std::string& device, const LoadedThere& there) {
    const std::string where = device + " (" + there.device.name + ")";
    if (there.variants.empty()) return "One way to run this step on " + where + ".\n";
    return "Ways to run this step on " + where + ", the one taken with a star:\n" +
           variantTable(there.variants);
}

std::string waysJson(const std::string& graph, const std::string& device,
                     const LoadedThere& there) {
    auto json = nlohmann::ordered_json::parse(graph);
    nlohmann::ordered_json ways = nlohmann::ordered_json::array();
    for (const VariantTime& variant : there.variants)
        ways.push_back({{"name", variant.name},
                        {"step_ms", 1e3 * variant.seconds},
                        {"chosen", variant.chosen},
                        {"note", variant.note}});
    json["device"] = {{"id", device}, {"name", there.device.name}, {"ways", std::move(ways)}};
    return json.dump(2) + "\n";
}

/// Returns "float16" or "bfloat16 (FP8)", and the number of casts before it.
std::string typesOf(const FunctionTypes& types) {
    std::string text(nameOf(types.type));
    if (types.insideF32) text += " (float32 inside)";
    if (types.tf32) text += " (TF32)";
    if (types.fp8) text += " (FP8)";
    const size_t casts = types.casts.size();
    if (casts > 0) text += ", " + std::to_string(casts) + (casts == 1 ? " cast" : " casts");
    return text;
}

/// Does nothing without a file.
void checkOut(const std::string& option, const std::string& file, const CommandFiles& files) {
    if (file.empty()) return;
    files.checkFile(option, file);
    const std::string folder = std::filesystem::path(file).parent_path().string();
    if (const std::string reason = newFileObstacle(folder.empty() ? "." : folder); !reason.empty())
        throw InputError(
            Message::data(option + ": " + quotedText(file) + " is not allowed: " + reason));
}

void checkOuts(const PyTorchOptions& options, const RunConfig& config) {
    const CommandFiles files(options.experiment, config);
    checkOut("--weights-out", options.weightsOut, files);
    checkOut("--samples-out", options.samplesOut, files);
    if (!options.samplesOut.empty() &&
        wholePath(options.samplesOut) == wholePath(options.weightsOut))
        throw InputError(Message::data("--samples-out: " + quotedText(options.samplesOut) +
                                       " is not allowed: --weights-out names the same file"));
}

/// Throws InputError when the file would be larger than any that is written.
void checkSamples(const RunConfig& config, const Task& task) {
    const int64_t steps = stepsOf(config), fit = stepsWhoseSamplesFit(config, task);
    if (fit == steps) return;
    const bool judges = judgedSamples(config, task) > 0;
    const std::string most = "more than " + sizeText(size_t{kMostSampleBytes});
    if (!judgedSamplesFit(config, task)) // no batch is small enough then
        throw InputError(
            Message::data("--samples-out: the samples to judge by alone take " + most +
                          ", which is not allowed; " +
                          (validatesOwn(config.task)
                               ? "put fewer of them in their files"
                               : "hold back fewer of them with a smaller data.validation")));
    const std::string also = judges ? " and the samples to judge by" : "";
    throw InputError(Message::data(
        fit == 0 ? "--samples-out: a single batch" + also + (judges ? " take " : " takes ") + most +
                       ", which is not allowed"
                 : "--samples-out: " + std::to_string(steps) +
                       " steps are too many: their batches" + also + " take " + most +
                       "; at most " + std::to_string(fit) + " are allowed (--steps)"));
}

/// Writes them as a lane in float32 has them: the program rounds them for lanes that store less, as
/// Halfscope does.
void writeFirstWeights(const std::string& file, RunConfig config, std::shared_ptr<Task> data) {
    config.lanes = parseLanes("fp32");
    forgetLanes(config);
    config.device = "cpu"; // the same on all
    Experiment experiment(config, {}, std::move(data));
    if (const Message& note = experiment.weightsNote(); !note.empty())
        printNote("Weights: " + note.english() + "\n");
    writeFileAtomically(file, stateDictBytes(experiment.lane(0), modelShapes(config).text,
                                             HALFSCOPE_VERSION, experiment.dataRecord(),
                                             experiment.batchesBefore()));
}

/// Returns a table with a row for each function and a column for each lane.
std::string typesText(const RunConfig& config) {
    const std::vector<LaneTypes> lanes = laneTypes(config);
    std::vector<std::vector<std::string>> rows{{"layer", "function"}};
    for (const std::string& name : laneNames(config))
        rows[0].push_back(name);
    for (const TypesRow& row : typesRows(lanes)) {
        rows.push_back({row.label, row.function});
        for (const FunctionTypes* each : row.lanes)
            rows.back().push_back(each ? typesOf(*each) : "-");
    }
    return tableText(rows);
}

} // namespace

void tellPresets(PresetForm form) {
    const bool table = form == PresetForm::Markdown;
    if (table) print("| preset | what it shows |\n| --- | --- |\n");
    size_t width = 0;
    for (const Preset& preset : presets())
        width = std::max(width, preset.name.size());
    std::string group;
    for (const Preset& preset : presets()) {
        if (preset.group.text() != group) {
            const char* gap = group.empty() ? "" : "\n";
            group = preset.group.text();
            print(table ? "| **" + group + "** | |\n" : gap + group + "\n");
        }
        // the window opens the preset that such a link names
        print(table ? "| [`" + preset.name + "`](preset:" + preset.name + ") | " +
                          preset.about.text() + " |\n"
                    : "  " + padded(preset.name, width) + "  " + preset.about.text() + "\n");
    }
}

void tellDevices() {
    const DeviceList list = listDevices();
    size_t width = 0;
    for (const DeviceEntry& device : list.devices)
        width = std::max(width, device.id.size());
    for (const DeviceEntry& device : list.devices) {
        print(padded(device.id, width) + "  " + device.info.name + ", " +
              sizeText(device.info.memoryBytes) + ", " + device.info.libraries + "\n");
    }
    if (!list.cudaUnavailable.empty()) print("No CUDA: " + list.cudaUnavailable.english() + "\n");
}

void describe(const DescribeOptions& options) {
    const RunConfig config = options.experiment.config();
    const LaneConfig& lane = config.lanes[laneIndex(config, options.lane)];
    const Graph graph = buildStep(config, lane, makeTask(config)->shape());
    const std::string& device = options.experiment.device;
    std::optional<LoadedThere> there; // before anything is printed: there may be no such device
    if (device.starts_with("cuda")) there = loadOn(device, graph);
    switch (options.form) {
    case DescribeForm::Text:
        print(graphText(graph) + (there ? waysText(device, *there) : ""));
        break;
    case DescribeForm::Dot: print(graphDot(graph)); break;
    case DescribeForm::Json:
        print(there ? waysJson(graphJson(graph), device, *there) : graphJson(graph));
        break;
    }
}

void tellTypes(const ExperimentOptions& experiment) { print(typesText(experiment.config())); }

void tellPyTorch(const PyTorchOptions& options) {
    const RunConfig config = options.experiment.config();
    checkOuts(options, config);
    for (const LaneConfig& lane : config.lanes) // it refuses names that no layer has
        if (!lane.layers.empty()) (void)buildStep(config, lane, makeTask(config)->shape());
    // the program may be run from another folder
    const std::string program = pytorchScript(portableConfig(config), namesInFile(config));
    std::shared_ptr<Task> data;
    if (!options.samplesOut.empty()) {
        data = makeTask(config);
        checkSamples(config, *data);
    }
    if (!options.weightsOut.empty()) writeFirstWeights(options.weightsOut, config, data);
    if (data) writeStepSamples(options.samplesOut, config, *data, HALFSCOPE_VERSION);
    print(program);
}

void tellRecorder() { print(kRecorderSource); }

void tellSettings() { print(fieldReference()); }

} // namespace halfscope::cli
