// A QCustomPlot as the content of a picture's file.
#pragma once

#include <QByteArray>

class QCustomPlot;

namespace halfscope {

/// Returns the text of an SVG file that shows the plot as it is on screen.
QByteArray plotSvg(QCustomPlot&);
/// The bytes of a PNG file of twice the size on screen.
QByteArray plotPng(QCustomPlot&);

} // namespace halfscope
