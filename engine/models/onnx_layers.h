// Writes each layer of the table in ONNX in the form in which it is judged: with running statistics
// and without dropout. onnx_layers.cpp has one row for each layer, by its name in the layer table.
#pragma once

#include "engine/models/model_spec.h"
#include "engine/models/onnx_graph.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Values by state-dict name, f32, row-major.
using OnnxWeights = std::map<std::string, std::vector<float>>;

/// Adds the nodes of a model, or of a part of it, and its weights, and returns the name of the
/// result. `type` is the type of the input x and becomes that of the result. Weights are named by
/// `prefix` and path. Without weights it only checks. Throws InputError for a layer that has no
/// form in ONNX, and when a layer refuses its input.
std::string emitOnnx(OnnxGraph&, const LayerSpec&, const std::string& x, NodeType& type,
                     const std::string& prefix, const OnnxWeights* weights);

/// Returns whether a layer of this name can be written.
bool hasOnnxForm(std::string_view layer);

/// Reshapes a value to `out`, for any number of samples.
std::string onnxReshape(OnnxGraph&, const std::string& x, const Shape& in, const Shape& out);

} // namespace halfscope
