// What a step leaves, as it is stored, to be compared bit for bit.
#pragma once

#include "engine/train/step_runner.h"

#include <cstddef>
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

/// By name.
inline BytesByName storedStates(StepRunner& runner) {
    BytesByName values;
    for (const StateInfo& state : runner.graph().states())
        values.emplace(state.name, storedValue(runner, state.node));
    return values;
}

/// States by name, outputs by "output " and theirs.
inline BytesByName storedValues(StepRunner& runner) {
    BytesByName values = storedStates(runner);
    for (const OutputInfo& output : runner.graph().outputs())
        values.emplace("output " + output.name, storedValue(runner, output.node));
    return values;
}

/// The first name whose bytes differ, or nothing.
inline std::string firstDifference(const BytesByName& a, const BytesByName& b) {
    for (const auto& [name, bytes] : a)
        if (b.at(name) != bytes) return name;
    return {};
}

} // namespace halfscope::test
