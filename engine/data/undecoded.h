// Looks for pictures that cannot be decoded before a training meets them, and words what is said
// about damage that data.damaged can skip.
#pragma once

#include "engine/core/message.h"
#include "engine/data/task_spec.h"

#include <cstddef>
#include <cstdint>
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
/// Tells of a shard that ends early, and of the samples before that.
Message cutShardNote(const std::string& path, int64_t bytes, int64_t samples);
/// Does the same of one with something else where the header of a file must be.
Message damagedShardNote(const std::string& path, int64_t at, int64_t samples);
/// Whether a note of a data set is one of these.
bool tellsDamage(const Message& note);
/// Adds to a refusal how to go on.
Message withSkipHint(const Message& refusal);

} // namespace halfscope
