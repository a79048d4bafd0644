// Puts layers into an order in which their sizes chain, and tries what comes out.
#include "engine/train/network_of_weights.h"

#include "engine/core/error.h"
#include "engine/models/model_spec.h"
#include "engine/step/model_shapes.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace halfscope {
namespace {

/// The weights of an nn.Linear.
struct LinearWeights {
    int64_t in = 0, out = 0; ///< 0: it has no weight
    int64_t biases = 0;      ///< 0: it has no bias
};

/// Returns the layers of a file in the order of their names; empty when it holds anything but
/// those of nn.Linear.
std::vector<LinearWeights> linearsIn(const SafetensorsInfo& file) {
    std::map<std::string, LinearWeights> layers;
    for (const ArrayInfo& array : file.arrays) {
        if (isWhole(array.type) || std::ranges::count(array.shape, 0) > 0) return {};
        if (const auto layer = layerPathOf(array.name, "weight");
            layer && array.shape.size() == 2) {
            layers[countedName(*layer)].in = array.shape[1];
            layers[countedName(*layer)].out = array.shape[0];
        } else if (const auto biased = layerPathOf(array.name, "bias");
                   biased && array.shape.size() == 1) {
            layers[countedName(*biased)].biases = array.shape[0];
        } else {
            return {};
        }
    }
    std::vector<LinearWeights> found;
    for (const auto& [name, layer] : layers) {
        if (layer.in == 0 || (layer.biases != 0 && layer.biases != layer.out)) return {};
        found.push_back(layer);
    }
    return found;
}

/// Returns the layers so that each takes what the one before it gives; empty when no such order is
/// found. Of several that could follow, the first by name does.
std::vector<LinearWeights> chained(std::vector<LinearWeights> left) {
    std::vector<LinearWeights> chain;
    const auto begins = [&left](const LinearWeights& layer) {
        return std::ranges::find(left, layer.in, &LinearWeights::out) == left.end();
    };
    auto next = std::ranges::find_if(left, begins);
    if (next == left.end()) next = left.begin(); // an autoencoder ends as it begins
    while (next != left.end()) {
        chain.push_back(*next);
        left.erase(next);
        next = std::ranges::find(left, chain.back().out, &LinearWeights::in);
    }
    return left.empty() ? chain : std::vector<LinearWeights>();
}

/// Returns the stack of layers with ReLU between them; its layers are empty when there is none.
NetworkOfWeights stackIn(const SafetensorsInfo& file) {
    constexpr size_t kMostArrays = 256; // a stack that a person would write
    if (file.arrays.size() > kMostArrays) return {};
    NetworkOfWeights stack;
    for (const LinearWeights& layer : chained(linearsIn(file))) {
        const std::string in = std::to_string(layer.in), out = std::to_string(layer.out);
        stack.layers += stack.layers.empty() ? "nn.Sequential(\n" : ", nn.ReLU(),\n";
        stack.layers += "    nn.Linear(" + in + ", " + out;
        stack.layers += layer.biases == 0 ? ", bias=False)" : ")";
        stack.sizes += (stack.sizes.empty() ? in + "-" : "-") + out;
    }
    if (!stack.layers.empty()) stack.layers += ")";
    return stack;
}

/// Returns the network that the file names; its layers are empty when it names none that can be
/// read.
NetworkOfWeights namedIn(const SafetensorsInfo& file) {
    const auto named = file.metadata.find("model");
    if (named == file.metadata.end()) return {};
    try {
        readModel(named->second);
        return {named->second};
    } catch (const InputError&) { // another program's word for something else
        return {};
    }
}

/// Whether the weights fit a network, and that the data. Keeps how they do.
bool fits(const std::string& path, RunConfig config, NetworkOfWeights& network) {
    if (network.layers.empty()) return false;
    config.model.layers = network.layers;
    try {
        if (!modelShapes(config).error.empty()) return false;
        network.fit = stateDictFit(path, config);
    } catch (const InputError&) {
        return false;
    }
    return network.fit.problem.empty();
}

} // namespace

std::optional<NetworkOfWeights> networkOfWeights(const std::string& path, const RunConfig& config) {
    const SafetensorsInfo file = stateDictHeader(path);
    for (NetworkOfWeights network : {namedIn(file), stackIn(file)})
        if (fits(path, config, network)) return network;
    return std::nullopt;
}

} // namespace halfscope
