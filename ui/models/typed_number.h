// Numbers as people type them.
#pragma once

#include "engine/train/fields.h"

#include <QString>

namespace halfscope {

/// "2^10" as "1024", because scales are thought of as powers; anything else as it was typed,
/// without the spaces around it.
QString typedNumber(const QString& text);
/// A loss scale for the next step (kLiveScale). InputError for what is none.
FieldValue parseScale(const QString& text);

} // namespace halfscope
