// The live loss scale has no field of its own; it has the range of the first scale.
#include "ui/models/typed_number.h"

namespace halfscope {

FieldValue parseScale(const QString& text) {
    Field field = *findField("scaler.init_scale"); // the range of any scale
    field.key = "loss scale";                      // no setting: it has no place in a file
    return parseValue(field, text.toStdString());
}

} // namespace halfscope
