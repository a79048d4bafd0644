// A file of weights that lacks some of those that a network has, and has others.
#pragma once

#include "engine/io/safetensors.h"

#include <algorithm>
#include <string>
#include <vector>

namespace halfscope::test {

/// Copies a file of weights without some arrays and with more, of one zero each. Returns the copy.
inline std::string partOfWeights(const std::string& file, const std::string& to,
                                 const std::vector<std::string>& without,
                                 const std::vector<std::string>& more = {}) {
    std::vector<Array> arrays;
    for (const ArrayInfo& each : safetensorsInfo(file).arrays)
        if (std::ranges::find(without, each.name) == without.end())
            arrays.push_back(readSafetensor(file, each));
    std::vector<ArrayView> views;
    for (const Array& array : arrays)
        views.push_back({array.info.name, array.info.type, array.info.shape, array.bytes});
    const std::vector<std::byte> zero(sizeof(float));
    for (const std::string& name : more)
        views.push_back({name, ElementType::F32, {1}, zero});
    writeSafetensors(to, views, {});
    return to;
}

} // namespace halfscope::test
