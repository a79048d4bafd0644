// A layer's forward() is put into a context of its own, so that the names of the weights stay.
#include "engine/step/pytorch_layers.h"

#include "engine/lang/python.h"
#include "engine/settings/layers.h"

#include <algorithm>
#include <array>

namespace halfscope {
namespace {

const LayerSpec* layerNamed(const LayerSpec& layer, std::string_view label) {
    if (layer.label == label) return &layer;
    for (const LayerSpec& child : layer.children)
        if (const LayerSpec* found = layerNamed(child, label)) return found;
    return nullptr;
}

/// Whether a layer is one function that autocast casts, with all that it takes.
bool isProduct(const LayerSpec& layer) {
    static constexpr std::array<std::string_view, 4> kProducts{"Linear", "Conv1d", "Conv2d",
                                                               "ConvTranspose2d"};
    return std::find(kProducts.begin(), kProducts.end(), layer.info->name) != kProducts.end();
}

} // namespace

TorchLayers torchLayers(const LaneConfig& lane, const TorchLane& torch, const ModelSpec& model,
                        bool alone) {
    TorchLayers found;
    const LayerTypes forced = forcedLayers(lane.layers).value_or(LayerTypes());
    for (const auto& [label, dtype] : forced) {
        const LayerSpec* layer = layerNamed(model.root, label);
        const bool plain = layer && layer->info->holds == Holds::Nothing && alone;
        const bool full = dtype == DType::F32 && torch.cast.empty();
        const bool lower = isLow(dtype) && !torch.autocast.empty() && plain && isProduct(*layer);
        const std::string type(nameOf(dtype));
        if (!plain || !(full || lower)) {
            found.lacking.push_back(label + "=" + type);
            continue;
        }
        found.python +=
            (found.python.empty() ? "" : ", ") + lang::pythonText(layer->path) + ": torch." + type;
    }
    if (!found.python.empty()) found.python = "{" + found.python + "}";
    return found;
}

std::string pythonLayers(bool fp8) {
    return lang::filled(R"(

def keep_types(model, layers):
    """Lets layers compute in types of their own, whatever autocast does to the others."""
    for path, dtype in layers.items():
        layer = model.get_submodule(path)
        layer.forward = in_type(layer.forward, dtype)


def in_type(call, dtype):
    def forward(given, *rest, **named):
        given = given.to(dtype) if given.is_floating_point() else given
        with torch.autocast(DEVICE, dtype, enabled=dtype != torch.float32){PLAIN}:
            return call(given, *rest, **named)

    return forward
)",
                        {{"PLAIN", fp8 ? ", functions(PLAIN)" : ""}});
}

} // namespace halfscope
