// Converts stored values.
#include "engine/core/typed_bytes.h"

namespace halfscope {

std::vector<std::byte> storedAs(DType to, const TypedBytes& from) {
    if (from.dtype == to) return from.bytes;
    const auto n = static_cast<size_t>(from.shape.elements());
    std::vector<float> values(n);
    loadAsFloat(from.dtype, from.bytes.data(), values.data(), n);
    std::vector<std::byte> bytes(n * bytesOf(to));
    storeFromFloat(to, values.data(), bytes.data(), n);
    return bytes;
}

} // namespace halfscope
