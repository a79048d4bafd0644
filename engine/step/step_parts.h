// What a run trains, as lists: networks, losses over weighted sums of their outputs, and
// optimizers. Settings know one network, the two of PyTorch's recipe, or one with its critic; the
// step takes any number.
#pragma once

#include "engine/settings/run_config.h"

#include <optional>
#include <string>
#include <vector>

namespace halfscope {

struct NetworkPart {
    std::string prefix;   ///< of its states' names: "second."; empty for the first
    size_t optimizer = 0; ///< that steps its parameters
};
struct LossPart {
    std::vector<double> factors; ///< one a network: what the loss compares with the target
};
struct OptimizerPart {
    OptimizerConfig config;
    std::string name;  ///< "optimizer": its states are "<name>.step"
    std::string table; ///< the state that holds its learning rates
    std::string label; ///< "learning rate": of the causes of nodes that read it
    int64_t every = 1; ///< of so many updates, it takes the last one
};
struct StepParts {
    std::vector<NetworkPart> networks; ///< of model.layers
    std::optional<NetworkPart> critic; ///< of model.critic
    /// The first one's sum is the prediction. With a critic there is one, which takes the
    /// prediction as it is.
    std::vector<LossPart> losses;
    std::vector<OptimizerPart> optimizers;
};

StepParts partsOf(const RunConfig&);

} // namespace halfscope
