// Values of a setting that are worth trying, for dialogs that ask for several.
#pragma once

#include "engine/settings/fields.h"

#include <QStringList>
#include <functional>
#include <optional>

namespace halfscope {

/// Returns the first lane in which the setting means something; there must be one.
int firstLaneOf(const Field&, const RunConfig&);

/// Returns the present loss scale of a lane of the settings that trains; nothing for others.
using PresentScale = std::function<std::optional<double>(int lane)>;

/// Returns values that are likely to differ in what they do: the present one of a lane with so many
/// below and above it (`around`), or the first choices. At most `most`, each of which is allowed.
/// Where the lane has trained, first scales are those around `scale`, which it has found. Powers of
/// two are all written in one way.
QStringList suggestedValues(const Field&, const RunConfig&, int lane, size_t most, int around = 1,
                            std::optional<double> scale = {});

} // namespace halfscope
