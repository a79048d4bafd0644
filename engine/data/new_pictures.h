// Pictures whose classes nobody knows yet: those that a trained network is to predict.
#pragma once

#include "engine/data/task_spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace halfscope {

struct NewPictures {
    std::vector<std::string> paths;
    std::vector<std::string> names; ///< paths below the folder; of a single picture, its name
};

/// Returns the picture at a path, or those in a folder and in all folders below it, sorted. Hidden
/// names are passed over. Opens no picture. Can be cancelled. Throws InputError when there
/// is none.
NewPictures newPicturesAt(const std::string& path);
/// Returns how many samples there are to validate on: the pictures of task.predictFile or, when it
/// is empty, `validation`. Throws InputError as newPicturesAt() does.
int64_t predictedOr(const TaskConfig&, int64_t validation);

} // namespace halfscope
