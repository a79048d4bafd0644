// States of a step as arrays of a file, and back.
#pragma once

#include "engine/core/typed_bytes.h"
#include "engine/io/safetensors.h"

#include <optional>

namespace halfscope {

/// The bytes must outlive the view.
ArrayView arrayViewOf(std::string name, const TypedBytes&);
/// Nothing for a type or a number of axes that no state has.
std::optional<TypedBytes> typedBytesOf(Array);

} // namespace halfscope
