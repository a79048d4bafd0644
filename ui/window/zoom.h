// How large everything in the window is: for projectors and sharp screens. Qt takes the factor when
// the program starts, so a choice acts at the next start.
#pragma once

#include <QSize>
#include <QStringList>

#include <span>

namespace halfscope {

/// In percent, the ordinary size first.
std::span<const int> zooms();
/// The choice in the user's settings; 100 where there is none, or none of zooms().
int rememberedZoom();
void rememberZoom(int percent);
/// What QT_SCALE_FACTOR is to be, before the application object is made: the choice, but 1 for a
/// screenshot, which must look the same whatever the user's window looks like.
double startFactor(const QStringList& arguments);

/// The size that a window has at the start, in the room of the screen: that may be small, or hold
/// little because everything is larger on it.
QSize startSize(const QSize& usual, const QSize& screen);

} // namespace halfscope
