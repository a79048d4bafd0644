// Compares layers by what they hold, and their names by their numbers.
#include "engine/train/weight_pairs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

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

/// Which of two names is the first, by the first number in which they differ.
struct Order {
    bool isFirst;          ///< whether the one is that was given first
    std::string_view stem; ///< its part before that number
};

/// Returns nothing when the names differ in something else before.
std::optional<Order> orderOf(std::string_view a, std::string_view b) {
    const std::string_view whole = a;
    while (!a.empty() && !b.empty()) {
        if (isDigit(a.front()) && isDigit(b.front())) {
            const std::string_view stem = whole.substr(0, whole.size() - a.size());
            const std::string_view left = frontNumber(a), right = frontNumber(b);
            if (left.size() != right.size()) return Order{left.size() < right.size(), stem};
            if (left != right) return Order{left < right, stem};
            continue;
        }
        if (a.front() != b.front()) return std::nullopt;
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    return std::nullopt;
}

/// Whether the numbers behind a stem may be positions. As names of their own they are, for PyTorch
/// numbers a Sequential. In a word they must count up from 0 or 1: those of res64 and res32 are
/// sizes, and say nothing about the order.
bool mayCount(std::string_view stem, const LayersByContent& layers) {
    if (stem.empty() || stem.back() == '.') return true;
    std::set<std::string, std::less<>> numbers;
    for (const auto& [content, names] : layers)
        for (std::string_view name : names) {
            if (!name.starts_with(stem)) continue;
            name.remove_prefix(stem.size());
            if (const std::string_view number = frontNumber(name); !number.empty())
                numbers.emplace(number);
        }
    const size_t from = numbers.contains("0") ? 0 : 1;
    for (size_t i = 0; i < numbers.size(); ++i)
        if (!numbers.contains(std::to_string(from + i))) return false;
    return true;
}

/// Returns some of the names of layers, sorted by their numbers; nothing when these do not order
/// all of them.
std::optional<std::vector<LayerName>> sortedByNumber(std::vector<LayerName> names,
                                                     const LayersByContent& layers) {
    for (size_t i = 0; i < names.size(); ++i)
        for (size_t j = i + 1; j < names.size(); ++j)
            if (const auto order = orderOf(names[i], names[j]);
                !order || !mayCount(order->stem, layers))
                return std::nullopt;
    std::ranges::sort(names, [](const LayerName& a, const LayerName& b) {
        const auto order = orderOf(a, b);
        return order && order->isFirst;
    });
    return names;
}

struct LayerPair {
    LayerName here, there;
};

/// Whether the numbers in the names order the layers in one way on both sides, as far as they tell:
/// a network with the same layers in another order is another network.
bool keepOrder(const std::vector<LayerPair>& layers) {
    for (size_t i = 0; i < layers.size(); ++i)
        for (size_t j = i + 1; j < layers.size(); ++j) {
            const auto here = orderOf(layers[i].here, layers[j].here);
            const auto there = orderOf(layers[i].there, layers[j].there);
            if (here && there && here->isFirst != there->isFirst) return false;
        }
    return true;
}

/// Whether each layer whose name is in both is itself, or one whose name differs in a number alone:
/// a Flatten in front moves numbers, but nothing makes a decoder of an encoder.
bool keepNames(const std::vector<LayerPair>& layers) {
    std::set<LayerName> others;
    for (const LayerPair& each : layers)
        others.insert(each.there);
    return std::ranges::all_of(layers, [&others](const LayerPair& each) {
        return each.here == each.there || !others.contains(each.here) ||
               orderOf(each.here, each.there);
    });
}

} // namespace

WeightPairs pairsByShape(const NamedShapes& network, const NamedShapes& file) {
    const auto isSame = [](const auto& a, const auto& b) { return a.first == b.first; };
    if (std::ranges::equal(network, file, isSame)) return {}; // it fits by name, or not at all
    const LayersByContent here = groupedLayers(network), there = groupedLayers(file);
    if (here.size() != there.size()) return {};
    WeightPairs pairs;
    std::vector<LayerPair> layers;
    for (const auto& [content, alike] : here) {
        const auto found = there.find(content);
        if (found == there.end() || found->second.size() != alike.size()) return {};
        std::optional names(alike), others(found->second);
        if (*names != *others) { // the same names in both need no order
            names = sortedByNumber(*names, here);
            others = sortedByNumber(*others, there);
        }
        if (!names || !others) return {};
        for (size_t i = 0; i < names->size(); ++i) {
            layers.push_back({names->at(i), others->at(i)});
            for (const auto& tensor : content)
                pairs[names->at(i) + tensor.first] = others->at(i) + tensor.first;
        }
    }
    return keepOrder(layers) && keepNames(layers) ? pairs : WeightPairs();
}

std::string countedName(const std::string& name) {
    constexpr size_t kWidth = 20;
    std::string counted, number;
    for (const char c : name + '\n') { // a line break ends the last number
        if (c >= '0' && c <= '9') {
            number += c;
            continue;
        }
        if (!number.empty() && number.size() < kWidth) counted.append(kWidth - number.size(), '0');
        counted += std::exchange(number, {}) + c;
    }
    return counted;
}

std::vector<std::string> renamedIn(const WeightPairs& pairs, std::span<const std::string> names) {
    std::vector<std::string> renamed;
    for (const std::string& here : names)
        if (const auto pair = pairs.find(here); pair != pairs.end() && pair->second != here)
            renamed.push_back(pair->second + " → " + here);
    return renamed;
}

} // namespace halfscope
