// A tensor's values in storage form, with their type and shape.
#pragma once

#include "engine/core/dtype.h"
#include "engine/core/shape.h"

#include <cstddef>
#include <vector>

namespace halfscope {

struct TypedBytes {
    DType dtype = DType::F32;
    Shape shape;
    std::vector<std::byte> bytes; ///< row-major

    bool operator==(const TypedBytes&) const = default;
};

/// Returns the values in another type, with one rounding. There must be as many bytes as the shape
/// needs.
std::vector<std::byte> storedAs(DType, const TypedBytes&);

} // namespace halfscope
