// Turns what is drawn into the content of a picture file: a QCustomPlot with its legend, or
// anything else that a painter draws.
#pragma once

#include "ui/plots/overlay.h"

#include <QByteArray>
#include <QColor>
#include <QImage>
#include <QPen>
#include <QStringList>

#include <functional>
#include <optional>
#include <vector>

class QCPPainter;
class QCustomPlot;

namespace halfscope {

struct Colors;

/// The kinds of picture files.
enum class PlotForm {
    Svg,
    Pdf, ///< one page of the picture's size, for LaTeX
    Png, ///< of twice the size on screen
};

/// What tells a reader, who has no window to ask, which line is which.
struct FigureLegend {
    struct Entry {
        QPen pen;
        QColor color; ///< of the text
        QString text;
        /// The entry names this run instead: it has no sample, and begins a line.
        std::optional<Overlay> run{};
    };
    QColor background;
    std::vector<Entry> entries;
    bool needed = false; ///< the headings lack what it tells, even where there is room for all
};

/// Returns an entry for each lane. Where other runs are drawn, too, the name of each run, also of
/// the one that is shown if its tag is known, stands before its lanes. So does that of the one that
/// is shown where its data are to be told. It is needed also where it names runs.
FigureLegend legendOf(const Colors&, const QStringList& labels, const Overlay& shown,
                      const std::vector<Overlay>& others, bool needed = false);

using DrawFigure = std::function<void(QCPPainter&)>;

/// Returns the bytes of a file with a picture of this size on screen, which `draw` draws.
QByteArray figureFile(const QSize&, const QString& title, const DrawFigure& draw, PlotForm);
/// Returns the same picture with twice as many pixels in each direction.
QImage figureImage(const QSize&, const DrawFigure& draw);

/// Return the plot as it is laid out, but with whole headings. The legend stands below where they
/// do not say all that it says.
QByteArray plotFile(QCustomPlot&, const FigureLegend&, PlotForm);
QImage plotImage(QCustomPlot&, const FigureLegend&);

} // namespace halfscope
