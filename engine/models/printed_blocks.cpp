// Compares the names of the layers, in the order in which the classes make them.
#include "engine/models/printed_blocks.h"

#include "engine/core/text.h"
#include "engine/models/model_spec.h"

#include <algorithm>
#include <vector>

namespace halfscope {

namespace {

using lang::Argument;
using lang::Value;

using LayerNames = std::vector<std::string_view>;

bool hasParts(const Value& value, const LayerNames& names) {
    return std::ranges::equal(value.arguments, names, [](const Argument& part, auto name) {
        return part.printed && part.name == name;
    });
}

/// Returns the part with another name.
Argument namedPart(const Value& value, std::string_view name, std::string_view called) {
    Argument part = *std::ranges::find(value.arguments, name, &Argument::name);
    part.name = called;
    return part;
}

Value containerAt(lang::Place place, std::string_view name) {
    Value container;
    container.kind = lang::Kind::Call;
    container.place = place;
    container.text = name;
    return container;
}

/// Returns the block with layers in the order in which its forward() runs them before the sum.
Value reorderedBlock(const Value& printed, const LayerNames& order, bool hasShortcut) {
    Value residual = containerAt(printed.place, "Residual");
    int relus = 0;
    for (const std::string_view name : order) {
        const bool again = name == "relu" && ++relus > 1;
        residual.arguments.push_back(namedPart(printed, name, again ? "relu_2" : name));
        if (again) residual.arguments.back().value.again = true; // PReLU shares its weights
    }
    if (hasShortcut)
        residual.arguments.push_back(namedPart(printed, kDownsampleName, kShortcutName));
    Value block = containerAt(printed.place, "Sequential");
    block.arguments.push_back({std::string(kBlockName), printed.place, true, residual});
    block.arguments.push_back(namedPart(printed, "relu", "relu"));
    block.arguments.back().value.again = true;
    return block;
}

/// Whether the activation of a block, which runs more than once, has no layers in it.
bool hasPlainActivation(const Value& printed) {
    const auto relu = std::ranges::find(printed.arguments, "relu", &Argument::name);
    return std::ranges::none_of(relu->value.arguments, [](const Argument& part) {
        return part.printed || part.value.kind == lang::Kind::Call;
    });
}

/// A class: the names of its layers as they are printed, and as its forward() runs them.
struct BlockRow {
    std::string_view name;
    LayerNames printed, order;
};

std::optional<Value> blockIn(const Value& value) {
    static const BlockRow kBlockClasses[] = {
        {"BasicBlock",
         {"conv1", "bn1", "relu", "conv2", "bn2"},
         {"conv1", "bn1", "relu", "conv2", "bn2"}},
        {"Bottleneck",
         {"conv1", "bn1", "conv2", "bn2", "conv3", "bn3", "relu"},
         {"conv1", "bn1", "relu", "conv2", "bn2", "relu", "conv3", "bn3"}},
    };
    for (const BlockRow& row : kBlockClasses) {
        if (row.name != value.text) continue;
        LayerNames with = row.printed;
        with.push_back(kDownsampleName);
        const bool hasShortcut = hasParts(value, with);
        if ((hasShortcut || hasParts(value, row.printed)) && hasPlainActivation(value))
            return reorderedBlock(value, row.order, hasShortcut);
    }
    return std::nullopt;
}

} // namespace

std::optional<Value> readAsTorchvision(const Value& value) {
    if (value.kind != lang::Kind::Call) return std::nullopt;
    if (value.text != "ResNet") return blockIn(value);
    if (!hasParts(value, {"conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3", "layer4",
                          "avgpool", "fc"}))
        return std::nullopt;
    Value network = containerAt(value.place, "Sequential");
    network.arguments = value.arguments;
    const lang::Place place = value.arguments.back().place;
    network.arguments.insert(network.arguments.end() - 1,
                             {"flatten", place, false, containerAt(place, "Flatten")});
    return network;
}

std::string torchvisionName(std::string_view name) {
    std::string joined;
    for (const std::string_view part : partsOf(name, '.'))
        if (part != kBlockName)
            joined = joinedPath(joined, part == kShortcutName ? kDownsampleName : part);
    return joined;
}

} // namespace halfscope
