// The types of elements, and their values as numbers.
#include "engine/io/array.h"

#include "engine/core/dtype.h"
#include "engine/core/error.h"

#include <array>
#include <cstring>
#include <type_traits>

namespace halfscope {

namespace {

struct Row {
    const char* name;
    size_t bytes;
    bool whole;
};
constexpr std::array<Row, 13> kTypes{{{"bool", 1, true},
                                      {"uint8", 1, true},
                                      {"int8", 1, true},
                                      {"uint16", 2, true},
                                      {"int16", 2, true},
                                      {"uint32", 4, true},
                                      {"int32", 4, true},
                                      {"uint64", 8, true},
                                      {"int64", 8, true},
                                      {"float16", 2, false},
                                      {"bfloat16", 2, false},
                                      {"float32", 4, false},
                                      {"float64", 8, false}}};

struct Half {
    uint16_t bits;
};
struct Bfloat {
    uint16_t bits;
};

template <class T>
T valueAt(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

double numberOf(Half x) { return double{floatFromHalf(x.bits)}; }
double numberOf(Bfloat x) { return double{floatFromBfloat16(x.bits)}; }
template <class T>
double numberOf(T x) {
    return static_cast<double>(x);
}

/// Calls `call` with a value of the elements' type.
template <class Call>
auto withType(ElementType type, const Call& call) {
    switch (type) {
    case ElementType::Bool:
    case ElementType::U8: return call(uint8_t{});
    case ElementType::I8: return call(int8_t{});
    case ElementType::U16: return call(uint16_t{});
    case ElementType::I16: return call(int16_t{});
    case ElementType::U32: return call(uint32_t{});
    case ElementType::I32: return call(int32_t{});
    case ElementType::U64: return call(uint64_t{});
    case ElementType::I64: return call(int64_t{});
    case ElementType::F16: return call(Half{});
    case ElementType::BF16: return call(Bfloat{});
    case ElementType::F32: return call(float{});
    case ElementType::F64: return call(double{});
    }
    failInvariant("an element of no type");
}

template <class Number>
void copyNumbers(const Array& array, int64_t first, std::span<Number> into) {
    const size_t size = bytesOf(array.info.type), offset = static_cast<size_t>(first) * size;
    require(offset + into.size() * size <= array.bytes.size(), "elements that the array has");
    withType(array.info.type, [&](auto type) {
        const std::byte* from = array.bytes.data() + offset;
        for (Number& to : into) {
            to = static_cast<Number>(numberOf(valueAt<decltype(type)>(from)));
            from += sizeof type;
        }
    });
}

} // namespace

const char* nameOf(ElementType type) {
    const auto at = static_cast<size_t>(type);
    return at < kTypes.size() ? kTypes[at].name : "";
}

size_t bytesOf(ElementType type) { return kTypes[static_cast<size_t>(type)].bytes; }
bool isWhole(ElementType type) { return kTypes[static_cast<size_t>(type)].whole; }

int64_t ArrayInfo::elements() const {
    int64_t count = 1;
    for (const int64_t extent : shape)
        count *= extent;
    return count;
}

std::string ArrayInfo::shapeText() const {
    std::string text = "(";
    for (const int64_t extent : shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
    return text + (shape.size() == 1 ? ",)" : ")");
}

std::optional<int64_t> checkedBytes(ElementType type, std::span<const int64_t> shape) {
    auto bytes = static_cast<int64_t>(bytesOf(type));
    bool empty = false;
    for (const int64_t extent : shape) {
        if (extent < 0) return std::nullopt;
        empty = empty || extent == 0;
        // an empty array may have any other extents whose product does not overflow
        if (extent > 0 && __builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
    }
    return empty ? 0 : bytes;
}

double Array::at(int64_t element) const {
    const size_t offset = static_cast<size_t>(element) * bytesOf(info.type);
    require(offset + bytesOf(info.type) <= bytes.size(), "an element that the array has");
    return withType(info.type, [&](auto type) {
        return numberOf(valueAt<decltype(type)>(bytes.data() + offset));
    });
}

void Array::toFloats(int64_t first, std::span<float> into) const {
    copyNumbers(*this, first, into);
}
void Array::toDoubles(int64_t first, std::span<double> into) const {
    copyNumbers(*this, first, into);
}

} // namespace halfscope
