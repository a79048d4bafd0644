// A curve of the plots. Thin lines without antialiasing are 20 to 60 times faster than others, so a
// growing curve has a hairline; on a screen of small pixels that is drawn two of them thick.
#pragma once

#include <qcustomplot.h>

namespace halfscope {

class CurveGraph : public QCPGraph {
    Q_OBJECT
public:
    /// The plot of the axes owns it.
    CurveGraph(QCPAxis* step, QCPAxis* value);

protected:
    void drawLinePlot(QCPPainter*, const QVector<QPointF>& lines) const override;
};

} // namespace halfscope
