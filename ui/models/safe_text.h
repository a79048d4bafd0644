// Text from files and devices on its way into the window: one line, without what would turn the
// direction of the words around it, and not longer than a reader needs. Qt Core only.
#pragma once

#include "engine/core/escape.h"

#include <QString>

namespace halfscope {

/// Of a longer text both ends, see escape.h.
inline QString safeText(std::string_view text, size_t most = kMostQuoted) {
    return QString::fromStdString(escapedEnds(text, most));
}

} // namespace halfscope
