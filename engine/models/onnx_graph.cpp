// Writes the messages of onnx.proto by their field numbers.
#include "engine/models/onnx_graph.h"

namespace halfscope {

namespace {

constexpr int kIrVersion = 8; // introduced with opset 17
enum DataType : int { kFloat = 1, kInt64 = 7 };
enum AttributeType : int { kRealType = 1, kWholeType = 2, kTextType = 3, kWholesType = 7 };

template <class Value>
ProtoMessage tensorOf(const std::string& name, DataType type, const Shape& shape,
                      std::span<const Value> values) {
    constexpr int kDims = 1, kType = 2, kName = 8, kRawData = 9;
    ProtoMessage tensor;
    for (const int64_t extent : shape)
        tensor.whole(kDims, extent);
    const std::span<const std::byte> bytes = std::as_bytes(values);
    tensor.whole(kType, type).text(kName, name);
    tensor.text(kRawData, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return tensor;
}

ProtoMessage attributeOf(const OnnxAttribute& attribute) {
    constexpr int kName = 1, kReal = 2, kWhole = 3, kText = 4, kWholes = 8, kType = 20;
    ProtoMessage made;
    made.text(kName, attribute.name);
    if (const auto* whole = std::get_if<int64_t>(&attribute.value))
        made.whole(kWhole, *whole).whole(kType, kWholeType);
    else if (const auto* real = std::get_if<float>(&attribute.value))
        made.real(kReal, *real).whole(kType, kRealType);
    else if (const auto* text = std::get_if<std::string_view>(&attribute.value))
        made.text(kText, *text).whole(kType, kTextType);
    else {
        for (const int64_t each : std::get<std::vector<int64_t>>(attribute.value))
            made.whole(kWholes, each);
        made.whole(kType, kWholesType);
    }
    return made;
}

/// Returns a ValueInfoProto.
ProtoMessage infoOf(const OnnxGraph::Value& value) {
    constexpr int kName = 1, kType = 2, kTensor = 1, kElement = 1, kShape = 2;
    constexpr int kDim = 1, kDimValue = 1, kDimParameter = 2;
    ProtoMessage shape;
    for (int axis = 0; axis < value.shape.rank(); ++axis) {
        ProtoMessage dim;
        if (axis == 0)
            dim.text(kDimParameter, "batch");
        else
            dim.whole(kDimValue, value.shape[axis]);
        shape.message(kDim, dim);
    }
    const DataType type = value.dtype == DType::I32 ? kInt64 : kFloat;
    const ProtoMessage tensor = ProtoMessage().whole(kElement, type).message(kShape, shape);
    return ProtoMessage()
        .text(kName, value.name)
        .message(kType, ProtoMessage().message(kTensor, tensor));
}

} // namespace

std::string OnnxGraph::node(std::string_view op, std::initializer_list<std::string> inputs,
                            const std::vector<OnnxAttribute>& attributes) {
    constexpr int kInput = 1, kOutput = 2, kName = 3, kOp = 4, kAttribute = 5, kNode = 1;
    const std::string number = std::to_string(m_values++);
    std::string result = "value_" + number;
    ProtoMessage made;
    for (const std::string& input : inputs)
        made.text(kInput, input);
    made.text(kOutput, result);
    made.text(kName, m_label + " " + std::string(op) + " " + number); // names must be unique
    made.text(kOp, op);
    for (const OnnxAttribute& attribute : attributes)
        made.message(kAttribute, attributeOf(attribute));
    m_graph.message(kNode, made);
    return result;
}

void OnnxGraph::add(const ProtoMessage& tensor) {
    constexpr int kInitializer = 5;
    m_graph.message(kInitializer, tensor);
}

std::string OnnxGraph::tensor(const std::string& name, const Shape& shape,
                              std::span<const float> values) {
    add(tensorOf(name, kFloat, shape, values));
    return name;
}

std::string OnnxGraph::constant(const Shape& shape, std::span<const float> values) {
    return tensor("constant_" + std::to_string(m_constants++), shape, values);
}

std::string OnnxGraph::scalar(double value) {
    const auto single = static_cast<float>(value);
    return constant({}, {&single, 1});
}

std::string OnnxGraph::integers(std::span<const int64_t> values) {
    const std::string name = "constant_" + std::to_string(m_constants++);
    add(tensorOf(name, kInt64, {static_cast<int64_t>(values.size())}, values));
    return name;
}

std::string OnnxGraph::modelBytes(const Value& input, const std::string& result,
                                  const Value& output,
                                  const std::map<std::string, std::string>& metadata,
                                  const std::string& program) {
    constexpr int kNode = 1, kName = 2, kInput = 11, kOutput = 12;
    constexpr int kNodeInput = 1, kNodeOutput = 2, kNodeName = 3, kNodeOp = 4;
    m_graph.message(kNode, ProtoMessage()
                               .text(kNodeInput, result)
                               .text(kNodeOutput, output.name)
                               .text(kNodeName, output.name)
                               .text(kNodeOp, "Identity"));
    m_graph.text(kName, "halfscope");
    m_graph.message(kInput, infoOf(input)).message(kOutput, infoOf(output));
    constexpr int kIr = 1, kProducer = 2, kProducerVersion = 3, kGraph = 7, kOpsets = 8;
    constexpr int kOpsetVersion = 2, kMetadata = 14, kKey = 1, kValue = 2;
    ProtoMessage model;
    model.whole(kIr, kIrVersion).text(kProducer, "halfscope").text(kProducerVersion, program);
    model.message(kOpsets, ProtoMessage().whole(kOpsetVersion, kOpset));
    for (const auto& [key, value] : metadata)
        model.message(kMetadata, ProtoMessage().text(kKey, key).text(kValue, value));
    model.message(kGraph, m_graph);
    return model.bytes();
}

} // namespace halfscope
