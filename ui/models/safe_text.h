// Makes text from files and devices safe to show: one line, without characters that would turn the
// direction of the words around it, and not longer than a reader needs. Qt Core only.
#pragma once

#include "engine/core/escape.h"

#include <QString>

namespace halfscope {

/// Returns the text, or both ends of one longer than `most` bytes, see escape.h.
inline QString safeText(std::string_view text, size_t most = kMostQuoted) {
    return QString::fromStdString(escapedEnds(text, most));
}

} // namespace halfscope
