// Limits of zoom and pan.
#include "ui/plots/step_range.h"

#include <qcustomplot.h>

#include <algorithm>

namespace halfscope {

QCPRange stepsOf(const Run* run, qint64 last, const std::vector<Overlay>& others) {
    constexpr double kEmptyEnd = 10; // steps shown before there are any
    int64_t first = run ? run->now().firstStep() : 1, end = last;
    if (run && !run->now().events().empty())
        first = std::min(first, std::max(run->now().events()[0].step, int64_t{1}));
    for (const Overlay& other : others) {
        first = std::min(first, other.run->now().firstStep());
        end = std::max(end, other.run->now().lastStep());
    }
    return {double(first - 1), std::max(double(end), double(first - 1) + kEmptyEnd)};
}

double roomFor(double mark, int pixels) { return mark / std::max(1.0, pixels - 2 * mark); }

void StepRange::showAll(const QCPRange& all, double room) {
    m_from = all.lower - room * all.size();
    m_to = all.upper + room * all.size();
}

void StepRange::show(double from, double to, const QCPRange& all, double room) {
    constexpr double kNarrowest = 4; // steps
    const double width = std::clamp(to - from, kNarrowest, (1 + 2 * room) * all.size());
    const double beside = room / (1 + 2 * room) * width; // equally many pixels at every zoom
    const double lowest = all.lower - beside;
    const double highest = std::max(lowest, all.upper + beside - width);
    m_from = std::clamp((from + to - width) / 2, lowest, highest);
    m_to = m_from + width;
}

} // namespace halfscope
