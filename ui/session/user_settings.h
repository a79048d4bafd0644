// What windows remember from one start to the next, in the user's settings. They are read and
// written on threads of their own: the home folder may lie on a disk that does not answer, and then
// the window goes on and closes as if nothing were remembered. Only the window's thread may call
// these functions.
#pragma once

#include <QVariantMap>

#include <chrono>

namespace halfscope {

/// Returns all settings, by key, as they are now. When the disk does not answer at once, returns
/// them as they were when it last answered; nothing if it never did.
QVariantMap userSettings();
/// Whether a call of userSettings() has returned before the disk ever answered. What was used in
/// place of the settings must not be kept: it would replace those that the disk has.
bool missedUserSettings();
/// Gives these keys these values from now on; they are written to the disk soon.
void keepUserSettings(const QVariantMap& values);
/// Waits until all values are on the disk, but at most `patience`; returns whether they are. Call
/// it before the program ends: a thread that the disk still holds is left to itself.
bool finishUserSettings(std::chrono::milliseconds patience);

} // namespace halfscope
