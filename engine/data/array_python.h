// Arrays as Python, for a program that trains with PyTorch.
#pragma once

#include "engine/data/dataset.h"

namespace halfscope {

/// DataSetInfo::python of arrays.
PythonData arrayPython(const TaskConfig&, int64_t outputs);

} // namespace halfscope
