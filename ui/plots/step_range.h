// The steps that the plots show, which the user zooms and pans: never far beyond those that exist.
#pragma once

#include "ui/plots/overlay.h"

#include <QtGlobal>

#include <vector>

class QCPRange;

namespace halfscope {

/// Returns the steps of all runs that are drawn, from before the first one. `last` is the newest
/// step of the run that is shown, which may be null. A run that goes on from a checkpoint may lack
/// the rows before it.
QCPRange stepsOf(const Run*, qint64 last, const std::vector<Overlay>&);
/// Returns the room that `mark` pixels at either end of a plot take, as a share of the steps
/// between them.
double roomFor(double mark, int pixels);

class StepRange {
public:
    double from() const { return m_from; }
    double to() const { return m_to; }
    double width() const { return m_to - m_from; }
    /// Shows all steps, and this share of them more at both ends, or the marks there would be cut
    /// in half.
    void showAll(const QCPRange& all, double room);
    /// Shows the steps from `from` to `to`, but at least four. Beyond the ends of all steps there
    /// is no more than the same room.
    void show(double from, double to, const QCPRange& all, double room);

private:
    double m_from = 0, m_to = 10;
};

} // namespace halfscope
