// The vertical line at one step of all plots, with the step's number below. While it is away from
// the step that it is pinned to, it is dashed, and a line stays there. They have a layer of their
// own, so moving them redraws no curve.
#pragma once

#include <QPen>
#include <QtGlobal>

#include <optional>
#include <vector>

class QCPAxisRect;
class QCPItemStraightLine;
class QCPLayer;
class QCustomPlot;

namespace halfscope {

struct Colors;
class StepTag;

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
    void pin(std::optional<qint64> step);

private:
    struct Line {
        const QCPAxisRect* rect;
        QCPItemStraightLine *pinned, *item; ///< owned by the plot
    };
    StepTag* newTag(QCPAxisRect&);
    QCPItemStraightLine* newLine(QCPAxisRect&);
    void place();

    QCustomPlot& m_plot;
    QCPLayer* m_layer = nullptr; ///< owned by the plot, as are the tags
    StepTag *m_pinnedTag = nullptr, *m_tag = nullptr;
    QPen m_pen;
    std::vector<Line> m_lines;
    std::optional<qint64> m_step, m_pinned;
};

} // namespace halfscope
