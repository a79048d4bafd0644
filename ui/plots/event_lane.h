// The strip of event marks below the plots: one row per lane, or one for all, one shape per kind.
// Draws the events of a run into an axis rect that PlotStack owns.
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

class EventLegend;

/// A row of marks for each lane, named by its letter: of the usual height or lower; or one row for
/// all, without letters.
enum class EventRows { Usual, Low, Shared };

class EventLane {
public:
    /// Both must outlive this object.
    EventLane(QCustomPlot&, QCPAxisRect&);

    /// Sets the run whose events are marked. Null: no run, no lanes.
    void setRun(std::shared_ptr<const Run>);
    /// Returns the number of events that have a row in the list of events, see isEcho().
    int count() const { return m_count; }
    /// Returns how many marks of one kind a lane has. A backoff that comes with an overflow has no
    /// mark of its own.
    int marks(EventKind, int lane) const;

    /// Takes the new events; returns whether their names or marks need another number of lines or
    /// rows.
    bool takeEvents();
    /// Returns how many lines of names there are below the rect, see EventLegend.
    int lines() const;
    /// Puts into the graphs at most one mark for each kind, lane and two
    /// pixels.
    void update(double from, double to, int pixels);
    void setColors(const Colors&);
    /// Draws marks so many times as large from the next setColors() on. Above 1, lanes without
    /// events have no row, and the others a low one.
    void magnify(double factor);
    bool isMagnified() const { return m_magnified > 1; }
    /// Prepares for a picture, in which lanes without events have no row; it is drawn so from the
    /// next update() on.
    void setPrinted(bool);

    /// Returns the index, among the run's events, of the event whose mark is nearest to a place in
    /// the plot; nothing when no mark is within a few pixels.
    std::optional<int> eventAt(const QPointF& position) const;
    /// Returns the index of the event at a step whose mark lies above the others; nothing when no
    /// mark is there.
    std::optional<int> eventOf(qint64 step) const;
    /// Returns the index of such an event at the next step that has one, or the previous one
    /// (`forward`: false). Without a step it is the first one of all, or the last.
    std::optional<int> eventBeside(std::optional<qint64> step, bool forward) const;
    QString text(int index) const;
    qint64 step(int index) const;
    /// Returns what all marks mean for a place beside them; empty elsewhere.
    QString explanationAt(const QPoint& position) const;
    /// See EventLegend.
    void keepFree(int width);
    QCPAxisRect& rect() const { return m_rect; }
    /// Draws the marks in such rows, from the next update() on.
    void arrange(EventRows);
    /// Returns the height of the rows, in pixels.
    int height() const;

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
    void nameAxis(double stepsPerPixel);
    void nameRows();
    bool hasStep(int lane, int64_t step) const;
    bool hasRow(const Row&) const;
    /// Returns how many of the first `lanes` have a row of their own.
    size_t rowsOf(size_t lanes) const;
    /// Returns the height of marks, in rows. A growth and the overflow that it causes are often a
    /// pixel apart, and a loss that is not finite is often skipped: such marks lie at two heights
    /// of the row, so that both are seen.
    double placeOf(size_t lane, EventKind) const;
    void addMark(Row&, const Event&, int index);
    void fillLegend();

    QCustomPlot& m_plot;
    QCPAxisRect& m_rect;
    std::shared_ptr<const Run> m_run;
    size_t m_taken = 0; ///< how many of its events were taken
    int m_count = 0;
    bool m_tookSteps = false; ///< a mark is of an overflow whose step was taken
    double m_magnified = 1;
    bool m_printed = false;
    EventRows m_arranged = EventRows::Usual;
    std::vector<Row> m_rows;
    EventLegend* m_legend = nullptr; ///< owned by the plot
    Colors m_colors;
    size_t m_listed = 0; ///< how many of the events the legend knows
};

} // namespace halfscope
