// The vertical line at one step of all plots, with the step's number below. It has a layer of its
// own, so moving it redraws no curve.
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
    /// Makes the layer. The step's number stands below `tagRect`.
    Crosshair(QCustomPlot&, QCPAxisRect& tagRect);

    QCPLayer& layer() const { return *m_layer; }
    /// Adds the part of the line in a rect; removeFrom() or the plot's end removes it.
    void addTo(QCPAxisRect&);
    void removeFrom(const QCPAxisRect&);
    void setColors(const Colors&);

    /// Returns the step where the line stands; nothing while it is hidden.
    std::optional<qint64> step() const { return m_step; }
    /// Returns false when the line stood there already.
    bool moveTo(std::optional<qint64> step);
    /// Returns the step to which the line returns when the pointer leaves.
    std::optional<qint64> pinned() const { return m_pinned; }
    void pin(std::optional<qint64> step) { m_pinned = step; }

private:
    void place();

    struct Line {
        const QCPAxisRect* rect;
        QCPItemStraightLine* item; ///< owned by the plot
    };
    QCustomPlot& m_plot;
    QCPLayer* m_layer = nullptr; ///< owned by the plot, as is the tag
    QCPItemText* m_tag = nullptr;
    std::vector<Line> m_lines;
    std::optional<qint64> m_step, m_pinned;
};

} // namespace halfscope
