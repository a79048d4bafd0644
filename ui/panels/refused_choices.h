// The choices of a setting that its other settings do not allow: they stay in the list, but cannot
// be chosen, and their tool tips say why.
#pragma once

#include "engine/settings/fields.h"

class QComboBox;

namespace halfscope {

/// Gives each choice its tool tip: what it is or, where the settings do not allow it, why. The box
/// must have the choices of the field in their order.
void describeChoices(QComboBox&, const Field&, const RunConfig&);

} // namespace halfscope
