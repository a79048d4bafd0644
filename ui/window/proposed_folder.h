// The folder that is proposed for the results of a run.
#pragma once

#include <QString>

namespace halfscope {

class ShownRun;

/// Returns the folder that the run was opened from, or that it goes on from: ResultsQuestion asks
/// before anything is lost there. For other runs returns the name of a new one. A dialog looks into
/// the folder of a path: a dead network would halt it, and a lost folder would make it refuse every
/// name. Only the name is left then.
QString proposedFolder(const ShownRun&);

} // namespace halfscope
