// The words for pictures of a run that its file has lost.
#pragma once

#include "engine/runs/run.h"

namespace halfscope {

/// Says which pictures are missing because they are damaged, and names the file. `pictures` are
/// those of the run. Empty when all are there.
Message lostPicturesText(const RunSnapshot&, const LanePictures& pictures);

} // namespace halfscope
