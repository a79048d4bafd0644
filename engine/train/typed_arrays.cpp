// Maps the engine's types to those of files, and back.
#include "engine/train/typed_arrays.h"

#include <array>
#include <utility>

namespace halfscope {

namespace {

constexpr std::array<std::pair<DType, ElementType>, kDTypeCount> kTypes{
    {{DType::F32, ElementType::F32},
     {DType::F16, ElementType::F16},
     {DType::BF16, ElementType::BF16},
     {DType::F64, ElementType::F64},
     {DType::I32, ElementType::I32},
     {DType::Bool, ElementType::Bool}}};

} // namespace

ArrayView arrayViewOf(std::string name, const TypedBytes& values) {
    ArrayView view;
    view.name = std::move(name);
    for (const auto& [own, file] : kTypes)
        if (own == values.dtype) view.type = file;
    for (int i = 0; i < values.shape.rank(); ++i)
        view.shape.push_back(values.shape[i]);
    view.bytes = values.bytes;
    return view;
}

std::optional<TypedBytes> typedBytesOf(Array array) {
    if (array.info.shape.size() > static_cast<size_t>(kMaxRank)) return std::nullopt;
    for (const auto& [own, file] : kTypes)
        if (file == array.info.type)
            return TypedBytes{own, Shape(std::span<const int64_t>(array.info.shape)),
                              std::move(array.bytes)};
    return std::nullopt;
}

} // namespace halfscope
