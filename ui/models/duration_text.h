// A time as people say it.
#pragma once

#include <QString>

namespace halfscope {

/// Returns "2 minutes", "3 hours": as precisely as one remembers a wait.
QString durationText(double seconds);

} // namespace halfscope
