// An array from a file: its type, its shape, and its values in row-major order. Files have more
// types than the engine computes with; this file has their names, sizes and values as numbers.
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
const char* nameOf(ElementType); ///< "uint8", "float32"; empty for values beyond the last
size_t bytesOf(ElementType);
bool isWhole(ElementType); ///< true for whole numbers and bool

/// What a file says of an array before its values.
struct ArrayInfo {
    std::string name; ///< empty unless a file has several arrays
    ElementType type = ElementType::F32;
    std::vector<int64_t> shape; ///< empty for a single value
    int64_t offset = 0;         ///< place of the first value, in bytes from the file's start

    int64_t elements() const;      ///< of a shape that checkedBytes() accepts
    std::string shapeText() const; ///< "(60000, 28, 28)"
};
/// Returns the bytes of all values, or nothing when an extent is negative or the number is 2^63 or
/// more.
std::optional<int64_t> checkedBytes(ElementType, std::span<const int64_t> shape);

struct Array {
    ArrayInfo info;
    std::vector<std::byte> bytes; ///< in this machine's byte order

    /// Returns a value as the nearest double.
    double at(int64_t element) const;
    /// Writes the values from `first` on, as many as there is room for, each as the nearest
    /// float32.
    void toFloats(int64_t first, std::span<float> into) const;
    /// The same, each as the nearest double.
    void toDoubles(int64_t first, std::span<double> into) const;
};

} // namespace halfscope
