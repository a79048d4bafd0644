// A layer on its way into an ONNX file, and the rows of the families that have files of their own.
// For onnx_layers.cpp and those files, not for callers of onnx_layers.h.
#pragma once

#include "engine/models/onnx_layers.h"
#include "engine/ops/functions/vision.h"

#include <array>
#include <span>

namespace halfscope {

/// A layer that is being written.
struct OnnxLayer {
    OnnxGraph& graph;
    const LayerSpec& spec;
    const NodeType& in;
    const NodeType& out;
    std::map<std::string_view, std::string> parameters; ///< names of tensors, by the parameters'
                                                        ///< names
    std::string padding; ///< whether positions (samples, length) are padding; empty: not known

    /// Returns the name of a parameter's tensor; empty when the layer has none of this name, which
    /// in ONNX omits an input.
    std::string parameter(std::string_view name) const {
        const auto found = parameters.find(name);
        return found == parameters.end() ? std::string() : found->second;
    }
    std::string node(std::string_view op, std::initializer_list<std::string> inputs,
                     const std::vector<OnnxAttribute>& attributes = {}) const {
        return graph.node(op, inputs, attributes);
    }
    std::string filled(const Shape& shape, float value) const {
        return graph.constant(shape,
                              std::vector<float>(static_cast<size_t>(shape.elements()), value));
    }
    /// Returns a parameter, or a tensor filled with one value.
    std::string parameterOr(std::string_view name, const Shape& shape, float value) const {
        const std::string own = parameter(name);
        return own.empty() ? filled(shape, value) : own;
    }
};

/// Adds the nodes of one layer for its input x, and returns the name of the result.
using OnnxEmit = std::string (*)(const OnnxLayer&, const std::string& x);

struct OnnxRow {
    std::string_view name; ///< as in the layer table
    OnnxEmit emit;
};
std::span<const OnnxRow> onnxActivations();
std::span<const OnnxRow> onnxPooling();

inline std::vector<int64_t> listOf(const std::array<int64_t, 2>& pair) {
    return {pair[0], pair[1]};
}
/// Returns the same padding before and after each axis.
inline std::vector<int64_t> padsOf(const std::array<int64_t, 2>& pair) {
    return {pair[0], pair[1], pair[0], pair[1]};
}
/// Takes the elements from `begin` to `end` along an axis.
std::string onnxSlice(const OnnxLayer&, const std::string& x, int64_t axis, int64_t begin,
                      int64_t end);
/// Adds a border to the last axis of a sequence or the last two of an image, filled by a
/// padding_mode: 'reflect', 'replicate' or 'circular'.
std::string onnxBorder(const OnnxLayer&, const std::string& x, const fn::Border&,
                       std::string_view mode);
/// Writes x / 2 (1 + erf(x / sqrt 2)).
std::string onnxGelu(const OnnxLayer&, const std::string& x);

} // namespace halfscope
