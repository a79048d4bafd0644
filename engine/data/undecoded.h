// Looks for pictures that cannot be decoded before a training meets them.
#pragma once

#include "engine/core/message.h"
#include "engine/data/task_spec.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace halfscope {

/// The pictures of a data set, by their places from 0.
struct PictureFiles {
    size_t count = 0;
    std::function<size_t(size_t)> bytesOf;
    std::function<std::string(size_t)> stampOf; ///< the file's path, and what changes with it
    std::function<void(size_t)> decode;         ///< throws InputError that names the file
};

/// Decodes the first pictures, up to 2000 or 16 MiB of them, and tells how many of them failed and
/// the first of these, and what becomes of them; returns nothing when all are good. The last answer
/// is kept while the files stay as they are: settings ask for the facts again and again. Can be
/// cancelled.
std::optional<Message> undecodedNote(const PictureFiles&, Damaged);
/// Whether a note of a data set is such a one.
bool tellsUndecoded(const Message& note);

} // namespace halfscope
