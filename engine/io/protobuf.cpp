// Keys, variable-length numbers and little-endian values.
#include "engine/io/protobuf.h"

#include "engine/io/little_endian.h"

namespace halfscope {

namespace {

enum WireType : int { kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5 };

} // namespace

void ProtoMessage::varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        m_bytes += static_cast<char>(static_cast<unsigned char>(value | 0x80));
    m_bytes += static_cast<char>(value);
}

void ProtoMessage::key(int field, int wireType) {
    varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wireType));
}

ProtoMessage& ProtoMessage::whole(int field, int64_t value) {
    key(field, kVarint);
    varint(static_cast<uint64_t>(value)); // a negative number takes ten bytes
    return *this;
}

ProtoMessage& ProtoMessage::real(int field, float value) {
    key(field, kFourBytes);
    appendBytes(m_bytes, value);
    return *this;
}

ProtoMessage& ProtoMessage::real(int field, double value) {
    key(field, kEightBytes);
    appendBytes(m_bytes, value);
    return *this;
}

ProtoMessage& ProtoMessage::text(int field, std::string_view value) {
    key(field, kBytes);
    varint(value.size());
    m_bytes += value;
    return *this;
}

ProtoMessage& ProtoMessage::packed(int field, std::span<const double> values) {
    const std::span<const std::byte> bytes = std::as_bytes(values);
    return text(field, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

} // namespace halfscope
