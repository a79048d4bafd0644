// The settings that a run may change, without an edit, when it goes on from a checkpoint.
#pragma once

#include "engine/settings/fields.h"

namespace halfscope {

/// Whether a run that goes on may begin to have this value of a setting: one that only says where a
/// machine has its devices and files, on which no number of the run depends, or that damaged
/// samples are skipped from now on. The steps so far had none: the run would have ended there.
bool changesOnResume(const Field&, const FieldValue&);
/// Takes over the values of `settings` that changesOnResume(); returns whether there are any.
bool takeOnResume(RunConfig& recorded, const RunConfig& settings);

} // namespace halfscope
