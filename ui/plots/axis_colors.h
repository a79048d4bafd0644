// A theme's colours on the axes of a plot.
#pragma once

#include "ui/look/theme.h"

#include <qcustomplot.h>

namespace halfscope {

/// Colours the background, and the lines, labels and grid of the left and bottom axes.
inline void setColorsOf(QCPAxisRect& rect, const Colors& colors, const QFont& font) {
    rect.setBackground(QBrush(colors.background));
    for (const auto type : {QCPAxis::atLeft, QCPAxis::atBottom}) {
        QCPAxis* axis = rect.axis(type);
        axis->setBasePen(QPen(colors.muted, 0));
        axis->setTickPen(QPen(colors.muted, 0));
        axis->setTickLabelColor(colors.text);
        axis->setLabelColor(colors.text);
        axis->setTickLabelFont(font);
        axis->setLabelFont(font);
        axis->grid()->setPen(QPen(colors.grid, 0));
    }
}

} // namespace halfscope
