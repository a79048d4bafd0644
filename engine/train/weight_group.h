// The tensors of a file that are a network's: under the network's names, without what wraps them
// and without the groups beside them, such as a moving average or an optimizer's moments.
#pragma once

#include "engine/core/shape.h"
#include "engine/io/safetensors.h"
#include "engine/train/weight_pairs.h"

#include <map>
#include <string>
#include <vector>

namespace halfscope {

/// The weights of a network by name.
struct WantedWeights {
    std::map<std::string, Shape> shapes;
    /// The names in the order of the network's layers, as load_state_dict() tells them too: "up1"
    /// need not come before "up2", and "10" comes after "2".
    std::vector<std::string> names;

    void add(const std::string& name, const Shape& shape) {
        if (shapes.emplace(name, shape).second) names.push_back(name);
    }
};

/// What one group of a file holds.
struct WeightGroup {
    /// Its tensors, each under the network's name where that is known. One that was tied to others
    /// in PyTorch is there under each name that the network has.
    SafetensorsInfo file;
    WeightPairs names{};     ///< their names in the file, by those of `file`
    std::string prefix{};    ///< "model.", with which their names in the file begin; may be empty
    bool isTorchvision = {}; ///< whether torchvision's names stand for some of the network's
    std::vector<std::string> left{};  ///< the groups that are left out: "ema."
    std::vector<std::string> tied{};  ///< "2.weight = 0.weight", of which the file has the second
    std::vector<std::string> alike{}; ///< groups of which each may be meant; then none is taken
};

/// Returns the group in which the network finds most of its names and shapes, wherever it lies in
/// the file. Copies, such as "ema.", are taken only where there is nothing that they are copies of.
/// A group beside others must have more than half of the network's weights, and the network more
/// than one layer: "0." of a file is a layer of its own. The whole file where there is no such
/// group.
WeightGroup groupOf(const SafetensorsInfo& file, const WantedWeights&);

/// Whether one shape is the other with ones added at the end. Both must have two axes at least: a
/// vector is the weight of no such layer.
bool differsByOnes(const ArrayInfo&, const Shape& wanted);
bool isSameShape(const ArrayInfo&, const Shape& wanted);

inline constexpr std::string_view kRunningMean = "running_mean"; ///< of a norm
/// Whether a name is that of the number of batches that a norm has seen.
bool isBatchCount(const std::string& name);

} // namespace halfscope
