// How exported programs read tables: the same files in the same way as this program.
#pragma once

#include "engine/data/task_spec.h"

#include <string>

namespace halfscope {

/// Returns the Python function opened(path), with the empty lines above it, where a table at
/// data.path or beside it is packed by gzip or in UTF-16; else nothing, because open() does. These
/// functions throw InputError as TextInput does.
std::string openerPython(const TaskConfig&);
/// Returns the imports that this function needs.
std::string openerImports(const TaskConfig&);
/// Returns the expression that opens the table at a path, which is a Python expression too.
std::string openPython(const TaskConfig&, const std::string& path);

/// Returns Python that reads TABLE: the columns' `names`, its `rows` of texts, and number(field),
/// which may need `import re`.
/// Throws InputError as CsvFile does.
std::string readTablePython(const TaskConfig&);

} // namespace halfscope
