// Numbers as people type them: 0.1, 1e-8, 2^10.
#pragma once

#include "engine/settings/fields.h"

#include <QString>

namespace halfscope {

/// Returns the text of a number without the separators of thousands that the program itself prints
/// in the user's language, "32,768". Text that is not grouped by three digits, such as "0,001" or
/// "1,5", stays as it is: the comma may be meant for a point.
QString withoutGroups(const QString& typed);
/// Parses a loss scale for the next step (kLiveScale). Throws InputError for anything else.
FieldValue parseScale(const QString& text);
/// Parses a number, or a power of two with a sign, that is no larger than float32's largest. Throws
/// InputError for anything else.
double parseNumber(const QString& text);

/// Returns what a setting allows, for the user who has typed something else: "Allowed: a number
/// above 0 and at most 1"; with a line on how numbers are written when it has a comma, which names
/// the number that must have been meant.
QString allowedWords(const Field&, const QString& typed);
/// Return the same of parseScale() and parseNumber().
QString allowedScale(const QString& typed);
QString allowedNumber(const QString& typed);

} // namespace halfscope
