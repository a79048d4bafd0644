// Says in words how far lanes are apart: what half precision has cost, or gained.
#pragma once

#include "ui/models/run_model.h"

#include <QString>

namespace halfscope {

/// Compares the second of two lanes with the first, or says which of several is farthest from the
/// first: by the accuracy of the last validation, or else its error or loss, or, without
/// validations, the median of the last losses. Returns a sentence after a space, or nothing where
/// there is nothing to compare.
QString differenceText(const RunModel&);

} // namespace halfscope
