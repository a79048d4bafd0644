// The layer that decides how many values a model makes of a sample.
#pragma once

#include "engine/models/model_spec.h"

#include <cstdint>

namespace halfscope {

/// Returns the last layer that tells how many values or channels it makes, such as Linear or
/// Conv2d; null where there is none, or a Residual is behind it. What follows it, such as a norm,
/// may not take another number.
LayerSpec* outputLayer(ModelSpec&);
/// Returns that number of such a layer.
int64_t outputsOf(const LayerSpec&);
/// Sets it, and writes the layer anew: "Linear(64, 1)". Throws InputError where the layer refuses
/// so many, as a convolution with groups does.
void setOutputs(LayerSpec&, int64_t outputs);

} // namespace halfscope
