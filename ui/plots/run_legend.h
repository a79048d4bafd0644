// Names the other runs whose curves are drawn, for an audience that does not see the list of runs.
#pragma once

#include "ui/look/theme.h"
#include "ui/plots/overlay.h"

#include <QLabel>

#include <vector>

namespace halfscope {

/// Returns "run 2: Checkerboard", or "run 2" when its name is not known.
QString legendTextOf(const Overlay&);

class RunLegend : public QLabel {
    Q_OBJECT
public:
    explicit RunLegend(QWidget* parent);
    void setRuns(const std::vector<Overlay>&);
    void setColors(const Colors&);
    /// Shows one line, with names cut where they must be, if it is wanted and below plots of this
    /// size there is room for it; else nothing. Returns the height that it takes.
    int place(const QSize& plots, bool wanted);

private:
    int widthOfEach(int line) const;
    void write();

    std::vector<Overlay> m_runs;
    Colors m_colors;
    int m_each = 0; ///< pixels that a run's text may be wide
};

} // namespace halfscope
