// The table of layers, put together from its families, and the parts that their rules share.
#include "engine/models/layer.h"

#include <cmath>

namespace halfscope {

std::span<const LayerInfo> layerTable() {
    static const std::vector<LayerInfo> table = [] {
        std::vector<LayerInfo> all;
        for (const auto& family :
             {productLayers(), normLayers(), activationLayers(), poolingLayers(), paddingLayers(),
              shapeLayers(), coordinateLayers(), sequenceLayers()})
            all.insert(all.end(), family.begin(), family.end());
        return all;
    }();
    return table;
}

const LayerInfo* findLayer(std::string_view name) {
    for (const LayerInfo& info : layerTable())
        if (info.name == name) return &info;
    return nullptr;
}

InitialValue linearStart(double fanIn) {
    return {InitialValue::Kind::Uniform, 1 / std::sqrt(fanIn)};
}

NodeType lastAxisOutput(const LayerSpec& layer, const NodeType& in, int64_t outFeatures) {
    if (in.shape.empty()) layer.refuse(phrase("Model", "the input is a single number"));
    if (in.shape.back() != layer.whole("in_features"))
        layer.refuse({phrase("Model", "the input has %1 features"), in.shape.back()});
    NodeType out = in;
    out.shape[in.shape.rank() - 1] = outFeatures;
    return out;
}

void requireImage(const LayerSpec& layer, const NodeType& in) {
    if (in.shape.rank() != 4)
        layer.refuse(
            {phrase("Model",
                    "the input is %1; images (samples, channels, height, width) are expected"),
             shapeText(in.shape)});
}

void requireSequence(const LayerSpec& layer, const NodeType& in) {
    if (in.shape.rank() != 3)
        layer.refuse({phrase("Model", "the input is %1; sequences (samples, channels, length) are "
                                      "expected"),
                      shapeText(in.shape)});
}

void requirePlaces(const LayerSpec& layer, const NodeType& in, int leastRank) {
    if (in.shape.rank() < leastRank)
        layer.refuse({phrase("Model", "the input is %1; (samples, channels, ...) is expected"),
                      shapeText(in.shape)});
}

int axisOf(const LayerSpec& layer, std::string_view arg, const Shape& shape) {
    int64_t axis = layer.whole(arg);
    if (axis < 0) axis += shape.rank();
    if (axis < 0 || axis >= shape.rank())
        layer.refuse(
            {phrase("Model", "%1 is not an axis of the input, %2"), arg, shapeText(shape)});
    return static_cast<int>(axis);
}

std::string shapeText(const Shape& shape) {
    std::string text;
    for (const int64_t extent : shape)
        text += (text.empty() ? "(" : ", ") + std::to_string(extent);
    return (text.empty() ? "(" : text) + (shape.rank() == 1 ? ",)" : ")");
}

} // namespace halfscope
