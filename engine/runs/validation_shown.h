// Whether pictures that come from a file are those of a validation: no file says so.
#pragma once

#include "engine/runs/lane_pictures.h"
#include "engine/runs/run.h"

#include <cstdint>
#include <optional>

namespace halfscope {

/// Returns the step of the validation whose samples the tables or scatters of a saved run show, as
/// LanePictures::validated has it; nothing where the run does not tell. Tables tell it by what they
/// count: it is what the last validation of each lane measured. Others are of a validation that
/// came with their step. Pictures that are lost tell nothing.
std::optional<int64_t> validationShown(const RunSnapshot&, const LanePictures&);

} // namespace halfscope
