// The layer that decides how many values a model makes of a sample.
#pragma once

#include "engine/models/model_spec.h"

#include <cstdint>

namespace halfscope {

/// Returns the last layer that tells how many values or channels it makes, such as Linear or
/// Conv2d, where those behind it change none of that: activations, Flatten. Null when there is
/// none.
LayerSpec* outputLayer(ModelSpec&);
/// Gives such a layer another number of values or channels, and writes it anew: "Linear(64, 1)".
void setOutputs(LayerSpec&, int64_t outputs);

} // namespace halfscope
