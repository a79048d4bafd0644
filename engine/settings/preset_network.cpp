// Leaves what a network takes as it is: of other inputs, it needs other layers.
#include "engine/settings/preset_network.h"

#include "engine/data/dataset.h"
#include "engine/models/output_layer.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/run_task.h"

#include <string>
#include <utility>

namespace halfscope {

namespace {

/// Returns how many values the network makes of a sample of the data. A picture is opened: its
/// facts do not say whether it is grey.
int64_t outputsFor(const RunConfig& config, const DataFacts& facts) {
    if (config.task.kind != TaskKind::Image || config.task.image.empty())
        return batchShape(facts.tensors, 1).outputs;
    return batchShape(makeDataset(taskOf(config), config.seed)->tensors(), 1).outputs;
}

/// Returns the layers with so many outputs; nothing where no last layer tells how many it makes, or
/// where it does not make as many as `from`, such as the channels of a generator's pictures.
std::optional<ChangedEnd> withOutputs(const std::string& layers, std::optional<int64_t> from,
                                      int64_t outputs) {
    ModelSpec model = readModel(layers);
    LayerSpec* const last = outputLayer(model);
    if (!last || (from && outputsOf(*last) != from)) return std::nullopt;
    const std::string before = last->written;
    setOutputs(*last, outputs);
    const size_t at = layers.rfind(before); // nowhere where a number in it has a name
    std::string all = pythonOf(model, "");
    if (at == layers.npos) return ChangedEnd{std::move(all), last->written};
    std::string changed = layers;
    changed.replace(at, before.size(), last->written);
    const bool same = pythonOf(readModel(changed), "") == all; // else it was another layer's text
    return ChangedEnd{same ? std::move(changed) : std::move(all), last->written};
}

} // namespace

bool fitNetworkToData(RunConfig& config, const RunConfig& preset) {
    std::string& layers = config.model.layers;
    if (layers.empty() || layers != preset.model.layers) return false;
    try {
        const DataFacts own = factsOf(taskOf(preset)), facts = factsOf(taskOf(config));
        const auto takesIndices = [](const DataFacts& each) {
            return each.tensors[kX].classes > 0 && each.tensors[kTarget].classes > 0;
        };
        if (takesIndices(own) && layers == encoderLayers(own)) {
            if (takesIndices(facts)) layers = encoderLayers(facts);
        } else {
            const int64_t from = outputsFor(preset, own), to = outputsFor(config, facts);
            if (from == to) return false;
            if (auto changed = withOutputs(layers, from, to)) layers = std::move(changed->layers);
        }
    } catch (const InputError&) {
        return false;
    }
    return layers != preset.model.layers;
}

std::optional<ChangedEnd> withOutputsFor(const RunConfig& config, const std::string& layers) {
    return withOutputs(layers, std::nullopt, outputsFor(config, factsOf(taskOf(config))));
}

} // namespace halfscope
