// Files of weights under names that a test chooses.
#pragma once

#include "engine/io/safetensors.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace halfscope::test {

struct NamedWeight {
    std::string name;
    std::vector<int64_t> shape;
};

/// Writes tensors of small numbers, which differ from one another. Returns the path.
inline std::string writeNamedWeights(const std::string& path,
                                     const std::vector<NamedWeight>& tensors) {
    std::vector<std::vector<float>> values;
    for (size_t i = 0; i < tensors.size(); ++i) {
        size_t count = 1;
        for (const int64_t extent : tensors[i].shape)
            count *= static_cast<size_t>(extent);
        std::vector<float>& own = values.emplace_back(count);
        for (size_t k = 0; k < count; ++k)
            own[k] = 0.05F * std::sin(static_cast<float>(k + 1000 * i));
    }
    std::vector<ArrayView> views;
    for (size_t i = 0; i < tensors.size(); ++i)
        views.push_back({tensors[i].name, ElementType::F32, tensors[i].shape,
                         std::as_bytes(std::span(values[i]))});
    writeSafetensors(path, views, {});
    return path;
}

/// Writes the weights of a network 784-256-10 whose layers have these names. Returns the path.
inline std::string writeDigitWeights(const std::string& path, const std::string& first,
                                     const std::string& second) {
    return writeNamedWeights(path, {{first + ".weight", {256, 784}},
                                    {first + ".bias", {256}},
                                    {second + ".weight", {10, 256}},
                                    {second + ".bias", {10}}});
}

/// Copies a file of weights under other names. Returns the copy.
inline std::string
renamedWeights(const std::string& file, const std::string& to,
               const std::function<std::string(const std::string& name)>& rename) {
    std::vector<Array> arrays;
    const SafetensorsInfo info = safetensorsInfo(file);
    for (const ArrayInfo& each : info.arrays)
        arrays.push_back(readSafetensor(file, each));
    std::vector<ArrayView> views;
    for (const Array& array : arrays)
        views.push_back({rename(array.info.name), array.info.type, array.info.shape, array.bytes});
    writeSafetensors(to, views, {});
    return to;
}

} // namespace halfscope::test
