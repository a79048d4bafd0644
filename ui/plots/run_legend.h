// Names the runs whose curves are drawn, for an audience that does not see the list of runs.
#pragma once

#include "ui/look/theme.h"
#include "ui/plots/overlay.h"

#include <QFontMetrics>
#include <QLabel>
#include <QPen>

#include <vector>

namespace halfscope {

/// Returns "run 2: Checkerboard, Learning rate 0.01", or "run 2" when nothing else is known.
QString legendTextOf(const Overlay&);
/// Returns the same, at most so many pixels wide: the name is cut before what tells the run from
/// others, and of that, the value of the first setting last.
QString legendTextIn(Overlay, const QFontMetrics&, int width);

class RunLegend : public QLabel {
    Q_OBJECT
public:
    explicit RunLegend(QWidget* parent);
    /// Names the other runs and, where its tag is known, the one that is shown, whose run is not
    /// asked for its number of lanes.
    void setRuns(const std::vector<Overlay>& others, const Overlay& shown, int lanes);
    void setColors(const Colors&);
    /// Shows one line, with samples of its lanes before each run where there is room for them, with
    /// texts cut where they must be, if it is wanted and below plots of this size there is room for
    /// it; else nothing. Returns the height that it takes.
    int place(const QSize& plots, bool wanted);

private:
    int laneCountOf(const Overlay&) const;
    std::vector<QPen> pensOf(const Overlay&) const;
    int sampleLength() const;
    int widthOfSamples(const Overlay&) const;
    QString sampleOf(QPen) const;
    int widthOfEach(int line) const;
    void write();

    std::vector<Overlay> m_runs;
    Colors m_colors;
    int m_shownLanes = 0;
    int m_each = 0;         ///< pixels that a run's text may be wide
    bool m_samples = false; ///< there is room for them
};

} // namespace halfscope
