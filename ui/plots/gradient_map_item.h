// The picture of a lane's gradients over the steps: a row for each power of two, whose shade is the
// share of gradients there, with zeros below, inf and nan above, and the limits of fp16.
#pragma once

#include "engine/core/half_limits.h"
#include "engine/runs/gradient_history.h"
#include "ui/look/theme.h"

#include <qcustomplot.h>

#include <QImage>
#include <QStringList>

namespace halfscope {

class GradientMapItem : public QCPAbstractItem {
    Q_OBJECT
public:
    /// The exponents of the lowest and highest row; these two also hold what lies beyond them.
    static constexpr int kLowest = -30, kHighest = 17;
    /// Places on the axis, where 2^e fills [e, e + 1): strips for zeros and for inf and nan, apart
    /// from the rest.
    static constexpr int kBottom = kLowest - 4, kZerosTop = kLowest - 1;
    static constexpr int kInfBottom = kHighest + 2, kTop = kHighest + 5;
    /// The share that gets the full shade.
    static constexpr double kFull = 0.2;

    GradientMapItem(QCustomPlot&, QCPAxisRect&);

    /// Takes the part of the history in [from, to], with a column for each of `pixels` pixels.
    void setHistory(const GradientHistory&, double from, double to, int pixels);
    /// Sets sentences, each briefer than the one before, of which the longest that fits stands
    /// where the shades would be; none where there are shades.
    void setNote(const QStringList& forms) { m_note = forms; }
    const QStringList& note() const { return m_note; }
    void setColors(const Colors&, int lane);
    /// Returns the shade of a share, from 0 to 1. It grows with the root, so that small shares are
    /// visible, too.
    static double shadeOf(double share);
    /// Returns the lane's hue in high contrast to the background; lighter shades are mixed with the
    /// background.
    static QColor fullShade(const Colors&, int lane);

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter*) override;

private:
    double placeOf(double exponent) const;
    void drawZones(QCPPainter&) const;
    void drawLimits(QCPPainter&) const;
    void drawLegend(QCPPainter&) const;
    void drawNote(QCPPainter&) const;
    QColor shaded(double shade) const;

    QCPAxisRect& m_rect;
    QImage m_image;
    bool m_half = false; ///< the gradients are stored in fp16, so that its limits apply
    QStringList m_note;  ///< see setNote()
    Colors m_colors;
    QColor m_full; ///< the colour of a share of kFull
};

} // namespace halfscope
