// Reads them by the rules of the settings. The live loss scale has no field of its own; it has the
// range of the initial scale.
#include "ui/models/typed_number.h"

#include "ui/models/translated.h"

#include <QCoreApplication>

#include <limits>

namespace halfscope {
namespace {

const Field& scaleField() { return *findField("scaler.init_scale"); } // the range of any scale

/// Returns a field of a number from -most to most.
Field numberField(double most) {
    Field field;
    field.key = "number";
    field.minimum = -most;
    field.maximum = most;
    return field;
}

} // namespace

FieldValue parseScale(const QString& text) {
    Field field = scaleField();
    // not a setting: it is in no file
    field.key = translated(phrase("Settings", "loss scale")).toStdString();
    return parseValue(field, text.toStdString());
}

double parseNumber(const QString& text) {
    const Field field = numberField(static_cast<double>(std::numeric_limits<float>::max()));
    const QString typed = text.trimmed();
    const bool negativePower = typed.startsWith('-') && typed.contains('^');
    const double value =
        std::get<double>(parseValue(field, typed.mid(negativePower ? 1 : 0).toStdString()));
    return negativePower ? -value : value;
}

QString allowedWords(const Field& field, const QString& typed) {
    QString words = QCoreApplication::translate("TypedNumber", "Allowed: %1")
                        .arg(translated(allowedText(field)));
    const bool number = field.kind == FieldKind::Integer || field.kind == FieldKind::Real;
    if (number && typed.contains(u','))
        words += u'\n' + QCoreApplication::translate(
                             "TypedNumber", "Decimals follow a point, and thousands stand without "
                                            "commas: 0.001, 65536");
    return words;
}

QString allowedScale(const QString& typed) { return allowedWords(scaleField(), typed); }

QString allowedNumber(const QString& typed) {
    constexpr double kMost = 3.4e38; // as people write float32's largest, and as the settings do
    return allowedWords(numberField(kMost), typed);
}

} // namespace halfscope
