// An ONNX model under construction: nodes, tensors, and the bytes of the file (onnx.proto of ONNX
// 1.12, opset 17). Leaves the choice of nodes for each layer to onnx_layers.
#pragma once

#include "engine/core/dtype.h"
#include "engine/core/shape.h"
#include "engine/io/protobuf.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace halfscope {

/// An attribute of a node: "epsilon" = 1e-5f.
struct OnnxAttribute {
    std::string_view name;
    std::variant<int64_t, float, std::string_view, std::vector<int64_t>> value;
};

class OnnxGraph {
public:
    static constexpr int kOpset = 17; ///< the first with LayerNormalization

    /// Adds a node, named by setLabel(), and returns the name of its result.
    std::string node(std::string_view op, std::initializer_list<std::string> inputs,
                     const std::vector<OnnxAttribute>& attributes = {});
    /// Adds a float32 tensor under the given name; the next three functions make up names for
    /// theirs. All return the name.
    std::string tensor(const std::string& name, const Shape&, std::span<const float> values);
    std::string constant(const Shape&, std::span<const float> values);
    std::string scalar(double value);
    std::string integers(std::span<const int64_t> values);
    /// Sets the label of the nodes that come next.
    void setLabel(std::string label) { m_label = std::move(label); }

    /// A value between nodes. Its axis 0 counts samples and is open, the others are fixed.
    struct Value {
        std::string name;
        Shape shape;
        DType dtype = DType::F32; ///< I32 is int64 in the file, which PyTorch's exporter uses for
                                  ///< indices
    };
    /// Returns the model with one input and one output. The value `result` becomes the output and
    /// is called `output.name` from here on.
    std::string modelBytes(const Value& input, const std::string& result, const Value& output,
                           const std::map<std::string, std::string>& metadata,
                           const std::string& program);

private:
    void add(const ProtoMessage& tensor);

    ProtoMessage m_graph; ///< the nodes and tensors
    std::string m_label;
    int m_values = 0, m_constants = 0;
};

} // namespace halfscope
