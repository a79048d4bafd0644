// What windows remember from one start to the next, in the user's settings. They are read and
// written on threads of their own: the home folder may lie on a disk that does not answer, and then
// the window goes on and closes as if nothing were remembered. For the window's thread alone.
#pragma once

#include <QVariantMap>

#include <chrono>

namespace halfscope {

/// All of them, by key, as they are now. Where the disk does not answer at once, as they were when
/// it last did; nothing where it never did.
QVariantMap userSettings();
/// From now on these keys have these values; on the disk soon.
void keepUserSettings(const QVariantMap& values);
/// Waits so long at most until all of it is on the disk; whether it is. Before the program ends: a
/// thread that the disk still holds is left to itself.
bool finishUserSettings(std::chrono::milliseconds patience);

} // namespace halfscope
