// Puts layers of one kind in a row on each side, and leaves out those that fit.
#include "engine/train/shape_differences.h"

#include "engine/train/weight_pairs.h"

#include <algorithm>
#include <map>
#include <utility>

namespace halfscope {
namespace {

/// A layer's tensors by the last parts of their names.
using Layer = std::map<std::string, NamedShape>;
/// What two layers have in common that are compared: their last names and numbers of axes.
using Kind = std::map<std::string, size_t>;
using Layers = std::vector<Layer>;

/// Returns the layers in the order in which their first tensors come.
std::map<Kind, Layers> layersIn(const std::vector<NamedShape>& tensors) {
    Layers layers;
    std::map<std::string, size_t> places;
    for (const NamedShape& tensor : tensors) {
        const size_t end = tensor.name.rfind('.') + 1; // 0 without a dot
        const auto [at, fresh] = places.emplace(tensor.name.substr(0, end), layers.size());
        if (fresh) layers.emplace_back();
        layers[at->second].emplace(tensor.name.substr(end), tensor);
    }
    std::map<Kind, Layers> byKind;
    for (Layer& layer : layers) {
        Kind kind;
        for (const auto& [end, tensor] : layer)
            kind[end] = tensor.shape.size();
        byKind[kind].push_back(std::move(layer));
    }
    return byKind;
}

bool hasSameShapes(const Layer& a, const Layer& b) {
    return std::ranges::equal(a, b, [](const auto& left, const auto& right) {
        return left.second.shape == right.second.shape;
    });
}

/// Removes layers that have one of the same shapes on the other side, each with that one.
void removeEqual(Layers& here, Layers& there) {
    std::erase_if(here, [&there](const Layer& layer) {
        const auto same = std::ranges::find_if(
            there, [&layer](const Layer& other) { return hasSameShapes(layer, other); });
        if (same == there.end()) return false;
        there.erase(same);
        return true;
    });
}

} // namespace

std::vector<ShapeDifference> shapeDifferences(const std::vector<NamedShape>& network,
                                              const std::vector<NamedShape>& file) {
    constexpr size_t kMost = 1000; // of more, a person reads nothing
    if (std::max(network.size(), file.size()) > kMost) return {};
    std::vector<NamedShape> counted = file;
    std::ranges::sort(counted, {}, [](const NamedShape& each) { return countedName(each.name); });
    std::map<Kind, Layers> all = layersIn(network), others = layersIn(counted);
    std::vector<ShapeDifference> found;
    for (auto& [kind, here] : all) {
        Layers& there = others[kind];
        removeEqual(here, there);
        for (size_t i = 0; i < std::min(here.size(), there.size()); ++i)
            for (const auto& [end, tensor] : here[i])
                if (const NamedShape& other = there[i].at(end); other.shape != tensor.shape)
                    found.push_back({other, tensor});
    }
    return found;
}

} // namespace halfscope
