// A QCustomPlot as the content of a picture's file.
#pragma once

#include <QByteArray>

class QCustomPlot;

namespace halfscope {

/// The text of an SVG file, as it is shown.
QByteArray plotSvg(QCustomPlot&);
/// The bytes of a PNG file of twice the size on screen.
QByteArray plotPng(QCustomPlot&);

} // namespace halfscope
