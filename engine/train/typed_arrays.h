// Converts states of a step to arrays of a file, and back.
#pragma once

#include "engine/core/typed_bytes.h"
#include "engine/io/safetensors.h"

#include <optional>

namespace halfscope {

/// Returns a view of the bytes, which must outlive it.
ArrayView arrayViewOf(std::string name, const TypedBytes&);
/// Returns nothing for a type or a number of axes that no state has.
std::optional<TypedBytes> typedBytesOf(Array);

} // namespace halfscope
