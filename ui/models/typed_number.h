// Numbers as people type them: 0.1, 1e-8, 2^10.
#pragma once

#include "engine/settings/fields.h"

#include <QString>

namespace halfscope {

/// Parses a loss scale for the next step (kLiveScale). Throws InputError for anything else.
FieldValue parseScale(const QString& text);
/// Parses a number, or a power of two with a sign, that is no larger than float32's largest. Throws
/// InputError, which calls it `name`, for anything else.
double parseNumber(const QString& text, const QString& name);

} // namespace halfscope
