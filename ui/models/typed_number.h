// A loss scale as people type it.
#pragma once

#include "engine/settings/fields.h"

#include <QString>

namespace halfscope {

/// Parses a loss scale for the next step (kLiveScale). Throws InputError for anything else.
FieldValue parseScale(const QString& text);

} // namespace halfscope
