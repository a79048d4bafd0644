// The vertical line at one step of all plots, with the step's number below. It
// has a layer of its own, so moving it redraws no curve.
#pragma once

#include <QtGlobal>

#include <optional>
#include <vector>

class QCPAxisRect;
class QCPItemStraightLine;
class QCPItemText;
class QCPLayer;
class QCustomPlot;

namespace halfscope {

struct Colors;

class Crosshair {
public:
    /// Makes the layer. `tagRect`: the rect below which the step stands.
    Crosshair(QCustomPlot&, QCPAxisRect& tagRect);

    QCPLayer& layer() const { return *m_layer; }
    /// A part of the line in a rect; goes with the rect's plot.
    void addTo(QCPAxisRect&);
    void removeFrom(const QCPAxisRect&);
    void setColors(const Colors&);

    /// The step where it stands; nothing: it is not seen.
    std::optional<qint64> step() const { return m_step; }
    /// False where it stood there already.
    bool moveTo(std::optional<qint64> step);
    /// It comes back to this step when the pointer leaves.
    std::optional<qint64> pinned() const { return m_pinned; }
    void pin(std::optional<qint64> step) { m_pinned = step; }

private:
    void place();

    struct Line {
        const QCPAxisRect* rect;
        QCPItemStraightLine* item; ///< owned by the plot
    };
    QCustomPlot& m_plot;
    QCPLayer* m_layer = nullptr; ///< owned by the plot, as the tag
    QCPItemText* m_tag = nullptr;
    std::vector<Line> m_lines;
    std::optional<qint64> m_step, m_pinned;
};

} // namespace halfscope
