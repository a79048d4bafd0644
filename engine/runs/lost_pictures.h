// The words for pictures of a run that its file has lost, and that nobody can save.
#pragma once

#include "engine/runs/run.h"

namespace halfscope {

/// Says which pictures are missing because they are damaged, and names the file. `pictures` are
/// those of the run. Empty when all are there.
Message lostPicturesText(const RunSnapshot&, const LanePictures& pictures);
/// Says the same of outputs alone.
Message lostOutputsText(const RunSnapshot&, const LanePictures& pictures);
/// Says that a run was saved without pictures, and why. `read` are those that can be read; null:
/// none can.
Message leftOutText(const LanePictures* read, const Message& why);

} // namespace halfscope
