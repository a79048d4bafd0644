// Goes by the names of arguments: torch.nn calls the number out_features or out_channels.
#include "engine/models/output_layer.h"

#include "engine/core/error.h"
#include "engine/models/layer_arguments.h"

#include <algorithm>

namespace halfscope {

namespace {

/// Returns the place of the argument among those of the layer's row; as many as it has where it has
/// no such one.
size_t outputsAt(const LayerSpec& layer) {
    const auto found = std::ranges::find_if(layer.info->args, [](const ArgInfo& arg) {
        return arg.name == "out_features" || arg.name == "out_channels";
    });
    return static_cast<size_t>(found - layer.info->args.begin());
}

bool tellsOutputs(const LayerSpec& layer) { return outputsAt(layer) < layer.info->args.size(); }

/// Whether the layer takes any number of values and makes as many.
bool keepsOutputs(const LayerSpec& layer) {
    return !layer.info->computes || (layer.info->output == sameType && !layer.info->parameters);
}

/// Sets `found`; returns false where layers before this one do not matter any more.
bool lookInto(LayerSpec& layer, LayerSpec*& found) {
    if (layer.info->holds == Holds::Nothing) {
        if (tellsOutputs(layer)) found = &layer;
        return !found && keepsOutputs(layer);
    }
    if (layer.info->holds != Holds::Chain) return false;
    for (auto child = layer.children.rbegin(); child != layer.children.rend(); ++child)
        if (!lookInto(*child, found)) return false;
    return true;
}

} // namespace

LayerSpec* outputLayer(ModelSpec& model) {
    LayerSpec* found = nullptr;
    lookInto(model.root, found);
    return found;
}

void setOutputs(LayerSpec& layer, int64_t outputs) {
    require(tellsOutputs(layer), "the layer tells how many values it makes");
    layer.args[outputsAt(layer)].numbers = {static_cast<double>(outputs)};
    layer.written = std::string(layer.info->name) + "(" + pythonArguments(layer) + ")";
}

} // namespace halfscope
