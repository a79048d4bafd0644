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

/// Looks from the end. Sets `ends` at a Residual, which would have to change as a whole.
LayerSpec* lastIn(LayerSpec& layer, bool& ends) {
    if (layer.info->holds == Holds::Nothing) return tellsOutputs(layer) ? &layer : nullptr;
    ends = layer.info->holds == Holds::Residual;
    for (auto child = layer.children.rbegin(); !ends && child != layer.children.rend(); ++child)
        if (LayerSpec* const last = lastIn(*child, ends)) return last;
    return nullptr;
}

} // namespace

LayerSpec* outputLayer(ModelSpec& model) {
    bool ends = false;
    return lastIn(model.root, ends);
}

int64_t outputsOf(const LayerSpec& layer) {
    require(tellsOutputs(layer), "the layer tells how many values it makes");
    return static_cast<int64_t>(layer.args[outputsAt(layer)].numbers.front());
}

void setOutputs(LayerSpec& layer, int64_t outputs) {
    require(tellsOutputs(layer), "the layer tells how many values it makes");
    layer.args[outputsAt(layer)].numbers = {static_cast<double>(outputs)};
    if (layer.info->complete) layer.info->complete(layer);
    layer.written = std::string(layer.info->name) + "(" + pythonArguments(layer) + ")";
}

} // namespace halfscope
