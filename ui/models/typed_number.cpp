// The live loss scale has no field of its own; it has the range of the first scale.
#include "ui/models/typed_number.h"

#include "ui/models/translated.h"

namespace halfscope {

FieldValue parseScale(const QString& text) {
    Field field = *findField("scaler.init_scale"); // the range of any scale
    // no setting: it has no place in a file
    field.key = translated(phrase("Settings", "loss scale")).toStdString();
    return parseValue(field, text.toStdString());
}

} // namespace halfscope
