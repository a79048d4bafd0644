// A new start of the program that shows what a window shows: its arguments, and the settings that
// the user has edited, which no run has yet and which travel in a file of their own.
#pragma once

#include "ui/session/edit_history.h"

#include <QStringList>

namespace halfscope {

class SessionKeeper;
class ShownRun;
struct RunModels;

/// Returns the arguments of the new start. Writes settings that neither a run nor a preset has to
/// a file in the folder `sessions`. `keeper` may be null. Throws InputError for settings that
/// could not be read again, and RunError when they cannot be written.
QStringList nextStart(const RunModels&, const ShownRun&, const SessionKeeper*,
                      const QString& sessions);
/// Returns the edits that nextStart() wrote to a file, and removes the file. Throws InputError.
KeptEdits takeEdits(const QString& path);
/// Returns the arguments that QApplication took from the command line for itself, such as
/// "-style fusion": those of `given` that are not in `left`. Both are in the user's order.
QStringList takenByQt(const QStringList& given, const QStringList& left);

} // namespace halfscope
