// Reads them by the rules of the settings. The live loss scale has no field of its own; it has the
// range of the initial scale.
#include "ui/models/typed_number.h"

#include "ui/models/translated.h"

#include <limits>

namespace halfscope {

FieldValue parseScale(const QString& text) {
    Field field = *findField("scaler.init_scale"); // the range of any scale
    // not a setting: it is in no file
    field.key = translated(phrase("Settings", "loss scale")).toStdString();
    return parseValue(field, text.toStdString());
}

double parseNumber(const QString& text, const QString& name) {
    constexpr auto kMost = static_cast<double>(std::numeric_limits<float>::max());
    Field field;
    field.key = name.toStdString();
    field.minimum = -kMost;
    field.maximum = kMost;
    const QString typed = text.trimmed();
    const bool negativePower = typed.startsWith('-') && typed.contains('^');
    const double value =
        std::get<double>(parseValue(field, typed.mid(negativePower ? 1 : 0).toStdString()));
    return negativePower ? -value : value;
}

} // namespace halfscope
