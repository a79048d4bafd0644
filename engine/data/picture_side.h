// How large the samples should be that are made of pictures.
#pragma once

#include "engine/data/task_spec.h"

namespace halfscope {

/// Returns data.side for pictures in files of their own: the median of their shorter sides, but no
/// more than data.side is and no less than it may be. Larger samples would have no more to see, and
/// each convolution would cost more. Looks at the first bytes of some of the files. Returns
/// data.side for other data, and where no size is found. Throws InputError as makeDataset() does.
int64_t sideOfPictures(const TaskConfig&);

} // namespace halfscope
