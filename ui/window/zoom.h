// How large everything in the window is: for projectors and sharp screens. Qt takes the factor when
// the program starts, so a choice takes effect at the next start, which the window offers to
// make at once.
#pragma once

#include <QSize>
#include <QStringList>

#include <span>

namespace halfscope {

/// Returns the choices in percent, the ordinary size first.
std::span<const int> zooms();
/// Returns the choice in the user's settings; 100 when there is none, or when it is not among
/// zooms().
int rememberedZoom();
void rememberZoom(int percent);
/// Returns the value for QT_SCALE_FACTOR, before the application object is made: the user's choice,
/// but 1 for a screenshot, which must look the same whatever the user's window looks like.
double startFactor(const QStringList& arguments);

/// Returns the size of a window at the start, limited to the screen: that may be small, or hold
/// little because everything on it is larger.
QSize startSize(const QSize& usual, const QSize& screen);

} // namespace halfscope
