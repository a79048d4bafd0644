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

FieldValue parseScale(const QString& text) {
    Field field = *findField("scaler.init_scale"); // the range of any scale
    field.key = "loss scale";                      // no setting: it has no place in a file
    return parseValue(field, typedNumber(text).toStdString());
}

} // namespace halfscope
