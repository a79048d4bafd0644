// The picture of a lane's gradients over the steps: a row for each power of two, whose shade is the
// share of gradients there, zeros below and inf above it, with the limits of fp16.
#pragma once

#include "engine/core/half_limits.h"
#include "engine/runs/gradient_history.h"
#include "ui/look/theme.h"

#include <qcustomplot.h>

#include <QImage>

namespace halfscope {

class GradientMapItem : public QCPAbstractItem {
    Q_OBJECT
public:
    /// Rows of powers of two; the lowest and the highest hold what lies beyond them, too.
    static constexpr int kLowest = -30, kHighest = 17;
    /// On the axis, where 2^e fills [e, e + 1): strips for zeros and for inf, apart from the rest.
    static constexpr int kBottom = kLowest - 4, kZerosTop = kLowest - 1;
    static constexpr int kInfBottom = kHighest + 2, kTop = kHighest + 5;
    /// The share of full shade.
    static constexpr double kFull = 0.2;

    GradientMapItem(QCustomPlot&, QCPAxisRect&);

    /// What lies in [from, to], with a column for each of so many pixels.
    void setHistory(const GradientHistory&, double from, double to, int pixels);
    void setColors(const Colors&, int lane);
    /// The shade of a share, from 0 to 1: by its root, so that few are seen too.
    static double shadeOf(double share);
    /// The lane's hue, far from the background; lighter shades are mixed with that.
    static QColor fullShade(const Colors&, int lane);

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter*) override;

private:
    double placeOf(double exponent) const;
    void drawZones(QCPPainter&) const;
    void drawLimits(QCPPainter&) const;
    void drawLegend(QCPPainter&) const;
    QColor shaded(double shade) const;

    QCPAxisRect& m_rect;
    QImage m_image;
    bool m_half = false; ///< the gradients are stored in fp16, so that its limits bind
    Colors m_colors;
    QColor m_full; ///< of a share of kFull
};

} // namespace halfscope
