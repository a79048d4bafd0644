// What is no power stays, so that who reads the number can say what is wrong with it.
#include "ui/models/typed_number.h"

#include <QRegularExpression>

#include <cmath>

namespace halfscope {

QString typedNumber(const QString& text) {
    static const QRegularExpression power(QStringLiteral("^2\\s*\\^\\s*(-?\\d+)$"));
    const QString trimmed = text.trimmed();
    bool small = false; // an exponent of many digits is none
    const int exponent = power.match(trimmed).captured(1).toInt(&small);
    return small ? QString::number(std::exp2(exponent), 'g', 17) : trimmed;
}

} // namespace halfscope
