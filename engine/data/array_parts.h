// Arrays of samples to validate on and of those for the test, beside the arrays to train on.
#pragma once

#include "engine/core/shape.h"
#include "engine/data/array_places.h"
#include "engine/data/task_spec.h"
#include "engine/io/array.h"

#include <vector>

namespace halfscope {

/// Samples that have arrays of their own.
struct ArrayPart {
    OwnPart of = OwnPart::Validation;
    ArrayPlace xPlace, yPlace;
    ArrayInfo x, y;
};

/// Returns those that the settings name, the ones to validate on first. `x` and `y` are the arrays
/// to train on. Throws InputError when arrays are missing, or do not fit those.
std::vector<ArrayPart> ownPartsOf(const TaskConfig&, const ArrayInfo& x, const ArrayInfo& y);

/// Returns the shape of one sample; a plain number is a list of one. Throws InputError for a shape
/// that samples cannot have.
Shape sampleShape(const ArrayPlace&, const ArrayInfo&);
/// Whether an array of inputs holds indices for the Embedding with which the network begins.
bool holdsIndices(const TaskConfig&, const ArrayInfo& x);
bool wantsClasses(const TaskConfig&);

} // namespace halfscope
