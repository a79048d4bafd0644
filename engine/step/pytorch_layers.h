// Layers of their own (precision.layers) in the programs for PyTorch.
#pragma once

#include "engine/models/model_spec.h"
#include "engine/settings/run_config.h"
#include "engine/step/pytorch_calls.h"

#include <string>
#include <vector>

namespace halfscope {

/// The layers to which a lane's settings give a type.
struct TorchLayers {
    std::string python;               ///< {"0": torch.float32}; empty when there are none
    std::vector<std::string> lacking; ///< "norm 1=float16": PyTorch has no simple form for these
};

/// Returns them for a program with this network alone, or with several (`alone` false). PyTorch can
/// compute any layer in float32, and under autocast single products in 16 bits; in a network that
/// is cast as a whole the weights are not there in float32.
TorchLayers torchLayers(const LaneConfig&, const TorchLane&, const ModelSpec&, bool alone);

/// Returns the program's part that defines keep_types(model, layers): it lets these layers compute
/// in their types. With `fp8`, it comes after pythonFp8().
std::string pythonLayers(bool fp8);

} // namespace halfscope
