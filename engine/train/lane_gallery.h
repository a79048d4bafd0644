// What the lanes make of the samples of a gallery: the class that each takes them for, or the text
// that it goes on with.
#pragma once

#include "engine/data/gallery.h"
#include "engine/data/task_view.h"
#include "engine/train/trainer.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

/// Returns a picture for each lane and one of the true classes, by forward passes of their own.
/// Nothing when a request to stop comes in between, to one of the lanes or as `stop` turns true; a
/// request that is older, with which `stop` is true from the beginning, is not meant for them.
/// Throws EngineError when a device has no room beside the training.
std::optional<std::vector<Picture>> lanesGallery(const Gallery&, const TaskView&,
                                                 std::span<const std::unique_ptr<Trainer>> lanes,
                                                 const std::atomic<bool>& stop);

} // namespace halfscope
