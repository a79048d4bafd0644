// The live loss scale has no field of its own; it has the range of the initial scale.
#include "ui/models/typed_number.h"

#include "ui/models/translated.h"

namespace halfscope {

FieldValue parseScale(const QString& text) {
    Field field = *findField("scaler.init_scale"); // the range of any scale
    // not a setting: it is in no file
    field.key = translated(phrase("Settings", "loss scale")).toStdString();
    return parseValue(field, text.toStdString());
}

} // namespace halfscope
