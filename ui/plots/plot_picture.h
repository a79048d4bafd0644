// A QCustomPlot as a picture in a file.
#pragma once

#include <QByteArray>
#include <QString>

class QCustomPlot;

namespace halfscope {

/// The text of an SVG file, as it is shown.
QByteArray plotSvg(QCustomPlot&);
/// The same in a file. False, and a sentence in `error`, when it cannot be written.
bool writePlotSvg(QCustomPlot&, const QString& path, QString* error);
/// Twice the size on screen.
bool writePlotPng(QCustomPlot&, const QString& path, QString* error);

} // namespace halfscope
