// Pairs the tensors of a file with those of a network whose layers have other names. Knows names
// and shapes only; reading the file is left to state_dict.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// The shape of each tensor by its state-dict name, in any form that is equal for equal shapes.
using NamedShapes = std::map<std::string, std::string>;
/// The file's name of each tensor by the network's.
using WeightPairs = std::map<std::string, std::string>;

/// Returns the pairs where each layer of the file is one of the network: its tensors end in the
/// same names ("weight", "bias") and have the same shapes. Layers that are alike in this are paired
/// in the order of the numbers in their names, as fc1 and fc2 with 1 and 3. Returns nothing where
/// a tensor would be left over, where the names of such layers differ in more than numbers, for no
/// shape tells which of them is which, or in numbers that do not count, where numbers say that the
/// layers come in another order, and where a name that both have would mean another layer.
WeightPairs pairsByShape(const NamedShapes& network, const NamedShapes& file);

/// Returns a name that sorts as its numbers count: fc2 before fc10.
std::string countedName(const std::string& name);

/// Returns "fc1.weight → 1.weight" for each pair whose names differ, in the order of `names`, which
/// are all of the network's.
std::vector<std::string> renamedIn(const WeightPairs&, std::span<const std::string> names);

} // namespace halfscope
