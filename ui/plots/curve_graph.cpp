// Thickens hairlines by drawing them twice, which keeps Qt's fast path for them.
#include "ui/plots/curve_graph.h"

namespace halfscope {
namespace {
constexpr double kSmallPixels = 1.5; // device pixels in one pixel of the window
constexpr int kFewPoints = 1000;     // so few take no time worth saving
} // namespace

CurveGraph::CurveGraph(QCPAxis* step, QCPAxis* value) : QCPGraph(step, value) {
    setAdaptiveSampling(false); // the points are sampled already
    setSelectable(QCP::stNone);
}

void CurveGraph::drawLinePlot(QCPPainter* painter, const QVector<QPointF>& lines) const {
    QCPGraph::drawLinePlot(painter, lines);
    const double ratio = painter->device()->devicePixelRatioF();
    if (pen().widthF() > 1 || (ratio < kSmallPixels && data()->size() > kFewPoints)) return;
    painter->save();
    painter->QPainter::translate(0, 1 / ratio);
    QCPGraph::drawLinePlot(painter, lines);
    painter->restore();
}

} // namespace halfscope
