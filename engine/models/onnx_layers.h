// What each layer of the table becomes in ONNX, as it is judged: with running statistics and
// without dropout. One row a layer in onnx_layers.cpp, by the name that it has in the layer table.
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

/// Adds the nodes of a model, or of a part of it, and its weights; the name of the result, whose
/// type replaces `type`, that of the input x. Weights go by `prefix` and path. Without weights it
/// only checks. InputError for a layer that has no form in ONNX, and where a layer refuses its
/// input.
std::string emitOnnx(OnnxGraph&, const LayerSpec&, const std::string& x, NodeType& type,
                     const std::string& prefix, const OnnxWeights* weights);

/// Whether a layer of this name can be written.
bool hasOnnxForm(std::string_view layer);

/// Reshapes a value to `out`, whatever its number of samples is.
std::string onnxReshape(OnnxGraph&, const std::string& x, const Shape& in, const Shape& out);

} // namespace halfscope
