// Leaves what a network takes as it is: of other inputs, it needs other layers.
#include "engine/settings/preset_network.h"

#include "engine/data/dataset.h"
#include "engine/models/output_layer.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/run_task.h"

#include <string>

namespace halfscope {

namespace {

/// Returns how many values the network makes of a sample of the data. A picture is opened: its
/// facts do not say whether it is grey.
int64_t outputsFor(const RunConfig& config, const DataFacts& facts) {
    if (config.task.kind != TaskKind::Image || config.task.image.empty())
        return batchShape(facts.tensors, 1).outputs;
    return batchShape(makeDataset(taskOf(config), config.seed)->tensors(), 1).outputs;
}

/// Returns the layers with so many outputs; the same where the last layer does not have as many as
/// the preset's own data need, such as the channels of a generator's pictures.
std::string withOutputs(const std::string& layers, int64_t own, int64_t outputs) {
    if (own == outputs) return layers;
    ModelSpec model = readModel(layers);
    LayerSpec* const last = outputLayer(model);
    if (!last || outputsOf(*last) != own) return layers;
    const std::string before = last->written;
    setOutputs(*last, outputs);
    const size_t at = layers.rfind(before);
    if (at == layers.npos) return layers;
    return std::string(layers).replace(at, before.size(), last->written);
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
            layers = withOutputs(layers, outputsFor(preset, own), outputsFor(config, facts));
        }
    } catch (const InputError&) {
        return false;
    }
    return layers != preset.model.layers;
}

} // namespace halfscope
