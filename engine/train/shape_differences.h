// The shapes that differ between tensors of a file and those of a network that they seem to stand
// for, where neither names nor shapes are the same: for a message, not for loading.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halfscope {

struct NamedShape {
    std::string name;
    std::vector<int64_t> shape;
};

struct ShapeDifference {
    NamedShape there; ///< in the file
    NamedShape here;  ///< in the network
};

/// Compares tensors that only the network has, in the order of its layers, with those that only the
/// file has. Layers whose tensors have the same last names and numbers of axes are compared, first
/// those of the same shapes, the others in the order of the numbers in their names.
std::vector<ShapeDifference> shapeDifferences(const std::vector<NamedShape>& network,
                                              const std::vector<NamedShape>& file);

} // namespace halfscope
