// Draws the picture in memory. The caller writes it on another thread, and knows why a disk does
// not take it.
#include "ui/plots/plot_picture.h"

#include <qcustomplot.h>

#include <QBuffer>
#include <QCoreApplication>
#include <QPageSize>
#include <QPdfWriter>
#include <QSvgGenerator>

namespace halfscope {
namespace {

QString title() { return QCoreApplication::translate("PlotStack", "Halfscope plots"); }

void writeSvg(QCustomPlot& plot, QIODevice& to) {
    QSvgGenerator generator;
    generator.setOutputDevice(&to);
    generator.setSize(plot.size());
    generator.setViewBox(QRect(QPoint(0, 0), plot.size()));
    generator.setTitle(title());
    QCPPainter painter;
    painter.begin(&generator);
    plot.toPainter(&painter, plot.width(), plot.height());
}

void writePdf(QCustomPlot& plot, QIODevice& to) {
    constexpr double kPointsAnInch = 72;
    QPdfWriter writer(&to);
    const int dots = plot.logicalDpiX(); // letters keep their size beside the lines
    writer.setResolution(dots);
    writer.setPageSize(QPageSize(QSizeF(plot.size()) * kPointsAnInch / dots, QPageSize::Point,
                                 QString(), QPageSize::ExactMatch));
    writer.setPageMargins({});
    writer.setTitle(title());
    QCPPainter painter;
    painter.begin(&writer);
    painter.setMode(QCPPainter::pmVectorized);
    plot.toPainter(&painter, plot.width(), plot.height());
}

} // namespace

QByteArray plotFile(QCustomPlot& plot, PlotForm form) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    switch (form) {
    case PlotForm::Svg: writeSvg(plot, buffer); break;
    case PlotForm::Pdf: writePdf(plot, buffer); break;
    case PlotForm::Png: plot.toPixmap(0, 0, 2.0).save(&buffer, "PNG"); break;
    }
    return buffer.data();
}

} // namespace halfscope
