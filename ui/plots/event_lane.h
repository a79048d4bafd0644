// The strip of event marks below the plots: one row per lane, one shape per kind. Draws into an
// axis rect that PlotStack owns; keeps a copy of the newest events' sentences for tool tips.
#pragma once

#include "engine/runs/step_record.h"
#include "ui/look/theme.h"

#include <QString>
#include <QStringList>

#include <array>
#include <deque>
#include <optional>
#include <vector>

class QCPAxisRect;
class QCPGraph;
class QCustomPlot;

namespace halfscope {

class EventLane {
public:
    /// Both must outlive this object.
    EventLane(QCustomPlot&, QCPAxisRect&);

    void setLanes(const QStringList& names);
    void clear();
    void add(const Event&);
    int count() const { return static_cast<int>(m_steps.size()); }
    /// Marks that a lane shows of one kind: a backoff that comes with an overflow has none of its
    /// own.
    int marks(EventKind, int lane) const;

    /// Puts at most one mark per kind, lane and two pixels into the graphs.
    void update(double from, double to, int pixels);
    void setColors(const Colors&);

    /// The mark nearest to a place in the plot, within a few pixels: its index in order of add().
    std::optional<int> eventAt(const QPointF& position) const;
    /// Its sentence; of an event older than kMostTexts others, no more than its step.
    QString text(int index) const;
    qint64 step(int index) const { return m_steps[static_cast<size_t>(index)]; }
    /// A run that overflows at every step must not fill the memory: older sentences give way.
    static constexpr int kMostTexts = 20000;
    /// Pixels that the rows need.
    static int heightFor(int lanes);

private:
    static constexpr int kKinds = 5;
    struct Mark {
        qint64 step = 0;
        int index = 0;
    };
    struct Row {
        std::array<std::vector<Mark>, kKinds> marks;
        std::array<QCPGraph*, kKinds> graphs{};
    };
    void addMark(Row&, const Event&, int index);

    QCustomPlot& m_plot;
    QCPAxisRect& m_rect;
    std::vector<qint64> m_steps; ///< of all events
    std::deque<QString> m_texts; ///< of the last ones
    std::vector<Row> m_rows;
};

} // namespace halfscope
