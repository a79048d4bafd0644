// A layer's forward() is put into a context of its own, so that the names of the weights stay.
#include "engine/step/pytorch_layers.h"

#include "engine/lang/python.h"
#include "engine/settings/layers.h"

#include <algorithm>
#include <array>

namespace halfscope {
namespace {

/// A layer, or a part of one.
struct Target {
    const LayerSpec* layer = nullptr; ///< null for what is no layer: the loss
    std::string part;                 ///< "linear1"

    std::string path() const { return part.empty() ? layer->path : joinedPath(layer->path, part); }
    /// Whether PyTorch calls a module of its own for it: nn.MultiheadAttention hands the weights of
    /// its parts to a function.
    bool isModule() const {
        return layer->info->holds == Holds::Nothing && !part.starts_with("self_attn");
    }
    /// Whether it is one function that autocast casts, with all that it takes.
    bool isProduct() const {
        static constexpr std::array<std::string_view, 5> kProducts{
            "Linear", "Conv1d", "Conv2d", "ConvTranspose1d", "ConvTranspose2d"};
        if (!part.empty()) return part.starts_with("linear");
        return std::find(kProducts.begin(), kProducts.end(), layer->info->name) != kProducts.end();
    }
};

Target targetNamed(const LayerSpec& layer, std::string_view label) {
    if (layer.label == label) return {&layer, {}};
    const bool within = label.starts_with(layer.label) && label[layer.label.size()] == '.';
    if (within && layer.children.empty())
        return {&layer, std::string(label.substr(layer.label.size() + 1))};
    for (const LayerSpec& child : layer.children)
        if (Target found = targetNamed(child, label); found.layer) return found;
    return {};
}

} // namespace

TorchLayers torchLayers(const LaneConfig& lane, const TorchLane& torch, const ModelSpec& model,
                        bool alone) {
    TorchLayers found;
    const LayerTypes forced = forcedLayers(lane.layers).value_or(LayerTypes());
    for (const auto& [label, dtype] : forced) {
        const Target target = targetNamed(model.root, label);
        // In a layer with a type of its own, PyTorch's functions refuse what a part in another
        // makes.
        const bool inside =
            target.layer && !target.part.empty() && forced.contains(target.layer->label);
        const bool plain = target.layer && target.isModule() && alone && !inside;
        const bool full = dtype == DType::F32 && torch.cast.empty();
        const bool lower = isLow(dtype) && !torch.autocast.empty() && plain && target.isProduct();
        const std::string type(nameOf(dtype));
        if (!plain || !(full || lower)) {
            found.lacking.push_back(label + "=" + type);
            continue;
        }
        found.python += (found.python.empty() ? "" : ", ") + lang::pythonText(target.path()) +
                        ": torch." + type;
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
