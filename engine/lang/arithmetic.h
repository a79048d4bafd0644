// Numbers that are worked out while a text is read, because sizes are often written so: 28 * 28.
#pragma once

#include "engine/lang/syntax.h"

namespace halfscope::lang {

// Both are Whole or Real, and the result is Whole when both are, as in Python; its place is the
// first one's. Throw InputError for what is no number of that kind.

/// Returns a * b.
Value productOf(const Value& a, const Value& b);
/// Returns a // b: the quotient, rounded down.
Value quotientOf(const Value& a, const Value& b);
/// Returns a / b, which is Real.
Value ratioOf(const Value& a, const Value& b);
/// Returns int(a): without its digits behind the point.
Value wholeOf(const Value& a);
/// Returns a ** b; refuses numbers below 0.
Value powerOf(const Value& a, const Value& b);

} // namespace halfscope::lang
