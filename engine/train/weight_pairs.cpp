// Compares layers by what they hold, and their names by their numbers.
#include "engine/train/weight_pairs.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace halfscope {
namespace {

/// A layer: its name with the dot behind it, empty for a network that is one layer.
using LayerName = std::string;
/// Layers that hold the same: by the ends of their tensors' names with their shapes.
using LayersByContent = std::map<NamedShapes, std::vector<LayerName>>;

LayersByContent groupedLayers(const NamedShapes& tensors) {
    std::map<LayerName, NamedShapes> layers;
    for (const auto& [name, shape] : tensors) {
        const size_t end = name.rfind('.') + 1; // 0 without a dot
        layers[name.substr(0, end)][name.substr(end)] = shape;
    }
    LayersByContent alike;
    for (const auto& [name, content] : layers)
        alike[content].push_back(name);
    return alike;
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Takes the digits from the start of a name, and returns them without leading zeros.
std::string_view frontNumber(std::string_view& name) {
    size_t end = 0, begin = 0;
    while (end < name.size() && isDigit(name[end]))
        ++end;
    while (begin + 1 < end && name[begin] == '0')
        ++begin;
    const std::string_view number = name.substr(begin, end - begin);
    name.remove_prefix(end);
    return number;
}

/// Orders two names by the first number in which they differ. Returns nothing when they differ in
/// something else before.
std::optional<bool> comesBefore(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        if (isDigit(a.front()) && isDigit(b.front())) {
            const std::string_view left = frontNumber(a), right = frontNumber(b);
            if (left.size() != right.size()) return left.size() < right.size();
            if (left != right) return left < right;
            continue;
        }
        if (a.front() != b.front()) return std::nullopt;
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    return std::nullopt;
}

/// Sorts the names of layers by their numbers; returns false when these do not order all of them.
bool sortByNumber(std::vector<LayerName>& names) {
    for (size_t i = 0; i < names.size(); ++i)
        for (size_t j = i + 1; j < names.size(); ++j)
            if (!comesBefore(names[i], names[j])) return false;
    std::ranges::sort(
        names, [](const LayerName& a, const LayerName& b) { return comesBefore(a, b) == true; });
    return true;
}

struct LayerPair {
    LayerName here, there;
};

/// Whether the numbers in the names order the layers in one way on both sides, as far as they tell:
/// a network with the same layers in another order is another network.
bool keepOrder(const std::vector<LayerPair>& layers) {
    for (size_t i = 0; i < layers.size(); ++i)
        for (size_t j = i + 1; j < layers.size(); ++j) {
            const auto here = comesBefore(layers[i].here, layers[j].here);
            const auto there = comesBefore(layers[i].there, layers[j].there);
            if (here && there && *here != *there) return false;
        }
    return true;
}

} // namespace

WeightPairs pairsByShape(const NamedShapes& network, const NamedShapes& file) {
    LayersByContent here = groupedLayers(network), there = groupedLayers(file);
    if (here.size() != there.size()) return {};
    WeightPairs pairs;
    std::vector<LayerPair> layers;
    for (auto& [content, names] : here) {
        const auto found = there.find(content);
        if (found == there.end() || found->second.size() != names.size()) return {};
        std::vector<LayerName>& others = found->second;
        // the same names in both need no order
        if (names != others && !(sortByNumber(names) && sortByNumber(others))) return {};
        for (size_t i = 0; i < names.size(); ++i) {
            layers.push_back({names[i], others[i]});
            for (const auto& tensor : content)
                pairs[names[i] + tensor.first] = others[i] + tensor.first;
        }
    }
    return keepOrder(layers) ? pairs : WeightPairs();
}

std::vector<std::string> renamedIn(const WeightPairs& pairs) {
    std::vector<std::string> renamed;
    for (const auto& [here, there] : pairs)
        if (here != there) renamed.push_back(there + " → " + here);
    return renamed;
}

} // namespace halfscope
