// A loss scale as people type it.
#pragma once

#include "engine/settings/fields.h"

#include <QString>

namespace halfscope {

/// A loss scale for the next step (kLiveScale). InputError for what is none.
FieldValue parseScale(const QString& text);

} // namespace halfscope
