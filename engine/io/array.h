// An array from a file: its type, its shape, its values in row-major order. Files have more types
// than the engine computes with; here are their names, sizes and values as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

enum class ElementType : uint8_t {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    BF16,
    F32,
    F64
};
const char* nameOf(ElementType); ///< "uint8", "float32"; empty beyond the last
size_t bytesOf(ElementType);
bool isWhole(ElementType); ///< whole numbers and bool

/// What a file says of an array before its values.
struct ArrayInfo {
    std::string name; ///< where a file has several; else empty
    ElementType type = ElementType::F32;
    std::vector<int64_t> shape; ///< empty: one value
    int64_t offset = 0;         ///< of the first value, in bytes from the file's start

    int64_t elements() const;      ///< of a shape that checkedBytes() takes
    std::string shapeText() const; ///< "(60000, 28, 28)"
};
/// Bytes of all values; nothing where an extent is negative or the number is 2^63 or more.
std::optional<int64_t> checkedBytes(ElementType, std::span<const int64_t> shape);

struct Array {
    ArrayInfo info;
    std::vector<std::byte> bytes; ///< in this machine's order

    /// The value as the nearest double.
    double at(int64_t element) const;
    /// The values from `first` on, as many as there is room for, each the nearest float32.
    void toFloats(int64_t first, std::span<float> into) const;
};

} // namespace halfscope
