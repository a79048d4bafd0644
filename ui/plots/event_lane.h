// The strip of event marks below the plots: one row per lane, one shape per kind. Draws the events
// of a run into an axis rect that PlotStack owns.
#pragma once

#include "engine/runs/run.h"
#include "ui/look/theme.h"

#include <QString>
#include <QStringList>

#include <array>
#include <memory>
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

    /// Null: no run, no lanes.
    void setRun(std::shared_ptr<const Run>);
    /// Those that the list of events has, see isEcho().
    int count() const { return m_count; }
    /// Marks that a lane shows of one kind: a backoff that comes with an overflow has none of its
    /// own.
    int marks(EventKind, int lane) const;

    /// Takes the events that came and puts at most one mark per kind, lane and two pixels into the
    /// graphs.
    void update(double from, double to, int pixels);
    void setColors(const Colors&);

    /// The mark nearest to a place in the plot, within a few pixels: its index in the run's events.
    std::optional<int> eventAt(const QPointF& position) const;
    QString text(int index) const;
    qint64 step(int index) const;
    /// Pixels that the rows need.
    static int heightFor(int lanes);

private:
    static constexpr int kKinds = kEventKinds;
    struct Mark {
        qint64 step = 0;
        int index = 0;
    };
    struct Row {
        std::array<std::vector<Mark>, kKinds> marks;
        std::array<QCPGraph*, kKinds> graphs{};
    };
    void setLanes(int lanes);
    void takeEvents();
    void addMark(Row&, const Event&, int index);

    QCustomPlot& m_plot;
    QCPAxisRect& m_rect;
    std::shared_ptr<const Run> m_run;
    size_t m_taken = 0; ///< of its events
    int m_count = 0;
    std::vector<Row> m_rows;
};

} // namespace halfscope
