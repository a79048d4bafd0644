// An ONNX model as it is put together: nodes, tensors, and the bytes of the file (onnx.proto of
// ONNX 1.12, opset 17). What the nodes of a layer are is told in onnx_layers.
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

/// Of a node: "epsilon" = 1e-5f.
struct OnnxAttribute {
    std::string_view name;
    std::variant<int64_t, float, std::string_view, std::vector<int64_t>> value;
};

class OnnxGraph {
public:
    static constexpr int kOpset = 17; ///< the first that has LayerNormalization

    /// Adds a node that is named by setLabel(); the name of its result.
    std::string node(std::string_view op, std::initializer_list<std::string> inputs,
                     const std::vector<OnnxAttribute>& attributes = {});
    /// A tensor of float32 under a name of its own, and others under made ones.
    std::string tensor(const std::string& name, const Shape&, std::span<const float> values);
    std::string constant(const Shape&, std::span<const float> values);
    std::string scalar(double value);
    std::string integers(std::span<const int64_t> values);
    /// Of the nodes that come next.
    void setLabel(std::string label) { m_label = std::move(label); }

    /// A value between nodes: its axis 0 counts samples and is open, the others are fixed.
    struct Value {
        std::string name;
        Shape shape;
        DType dtype = DType::F32; ///< I32: int64 in the file, as PyTorch's exporter has indices
    };
    /// The model with one input and one output, which is called `output.name` from here on.
    std::string modelBytes(const Value& input, const std::string& result, const Value& output,
                           const std::map<std::string, std::string>& metadata,
                           const std::string& program);

private:
    void add(const ProtoMessage& tensor);

    ProtoMessage m_graph; ///< its nodes and tensors
    std::string m_label;
    int m_values = 0, m_constants = 0;
};

} // namespace halfscope
