// Turns a QCustomPlot into the content of a picture file.
#pragma once

#include <QByteArray>

class QCustomPlot;

namespace halfscope {

/// The kinds of picture files.
enum class PlotForm {
    Svg,
    Pdf, ///< one page of the plot's size, for LaTeX
    Png, ///< of twice the size on screen
};

/// Returns the bytes of a file that shows the plot as it is on screen.
QByteArray plotFile(QCustomPlot&, PlotForm);

} // namespace halfscope
