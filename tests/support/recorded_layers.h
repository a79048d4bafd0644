// tests/golden/layers.json: single layers and what PyTorch computes with them.
#pragma once

#include "engine/core/shape.h"
#include "engine/models/layer.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

namespace halfscope::test {

/// Returns the records, which tests/golden/record_layers.py describes.
inline const nlohmann::json& recordedLayers() {
    static const nlohmann::json layers = [] {
        std::ifstream file(std::string(HALFSCOPE_SOURCE_DIR) + "/tests/golden/layers.json");
        return nlohmann::json::parse(file).at("layers");
    }();
    return layers;
}

/// Whether PyTorch was asked about a layer of this row.
inline bool isRecorded(const LayerInfo& info) {
    const std::string call = "nn." + std::string(info.name) + "(";
    for (const nlohmann::json& record : recordedLayers())
        if (record["source"].get<std::string>().starts_with(call)) return true;
    return false;
}

inline Shape recordedShape(const nlohmann::json& list) {
    Shape shape;
    for (const nlohmann::json& extent : list)
        shape.push(extent.get<int64_t>());
    return shape;
}

} // namespace halfscope::test
