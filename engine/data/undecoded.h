// Looks for pictures that cannot be decoded before a training meets them.
#pragma once

#include "engine/core/message.h"

#include <cstddef>
#include <functional>
#include <optional>

namespace halfscope {

/// The pictures of a data set, by their places from 0.
struct PictureFiles {
    size_t count = 0;
    std::function<size_t(size_t)> bytesOf;
    std::function<void(size_t)> decode; ///< throws InputError that names the file
};

/// Decodes the first pictures, as many as take about a second, and tells how many of them failed
/// and the first of these; returns nothing when all are good. Can be cancelled.
std::optional<Message> undecodedNote(const PictureFiles&);
/// Whether a note of a data set is such a one.
bool tellsUndecoded(const Message& note);

} // namespace halfscope
