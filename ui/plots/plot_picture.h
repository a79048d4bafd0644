// A QCustomPlot as a picture in a file.
#pragma once

#include <QString>

class QCustomPlot;

namespace halfscope {

/// As it is shown. False, and a sentence in `error`, when the file cannot be
/// written.
bool writePlotSvg(QCustomPlot&, const QString& path, QString* error);
/// Twice the size on screen.
bool writePlotPng(QCustomPlot&, const QString& path, QString* error);

} // namespace halfscope
