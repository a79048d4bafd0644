// Drawn in memory first: onto a full disk it would be no more than an unknown
// error.
#include "ui/plots/plot_picture.h"

#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "ui/models/translated.h"

#include <qcustomplot.h>

#include <QBuffer>
#include <QCoreApplication>
#include <QSvgGenerator>

namespace halfscope {

namespace {

bool written(const QString& path, const QByteArray& bytes, QString* error) {
    try {
        writeFileAtomically(path.toStdString(), bytes.toStdString());
        return true;
    } catch (const RunError& failure) {
        if (error) *error = translated(failure);
        return false;
    }
}

} // namespace

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

bool writePlotSvg(QCustomPlot& plot, const QString& path, QString* error) {
    return written(path, plotSvg(plot), error);
}

bool writePlotPng(QCustomPlot& plot, const QString& path, QString* error) {
    QBuffer buffer;
    plot.toPixmap(0, 0, 2.0).save(&buffer, "PNG");
    return written(path, buffer.data(), error);
}

} // namespace halfscope
