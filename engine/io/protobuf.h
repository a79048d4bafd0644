// Writes protobuf messages, the form of TensorBoard's event files and of ONNX models. This small
// writer replaces the protobuf library: both formats only need to be written, by field numbers that
// never change, and the library would bring a code generator into the build and a dependency to
// every program that links the engine. Encoding: protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace halfscope {

/// A message as bytes, field after field. A repeated field is written once for each of its values,
/// or packed. Fields may come in any order; a field that is not written has its default, 0 or
/// empty.
class ProtoMessage {
public:
    /// Writes an int32, int64, bool or enum.
    ProtoMessage& whole(int field, int64_t value);
    ProtoMessage& real(int field, float value);
    ProtoMessage& real(int field, double value);
    /// Writes a string or bytes.
    ProtoMessage& text(int field, std::string_view value);
    ProtoMessage& message(int field, const ProtoMessage& value) {
        return text(field, value.bytes());
    }
    ProtoMessage& packed(int field, std::span<const double> values);

    const std::string& bytes() const { return m_bytes; }

private:
    void key(int field, int wireType);
    void varint(uint64_t value);

    std::string m_bytes;
};

} // namespace halfscope
