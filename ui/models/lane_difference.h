// Says in words how far two lanes are apart: what half precision has cost, or gained.
#pragma once

#include "ui/models/run_model.h"

#include <QString>

namespace halfscope {

/// Compares the second of two lanes with the first, by their last validation: its accuracy, or else
/// its error or loss. Returns a sentence after a space, or nothing where there are not two lanes,
/// where neither was validated, and where a figure is none.
QString differenceText(const RunModel&);

} // namespace halfscope
