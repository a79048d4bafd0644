// The framing of TFRecord files, which TensorBoard's event files use: records one after the other,
// each with checksums, so that a reader of a growing file knows which of them are complete.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halfscope {

/// Returns the CRC-32C (Castagnoli), reflected, polynomial 0x1EDC6F41 (RFC 3720, B.4).
uint32_t crc32c(std::string_view bytes);

/// Returns a record: length (uint64), its masked CRC, the data, its masked CRC; all little-endian.
std::string recordOf(std::string_view data);

} // namespace halfscope
