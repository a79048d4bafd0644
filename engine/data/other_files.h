// Files of other programs in place of data: what reads data could only say that they are damaged.
#pragma once

#include "engine/core/message.h"
#include "engine/data/task_spec.h"

#include <string>

namespace halfscope {

/// Returns what to do with a file that is not opened, by the ending of its name; empty for others.
/// The sentence begins with the path.
Message otherFileRefusal(const std::string& path);
/// Whether a file is packed, by the ending of its name, and has to be unpacked first.
bool isPackedFile(const std::string& path);

/// Throws InputError, with what to do, when a setting that the kind of data has names a file that
/// no kind reads by it: one of PyTorch, of MATLAB, of HDF5, JSON, a table of another format, or
/// arrays in data.path. Looks at the files that have such a name; a text table may be called so.
void refuseOtherFiles(const TaskConfig&);

} // namespace halfscope
