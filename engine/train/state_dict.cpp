// Reads and writes weights by PyTorch's names.
#include "engine/train/state_dict.h"

#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/io/npz.h"
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

constexpr std::string_view kRunningMean = "running_mean";
constexpr const char *kDataPrint = "data_sha256", *kStep = "step";
constexpr std::string_view kKey = "model.weights";

[[noreturn]] void refuse(const std::string& path, const Message& what) {
    throw InputError(phrase("Files", "%1: %2"), pathText(path), what);
}

bool isCount(const std::string& name) { return layerPathOf(name, kBatchesTracked).has_value(); }

/// Returns true for "1.num_batches_tracked" beside "1.running_mean", which `names` has by name.
template <class Named>
bool isCountOfNorm(const std::string& name, const Named& names) {
    const std::optional<std::string> layer = layerPathOf(name, kBatchesTracked);
    return layer && names.contains(joinedPath(*layer, kRunningMean));
}

/// The weights of a network by name.
struct WantedWeights {
    std::map<std::string, Shape> shapes;
    /// The names in the order of the network's layers, as load_state_dict() tells them too: "up1"
    /// need not come before "up2", and "10" comes after "2".
    std::vector<std::string> names;

    void add(const std::string& name, const Shape& shape) {
        if (shapes.emplace(name, shape).second) names.push_back(name);
    }
};

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
    const auto counts = [](const ArrayInfo& each) { return !isCount(each.name); };
    return static_cast<size_t>(std::ranges::count_if(file.arrays, counts));
}

std::string tupleText(const Shape& shape) {
    ArrayInfo info;
    for (int i = 0; i < shape.rank(); ++i)
        info.shape.push_back(shape[i]);
    return info.shapeText();
}

/// Whether one shape is the other with ones added at the end. Both must have two axes at least: a
/// vector is the weight of no such layer.
bool differsByOnes(const ArrayInfo& array, const Shape& wanted) {
    std::vector<int64_t> here = array.shape, there;
    for (int i = 0; i < wanted.rank(); ++i)
        there.push_back(wanted[i]);
    if (here.size() == there.size() || std::min(here.size(), there.size()) < 2) return false;
    const size_t most = std::max(here.size(), there.size());
    here.resize(most, 1);
    there.resize(most, 1);
    return here == there;
}

/// Returns why the file's array cannot be taken for a name that both have; empty when it can.
Message problemWith(const ArrayInfo& array, const Shape& wanted) {
    const std::string text = tupleText(wanted);
    if (array.shapeText() != text && !differsByOnes(array, wanted))
        return {phrase("Files", "%1 has the shape %2, the network %3"), pathText(array.name),
                array.shapeText(), text};
    if (isWhole(array.type))
        return {phrase("Files", "%1 is %2: float16, bfloat16, float32 and float64 are allowed"),
                pathText(array.name), nameOf(array.type)};
    return {};
}

/// Returns "model." when every name begins with it and some are the network's without it, as
/// modules that wrap others leave them; empty otherwise.
std::string wrapperOf(const SafetensorsInfo& file, const std::map<std::string, Shape>& wanted) {
    const auto named = [&](const std::string& prefix) {
        const auto begins = [&](const ArrayInfo& array) { return array.name.starts_with(prefix); };
        const auto fits = [&](const ArrayInfo& array) {
            return begins(array) && wanted.contains(array.name.substr(prefix.size()));
        };
        return std::all_of(file.arrays.begin(), file.arrays.end(), begins) &&
               std::any_of(file.arrays.begin(), file.arrays.end(), fits);
    };
    if (file.arrays.empty()) return {};
    const std::string& first = file.arrays.front().name;
    for (size_t dot = first.find('.'); dot != first.npos; dot = first.find('.', dot + 1))
        if (const std::string prefix = first.substr(0, dot + 1); named(prefix)) return prefix;
    return {};
}

/// Whether the file has none of the names, but as many arrays of each shape as the network: it was
/// saved from the same layers under the names of a class. The file keeps no order to compare, for
/// safetensors sorts its arrays.
bool hasOtherNames(const StateDictFit& fit, const SafetensorsInfo& file,
                   const std::map<std::string, Shape>& wanted) {
    if (fit.taken > 0 || wanted.empty()) return false;
    std::vector<std::string> here, there;
    for (const auto& each : wanted)
        here.push_back(tupleText(each.second));
    for (const ArrayInfo& array : file.arrays)
        if (!isCount(array.name)) there.push_back(array.shapeText());
    std::ranges::sort(here);
    std::ranges::sort(there);
    return here == there;
}

/// Returns pairsByShape() of the file and the network. An array of whole numbers is none of a
/// network's weights.
WeightPairs pairsOf(const SafetensorsInfo& file, const std::map<std::string, Shape>& wanted) {
    NamedShapes here, there;
    for (const auto& [name, shape] : wanted)
        here[name] = tupleText(shape);
    for (const ArrayInfo& array : file.arrays) {
        if (isWhole(array.type) && !isCount(array.name)) return {};
        there[array.name] = array.shapeText();
    }
    std::erase_if(there, [&](const auto& each) { return isCountOfNorm(each.first, there); });
    return pairsByShape(here, there);
}

/// Returns what differs about names, in the words of load_state_dict().
std::vector<Message> differentNames(const StateDictFit& fit, const std::string& wrapper) {
    std::vector<Message> found;
    if (!wrapper.empty())
        found.emplace_back(phrase("Files", "its names begin with %1, as a wrapped network's do; in "
                                           "Python, {name.removeprefix(%2): array for name, array "
                                           "in state.items()} removes that"),
                           pathText(wrapper), quotedText(wrapper));
    if (!fit.missing.empty())
        found.emplace_back(phrase("Files", "missing: %1"), someOf(fit.missing));
    if (!fit.unexpected.empty())
        found.emplace_back(phrase("Files", "unexpected: %1"), someOf(fit.unexpected));
    return found;
}

/// Finds all problems at once, so that whoever has to change names sees every one of them.
StateDictFit fitByName(const std::string& path, const SafetensorsInfo& file,
                       const WantedWeights& all) {
    const std::map<std::string, Shape>& wanted = all.shapes;
    StateDictFit fit{.wanted = wanted.size()};
    for (const std::string& name : all.names)
        if (!file.find(name)) fit.missing.push_back(name);
    fit.taken = fit.wanted - fit.missing.size();
    std::vector<Message> problems;
    for (const ArrayInfo& array : file.arrays) {
        const auto at = wanted.find(array.name);
        if (at == wanted.end()) {
            if (!isCountOfNorm(array.name, wanted)) fit.unexpected.push_back(pathText(array.name));
        } else if (const Message problem = problemWith(array, at->second); !problem.empty()) {
            constexpr size_t kShown = 8;
            if (problems.size() < kShown) problems.push_back(problem);
        } else if (differsByOnes(array, at->second)) {
            fit.reshaped.push_back(pathText(array.name));
        }
    }
    const auto told = [&path](Phrase start, const std::vector<Message>& found) {
        if (found.empty()) return Message();
        const Message what{start, listed(found, phrase("Files", "%1; %2"))};
        return Message(phrase("Files", "%1: %2"), pathText(path), what);
    };
    constexpr Phrase kOthers = phrase("Files", "its arrays are not those of the network: %1");
    const std::string wrapper = wrapperOf(file, wanted);
    std::vector<Message> names = differentNames(fit, wrapper);
    if (wrapper.empty() && hasOtherNames(fit, file, wanted))
        names.emplace_back(
            phrase("Files", "the shapes are the network's, so only the names differ: paste "
                            "print(model) as the network (model.layers), with Sequential in place "
                            "of the class's name and with what its forward() adds, such as "
                            "(act): ReLU(), and the names match"));
    fit.partialProblem = fit.taken == 0
                             ? told(phrase("Files", "nothing in it fits the network: %1"), names)
                             : told(kOthers, problems);
    names.insert(names.end(), problems.begin(), problems.end());
    fit.problem = told(kOthers, names);
    fit.differences = listed(names, phrase("Files", "%1; %2"));
    return fit;
}

/// Does the same, and looks for pairs where the file does not fit by name. A part is taken by name,
/// unless none fits.
StateDictFit fitOf(const std::string& path, const SafetensorsInfo& file,
                   const WantedWeights& wanted) {
    StateDictFit fit = fitByName(path, file, wanted);
    if (fit.problem.empty()) return fit;
    fit.pairs = pairsOf(file, wanted.shapes);
    if (fit.pairs.empty()) return fit;
    fit.renamed = renamedIn(fit.pairs, wanted.names);
    fit.problem = fit.differences = {};
    if (fit.taken == 0) fit.partialProblem = {};
    return fit;
}

/// Throws when the file is not to be taken as a whole or, where parts are allowed, not even so.
void checkFit(const StateDictFit& fit, bool partial) {
    const Message& problem = partial ? fit.partialProblem : fit.problem;
    if (!problem.empty()) throw InputError(problem);
}

/// Throws likewise, and says how a part of a file that does not fit as a whole could be taken.
void checkFirstFit(const StateDictFit& fit, bool partial) {
    if (!partial && !fit.problem.empty() && fit.partialProblem.empty())
        throw InputError(phrase("Files", "%1; with model.partial_weights, the %2 of %3 tensors "
                                         "that fit are taken"),
                         fit.problem, fit.taken, fit.wanted);
    checkFit(fit, partial);
}

/// Returns which names of a file stand for which of the network.
Message noteOnNames(const std::string& path, const StateDictFit& fit) {
    if (areTorchvisionNames(fit.pairs))
        return {phrase("Files", "the names in %1 are torchvision's, and each has its tensor in the "
                                "network: %2"),
                pathText(path), someOf(fit.renamed)};
    return {phrase("Files", "the layers in %1 have other names than the network's and were matched "
                            "by their shapes, those of the same shapes in ascending order of the "
                            "numbers in their names (forward() may use them in another order): "
                            "%2"),
            pathText(path), someOf(fit.renamed)};
}

/// Returns what is taken of a file that does not fit as a whole, and what is not.
Message noteOn(const std::string& path, const StateDictFit& fit) {
    std::vector<Message> parts{{phrase("Files", "%1 of %2 tensors of the network come from %3"),
                                fit.taken, fit.wanted, pathText(path)}};
    if (!fit.missing.empty())
        parts.emplace_back(phrase("Files", "initial values stay in: %1"), someOf(fit.missing));
    if (!fit.unexpected.empty())
        parts.emplace_back(phrase("Files", "ignored: %1"), someOf(fit.unexpected));
    return listed(parts, phrase("Files", "%1; %2"));
}

/// Adds to a note which arrays are taken although they have another shape.
Message withReshaped(const std::string& path, const StateDictFit& fit, Message note) {
    if (fit.reshaped.empty()) return note;
    Message shapes{phrase("Files", "some shapes in %1 differ from the network's, but only by ones "
                                   "at the end, as those of a 1 x 1 convolution and of nn.Linear "
                                   "do, and are taken: %2"),
                   pathText(path), someOf(fit.reshaped)};
    if (note.empty()) return shapes;
    const std::array both{std::move(note), std::move(shapes)};
    return listed(both, phrase("Files", "%1; %2"));
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
std::string metadataIn(const std::string& path, const char* key) {
    const SafetensorsInfo file = safetensorsInfo(path);
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

} // namespace

StateDictFit stateDictFit(const std::string& path, const RunConfig& config) {
    StateDictFit fit;
    withKey([&] { fit = fitOf(path, headerOf(path), weightsWanted(config)); });
    for (Message* const problem : {&fit.problem, &fit.partialProblem})
        if (!problem->empty()) *problem = within(kKey, *problem);
    return fit;
}

WeightPairs namesInFile(const RunConfig& config) {
    if (config.model.weights.empty() || config.model.partialWeights) return {};
    try {
        return stateDictFit(config.model.weights, config).pairs;
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
    StateDictFit fit = fitOf(path, file, weightsWanted(config));
    if (!fit.problem.empty()) return std::nullopt;
    return fit;
}

void checkStateDict(const std::string& path, const RunConfig& config) {
    withKey([&] { checkFit(fitByName(path, headerOf(path), weightsWanted(config)), false); });
}

Message checkFirstWeights(const RunConfig& config) {
    const std::string& path = config.model.weights;
    const StateDictFit fit = stateDictFit(path, config);
    checkFit(fit, false);
    return withReshaped(path, fit, fit.pairs.empty() ? Message() : noteOnNames(path, fit));
}

Weights readStateDict(const std::string& path, const Graph& step) {
    Weights weights;
    withKey([&] {
        const WantedWeights wanted = weightsWanted(step);
        const SafetensorsInfo file = headerOf(path);
        checkFit(fitByName(path, file, wanted), false);
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
        const SafetensorsInfo file = headerOf(path);
        const StateDictFit fit = fitOf(path, file, wanted);
        checkFirstFit(fit, partial);
        const bool byName = partial && fit.taken > 0;
        const WeightPairs pairs = byName ? WeightPairs() : fit.pairs;
        if (partial && pairs.empty()) first.weights = initialWeights(step, config.seed, stop);
        if (!pairs.empty())
            first.note = noteOnNames(path, fit);
        else if (!fit.missing.empty() || !fit.unexpected.empty())
            first.note = noteOn(path, fit);
        first.note = withReshaped(path, fit, std::move(first.note));
        first.batches = batchesIn(path, file, wanted.shapes, pairs);
        readThere(path, file, wanted.shapes, pairs, first.weights);
        checkFinite(path, first.weights);
    });
    return first;
}

std::string dataPrintIn(const std::string& path) { return metadataIn(path, kDataPrint); }

std::string stepIn(const std::string& path) { return metadataIn(path, kStep); }

std::string stateDictBytes(Trainer& lane, const std::string& model, const std::string& program,
                           const std::string& data, const BatchCounts& before) {
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
    if (!data.empty()) metadata[kDataPrint] = data;
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
