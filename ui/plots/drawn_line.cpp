// Leaves out the middle of level stretches, and counts turns to find noise.
#include "ui/plots/drawn_line.h"

namespace halfscope {

DrawnLine drawnLine(const CurvePoints& points, int pixels, std::optional<double> floor) {
    const auto heightOf = [&](double y) { return floor && y <= 0 ? *floor : y; };
    DrawnLine drawn;
    QVector<QCPGraphData>& data = drawn.data;
    data.reserve(points.xs.size());
    qsizetype turns = 0;
    double before = 0;
    for (qsizetype i = 0; i < points.xs.size(); ++i) {
        const double y = heightOf(points.ys[i]);
        const qsizetype n = data.size();
        if (n > 0 && i + 1 < points.xs.size()) {
            const bool level = y == data[n - 1].value;
            // the middle of a level stretch adds nothing but work
            if (level && heightOf(points.ys[i + 1]) == y) continue;
            const double rise = y - data[n - 1].value;
            turns += rise * before < 0;
            if (!level) before = rise;
        }
        data.append(QCPGraphData(points.xs[i], y));
    }
    drawn.noise = data.size() > pixels && 2 * turns > data.size();
    return drawn;
}

} // namespace halfscope
