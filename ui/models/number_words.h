// What becomes of a number in each format, as a gradient that is scaled, and as an update of a
// weight: in sentences for the dialog that shows them.
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

namespace halfscope {

/// How one format stores a number.
struct FormatWords {
    QString format; ///< "float16"
    QString bits;   ///< "0 01111 0000000000"
    QString what;   ///< "1 exactly. The next number is 0.000977 away."
};

/// Tells what float32, float16, bfloat16 and the two formats of FP8 make of x.
QList<FormatWords> storedWords(double x);
/// Tells, for float16, bfloat16 and FP8 E5M2, what a gradient x becomes when it is multiplied by
/// the loss scale, stored, and divided by the scale again in float32.
QStringList gradientWords(double x, double scale);
/// Tells what x added to a weight makes of it, in float32, float16 and bfloat16.
QStringList weightWords(double x, double weight);
/// Tells what that says about the type in which weights are best kept.
QString conclusion(double x, double weight);

} // namespace halfscope
