// The words for sessions and runs that an earlier window left, for somebody who decides whether
// they are worth keeping.
#pragma once

#include "engine/runs/left_session.h"
#include "ui/dialogs/left_runs_box.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <memory>
#include <vector>

namespace halfscope {

/// Returns when a session was begun, as its name tells: "begun today at 13:43"; empty for other
/// names.
QString beginningOf(const LeftSession&);
/// Describes a run. `begun` is beginningOf() its session, or empty.
QString leftRunLine(const LeftRun&, const QString& begun);

/// Returns a line for each run of these sessions, the newest first: the question names a few, and
/// one of them was being trained.
QStringList leftRunLines(const std::vector<std::shared_ptr<LeftSession>>&);
/// Returns why there are these sessions.
LeftRunsBox::Why whyLeft(const std::vector<std::shared_ptr<LeftSession>>&);

/// Says how many of several runs are restored. Of one, only that it will be.
QString restoringText(int restored, size_t wanted);
/// Says that the file of a session stays; %1 is the reason.
QString onlyAPart();
/// Says that runs are not on disk; %1 is the reason.
QString keptInMemory(const QString& reason);

} // namespace halfscope
