// A curve of the plots. Thin lines without antialiasing are drawn 20 to 60 times faster than
// others, so a growing curve is a hairline. It is drawn as two hairlines side by side on a screen
// with small pixels, and, to be seen from the last row of a lecture, while it has few points.
#pragma once

#include <qcustomplot.h>

namespace halfscope {

class CurveGraph : public QCPGraph {
    Q_OBJECT
public:
    /// The plot of the axes owns the graph.
    CurveGraph(QCPAxis* step, QCPAxis* value);

protected:
    void drawLinePlot(QCPPainter*, const QVector<QPointF>& lines) const override;
};

} // namespace halfscope
