// Characters of a text as a picture, for what a network expects to follow.
#pragma once

#include "engine/io/picture.h"

#include <cstdint>
#include <span>
#include <string>

namespace halfscope {

inline constexpr int kTextColumns = 26, kTextRows = 11;
inline constexpr int kTextCharacters = kTextColumns * kTextRows;

/// The first kTextCharacters of `shown`, places in `names`, in rows; those that are not the right
/// ones stand on orange. Letters of ASCII are drawn, a line end is a hook; all others, and places
/// beyond the names, are boxes.
Picture textSheet(std::span<const std::string> names, std::span<const int32_t> shown,
                  std::span<const int32_t> right);

} // namespace halfscope
