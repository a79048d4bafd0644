// Draws the picture in memory. The caller writes it on another thread, and knows why a disk does
// not take it.
#include "ui/plots/plot_picture.h"

#include <qcustomplot.h>

#include <QBuffer>
#include <QCoreApplication>
#include <QSvgGenerator>

namespace halfscope {

QByteArray plotSvg(QCustomPlot& plot) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    {
        QSvgGenerator generator;
        generator.setOutputDevice(&buffer);
        generator.setSize(plot.size());
        generator.setViewBox(QRect(QPoint(0, 0), plot.size()));
        generator.setTitle(QCoreApplication::translate("PlotStack", "Halfscope plots"));
        QCPPainter painter;
        painter.begin(&generator);
        plot.toPainter(&painter, plot.width(), plot.height());
    }
    return buffer.data();
}

QByteArray plotPng(QCustomPlot& plot) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    plot.toPixmap(0, 0, 2.0).save(&buffer, "PNG");
    return buffer.data();
}

} // namespace halfscope
