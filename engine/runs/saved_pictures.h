// Reads the pictures in the folder of a run.
#pragma once

#include "engine/runs/missing_part.h"
#include "engine/runs/run.h"

#include <optional>
#include <vector>

namespace halfscope {

/// Returns the pictures that can be read; those of its lanes that the folder should have, too, are
/// lost, see LanePictures::lost. Nothing when the folder has none. `missing` is what the folder is
/// known to lack; files of lost pictures are added.
std::optional<LanePictures> savedPictures(const RunSnapshot&, std::vector<MissingPart>& missing);

} // namespace halfscope
