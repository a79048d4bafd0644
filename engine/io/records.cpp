// Computes the checksum with a table of 256 entries, and frames records.
#include "engine/io/records.h"

#include "engine/io/little_endian.h"

#include <array>

namespace halfscope {

namespace {

constexpr std::array<uint32_t, 256> kTable = [] {
    constexpr uint32_t kReflected = 0x82F63B78;
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < table.size(); ++i) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = value >> 1 ^ ((value & 1) != 0 ? kReflected : 0);
        table[i] = value;
    }
    return table;
}();

/// Masks a checksum. A checksum of data that contains checksums is weak; TFRecord therefore rotates
/// and shifts them.
uint32_t masked(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xA282EAD8; }

} // namespace

uint32_t crc32c(std::string_view bytes) {
    uint32_t crc = ~uint32_t{0};
    for (const char c : bytes)
        crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF] ^ crc >> 8;
    return ~crc;
}

std::string recordOf(std::string_view data) {
    std::string record;
    record.reserve(data.size() + 16);
    appendBytes(record, uint64_t{data.size()});
    appendBytes(record, masked(crc32c(record)));
    record += data;
    appendBytes(record, masked(crc32c(data)));
    return record;
}

} // namespace halfscope
