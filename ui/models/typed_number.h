// Numbers as people type them.
#pragma once

#include <QString>

namespace halfscope {

/// "2^10" as "1024", because scales are thought of as powers; anything else as it was typed,
/// without the spaces around it.
QString typedNumber(const QString& text);

} // namespace halfscope
