// What a step leaves, in storage form, to be compared bit for bit.
#pragma once

#include "engine/train/step_runner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace halfscope::test {

using BytesByName = std::map<std::string, std::vector<std::byte>>;

inline std::vector<std::byte> storedValue(StepRunner& runner, NodeId id) {
    std::vector<std::byte> bytes(runner.graph()[id].bytes());
    runner.executor().download(id, bytes);
    return bytes;
}

/// Returns the states by name.
inline BytesByName storedStates(StepRunner& runner) {
    BytesByName values;
    for (const StateInfo& state : runner.graph().states())
        values.emplace(state.name, storedValue(runner, state.node));
    return values;
}

/// Returns states by name, and outputs by "output " and their name.
inline BytesByName storedValues(StepRunner& runner) {
    BytesByName values = storedStates(runner);
    for (const OutputInfo& output : runner.graph().outputs())
        values.emplace("output " + output.name, storedValue(runner, output.node));
    return values;
}

/// Returns the first name whose bytes differ, with the first differing byte in its word of four, or
/// nothing.
inline std::string firstDifference(const BytesByName& a, const BytesByName& b) {
    for (const auto& [name, bytes] : a) {
        const std::vector<std::byte>& others = b.at(name);
        if (bytes == others) continue;
        size_t count = 0, first = bytes.size();
        for (size_t i = 0; i < std::min(bytes.size(), others.size()); ++i)
            if (bytes[i] != others[i] && ++count == 1) first = i / 4 * 4;
        const auto wordOf = [&](const std::vector<std::byte>& from) {
            uint32_t word = 0;
            if (first < from.size())
                std::memcpy(&word, from.data() + first, std::min<size_t>(4, from.size() - first));
            return word;
        };
        char text[128];
        std::snprintf(text, sizeof text, ": %zu of %zu bytes differ, at %zu %08x and %08x", count,
                      bytes.size(), first, wordOf(bytes), wordOf(others));
        return name + text;
    }
    return {};
}

} // namespace halfscope::test
