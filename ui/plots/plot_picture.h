// Turns a QCustomPlot into the content of a picture file.
#pragma once

#include <QByteArray>

class QCustomPlot;

namespace halfscope {

/// Returns the text of an SVG file that shows the plot as it is on screen.
QByteArray plotSvg(QCustomPlot&);
/// Returns the bytes of a PNG file of twice the size on screen.
QByteArray plotPng(QCustomPlot&);

} // namespace halfscope
