// Reads and writes weights by PyTorch's names.
#include "engine/train/state_dict.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/npz.h"
#include "engine/io/split_file.h"
#include "engine/io/torch_file.h"
#include "engine/models/model_spec.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_parts.h"
#include "engine/train/checkpoint.h"
#include "engine/train/typed_arrays.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

namespace halfscope {

namespace {

constexpr const char *kDataPrint = "data_sha256", *kDataSettings = "data_settings",
                     *kClasses = "classes", *kStep = "step";
constexpr std::string_view kKey = "model.weights";

[[noreturn]] void refuse(const std::string& path, const Message& what) {
    throw InputError(phrase("Files", "%1: %2"), pathText(path), what);
}

WantedWeights weightsWanted(const Graph& graph) {
    WantedWeights wanted;
    for (const StateInfo& state : graph.states())
        if (isWeight(state)) wanted.add(state.name, graph[state.node].shape);
    return wanted;
}

WantedWeights weightsWanted(const RunConfig& config, int64_t inputs, int64_t outputs) {
    const ModelSpec model = modelOf(config.model, inputs, outputs);
    WantedWeights wanted;
    const StepParts parts = partsOf(config);
    const auto put = [&wanted](const std::string& prefix, const ModelSpec& network) {
        for (const NamedParameter& each : parametersOf(network))
            wanted.add(prefix + each.name, each.info.shape);
    };
    for (const NetworkPart& part : parts.networks)
        put(part.prefix, model);
    if (parts.critic) put(parts.critic->prefix, criticOf(config.model, outputs));
    return wanted;
}

WantedWeights weightsWanted(const RunConfig& config) {
    const BatchShape batch = batchShape(factsOf(taskOf(config)).tensors, epochPlanOf(config).batch);
    return weightsWanted(config, batch.inputs, batch.outputs);
}

/// Returns the names of the counts of batches that grow with each step.
std::set<std::string> countedIn(const RunConfig& config) {
    std::set<std::string> names;
    const StepParts parts = partsOf(config);
    const auto put = [&names](const std::string& prefix, const ModelSpec& network) {
        for (const std::string& name : batchCountsOf(network))
            names.insert(prefix + name);
    };
    for (const NetworkPart& part : parts.networks) // whatever the number of inputs and outputs
        put(part.prefix, modelOf(config.model, 1, 1));
    if (parts.critic) put(parts.critic->prefix, criticOf(config.model, 1));
    return names;
}

/// Returns how many weights the file has, if it is one of weights.
size_t weightsIn(const SafetensorsInfo& file) {
    const auto counts = [](const ArrayInfo& each) { return !isBatchCount(each.name); };
    return static_cast<size_t>(std::ranges::count_if(file.arrays, counts));
}

/// Whether a file is NumPy's archive of arrays. torch.save() makes zip archives, too, but puts no
/// .npy files into them.
bool isArchiveOfArrays(const std::string& path) {
    try {
        return !npzNames(path).empty();
    } catch (const InputError&) { // other readers say what is wrong with it
        return false;
    }
}

/// The command copies each array, for save_file() takes the numbers as they lie in memory, whatever
/// their order; a copy has that of C.
[[noreturn]] void refuseArchiveOfArrays(const std::string& path) {
    refuse(path,
           {phrase("Files",
                   "it is an archive of NumPy's arrays, and weights are read from safetensors "
                   "files. To convert it, run: python3 -c \"import sys, numpy, safetensors.numpy "
                   "as s; s.save_file({k: v.copy() for k, v in numpy.load(sys.argv[1]).items()}, "
                   "sys.argv[2])\" %1 %2"),
            shellText(path),
            shellText(std::filesystem::path(path).replace_extension(".safetensors").string())});
}

SafetensorsInfo headerOf(const std::string& path) {
    if (isListOfParts(path)) refuse(path, *splitFileRefusal(path));
    if (isArchiveOfArrays(path)) refuseArchiveOfArrays(path);
    if (beginsAsTorchFile(path)) throw InputError(torchFileRefusal(path));
    if (path.ends_with(".onnx"))
        refuse(path, phrase("Files", "ONNX files are written but not opened; "
                                     "safetensors.torch.save_file(model.state_dict(), "
                                     "'weights.safetensors') saves weights for model.weights"));
    if (isCheckpoint(path))
        refuse(path, phrase("Files", "a checkpoint has the networks of all lanes of its run; "
                                     "halfscope-cli evaluate FOLDER judges those in a run's "
                                     "folder, and in the window, which opens the checkpoint, File "
                                     "> Save weights saves those of one lane"));
    return safetensorsInfo(path);
}

/// Returns an entry of a file's metadata; empty when there is none.
std::string metadataIn(const SafetensorsInfo& file, const char* key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? std::string() : found->second;
}

/// Reads those of the weights that the file has, by their own names where there are no pairs.
void readThere(const std::string& path, const SafetensorsInfo& file,
               const std::map<std::string, Shape>& wanted, const WeightPairs& pairs,
               Weights& weights) {
    for (const auto& [name, shape] : wanted) {
        const ArrayInfo* const there = file.find(pairs.empty() ? name : pairs.at(name));
        if (!there) continue;
        const Array array = readSafetensor(path, *there);
        std::vector<float>& values = weights[name];
        values.resize(static_cast<size_t>(shape.elements()));
        array.toFloats(0, values);
    }
}

/// Returns how many batches the file says that the network's norms have seen.
BatchCounts batchesIn(const std::string& path, const SafetensorsInfo& file,
                      const std::map<std::string, Shape>& wanted, const WeightPairs& pairs) {
    BatchCounts batches;
    for (const auto& [name, shape] : wanted) {
        const std::optional<std::string> layer = layerPathOf(name, kRunningMean);
        if (!layer) continue;
        const auto there = layerPathOf(pairs.empty() ? name : pairs.at(name), kRunningMean);
        if (!there) continue;
        const ArrayInfo* const count = file.find(joinedPath(*there, kBatchesTracked));
        if (!count || !isWhole(count->type) || count->elements() != 1) continue;
        constexpr double kMost = 0x1p53; // up to here, at() is exact
        const double seen = readSafetensor(path, *count).at(0);
        if (seen > 0 && seen < kMost) batches[*layer] = static_cast<int64_t>(seen);
    }
    return batches;
}

/// Returns the pairs that are used: a part is taken by name, unless no name fits.
WeightPairs pairsTaken(const StateDictFit& fit, bool partial) {
    return partial && fit.taken > 0 ? WeightPairs() : fit.pairs;
}

/// Returns namesInFile() of a file that is taken.
WeightPairs namesTaken(const FittedFile& file, const WantedWeights& wanted, bool partial) {
    const WeightPairs pairs = pairsTaken(file.fit, partial);
    WeightPairs names;
    bool differs = !file.fit.left.empty();
    for (const std::string& name : wanted.names) {
        const auto there = file.group.names.find(pairs.empty() ? name : pairs.at(name));
        if (there == file.group.names.end()) continue;
        names[name] = there->second;
        differs = differs || there->second != name;
    }
    return differs ? names : WeightPairs();
}

void checkFinite(const std::string& path, const Weights& weights) {
    for (const auto& [name, values] : weights) {
        const auto odd = std::ranges::count_if(values, [](float x) { return !std::isfinite(x); });
        if (odd > 0)
            refuse(path, {phrase("Files", "%1 of the %2 numbers in %3 are inf, nan or beyond "
                                          "what float32 holds; a training must begin with "
                                          "finite weights"),
                          odd, values.size(), pathText(name)});
    }
}

/// Puts the setting's name before the messages of errors.
template <class Call>
void withKey(const Call& call) {
    try {
        call();
    } catch (const InputError& error) {
        throw InputError(within(kKey, error.message()));
    }
}

/// Says of a file that does not fit that it is one of several, if it is.
void tellSplit(const std::string& path, StateDictFit& fit) {
    const auto refusal = splitFileRefusal(path);
    if (!refusal) return;
    if (!fit.problem.empty()) fit.problem = within(pathText(path), *refusal);
    if (fit.taken == 0 && !fit.partialProblem.empty()) fit.partialProblem = fit.problem;
}

FittedFile fitOf(const std::string& path, const WantedWeights& wanted) {
    FittedFile file = fittedFile(path, headerOf(path), wanted);
    tellSplit(path, file.fit);
    return file;
}

/// Throws InputError unless the file has exactly the weights, under their own names.
void checkNames(const std::string& path, const SafetensorsInfo& file, const WantedWeights& wanted) {
    StateDictFit fit = fitByName(path, file, wanted);
    tellSplit(path, fit);
    checkFit(fit, false);
}

} // namespace

StateDictFit stateDictFit(const std::string& path, const RunConfig& config) {
    StateDictFit fit;
    withKey([&] { fit = fitOf(path, weightsWanted(config)).fit; });
    for (Message* const problem : {&fit.problem, &fit.partialProblem})
        if (!problem->empty()) *problem = within(kKey, *problem);
    return fit;
}

WeightPairs namesInFile(const RunConfig& config) {
    const std::string& path = config.model.weights;
    if (path.empty()) return {};
    try {
        const WantedWeights wanted = weightsWanted(config);
        const FittedFile file = fitOf(path, wanted);
        checkFit(file.fit, config.model.partialWeights);
        return namesTaken(file, wanted, config.model.partialWeights);
    } catch (const ReportedError&) { // whoever trains with it is told
        return {};
    }
}

SafetensorsInfo stateDictHeader(const std::string& path) {
    SafetensorsInfo file;
    withKey([&] { file = headerOf(path); });
    return file;
}

std::optional<StateDictFit> wholeFit(const std::string& path, const SafetensorsInfo& file,
                                     const RunConfig& config) {
    // how many weights there are does not depend on the data
    if (weightsWanted(config, 1, 1).names.size() != weightsIn(file)) return std::nullopt;
    StateDictFit fit = fittedFile(path, file, weightsWanted(config)).fit;
    if (!fit.problem.empty()) return std::nullopt;
    return fit;
}

void checkStateDict(const std::string& path, const RunConfig& config) {
    withKey([&] { checkNames(path, headerOf(path), weightsWanted(config)); });
}

Message checkFirstWeights(const RunConfig& config) {
    const std::string& path = config.model.weights;
    const StateDictFit fit = stateDictFit(path, config);
    checkFit(fit, false);
    return noteOn(path, fit, fit.pairs);
}

Weights readStateDict(const std::string& path, const Graph& step) {
    Weights weights;
    withKey([&] {
        const WantedWeights wanted = weightsWanted(step);
        const SafetensorsInfo file = headerOf(path);
        checkNames(path, file, wanted);
        readThere(path, file, wanted.shapes, {}, weights);
    });
    return weights;
}

FirstWeights readFirstWeights(const RunConfig& config, const Graph& step,
                              const std::stop_token& stop) {
    const std::string& path = config.model.weights;
    const bool partial = config.model.partialWeights;
    FirstWeights first;
    withKey([&] {
        const WantedWeights wanted = weightsWanted(step);
        const auto [group, fit] = fitOf(path, wanted);
        if (splitFileRefusal(path)) // the advice is to join the parts, not to take one of them
            checkFit(fit, partial);
        else
            checkFirstFit(fit, partial);
        const WeightPairs pairs = pairsTaken(fit, partial);
        if (partial && pairs.empty()) first.weights = initialWeights(step, config.seed, stop);
        first.note = noteOn(path, fit, pairs);
        first.batches = batchesIn(path, group.file, wanted.shapes, pairs);
        readThere(path, group.file, wanted.shapes, pairs, first.weights);
        checkFinite(path, first.weights);
    });
    return first;
}

DataRecord dataRecordIn(const std::string& path) {
    const SafetensorsInfo file = safetensorsInfo(path);
    return {metadataIn(file, kDataPrint), metadataIn(file, kDataSettings),
            namesFromText(metadataIn(file, kClasses))};
}

std::string stepIn(const std::string& path) { return metadataIn(safetensorsInfo(path), kStep); }

std::string stateDictBytes(Trainer& lane, const std::string& model, const std::string& program,
                           const DataRecord& data, const BatchCounts& before) {
    const LaneState state = lane.state(WhichStates::WeightsOnly);
    const int64_t steps = state.step;
    const std::set<std::string> counted = countedIn(lane.config());
    BatchCounts batches; // outlives the views of its numbers
    std::vector<ArrayView> arrays;
    for (const StateInfo& each : lane.program().graph.states()) {
        if (!isWeight(each)) continue;
        arrays.push_back(arrayViewOf(each.name, state.states.at(each.name)));
        const std::optional<std::string> layer = layerPathOf(each.name, kRunningMean);
        if (!layer) continue;
        const std::string name = joinedPath(*layer, kBatchesTracked);
        const auto earlier = before.find(*layer);
        int64_t& seen = batches[*layer];
        seen =
            (earlier == before.end() ? 0 : earlier->second) + (counted.contains(name) ? steps : 0);
        arrays.push_back({name, ElementType::I64, {}, std::as_bytes(std::span(&seen, 1))});
    }
    const std::string python = model.empty() ? model : pythonOf(readModel(model), {});
    std::map<std::string, std::string> metadata{{"format", "pt"},
                                                {"lane", lane.name()},
                                                {"model", python},
                                                {"program", "halfscope " + program},
                                                {kStep, std::to_string(steps)}};
    if (!data.print.empty()) metadata[kDataPrint] = data.print;
    if (!data.settings.empty()) metadata[kDataSettings] = data.settings;
    if (!data.classes.empty()) metadata[kClasses] = namesText(data.classes);
    const std::string header = safetensorsHeader(arrays, metadata);
    const std::vector<std::string_view> parts = safetensorsParts(header, arrays);
    size_t size = 0;
    for (const std::string_view part : parts)
        size += part.size();
    std::string bytes;
    bytes.reserve(size);
    for (const std::string_view part : parts)
        bytes += part;
    return bytes;
}

} // namespace halfscope
