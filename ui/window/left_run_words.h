// The words for sessions and runs that an earlier window left, for somebody who decides whether
// they are worth keeping.
#pragma once

#include "engine/runs/left_session.h"

#include <QString>

namespace halfscope {

/// Returns when a session was begun, as its name tells: "begun today at 13:43"; empty for other
/// names.
QString beginningOf(const LeftSession&);
/// Describes a run. `begun` is beginningOf() its session, or empty.
QString leftRunLine(const LeftRun&, const QString& begun);

} // namespace halfscope
