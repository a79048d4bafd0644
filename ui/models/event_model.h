// The rare events of a run as a table, the latest step first: step, lane, what happened, and the
// sentence that explains it. Knows which events of a run have a row; the events stay in the run.
#pragma once

#include "engine/runs/run.h"

#include <QAbstractTableModel>
#include <memory>
#include <optional>
#include <vector>

namespace halfscope {

/// Whether an event is the backoff that follows from the overflow before it. The overflow's row
/// tells already that the scale fell.
bool isEcho(const GrowingList<Event>::View&, size_t i);

class EventModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { StepColumn, LaneColumn, KindColumn, TextColumn, Columns };
    enum Role { StepRole = Qt::UserRole + 1, LaneRole, KindRole };

    explicit EventModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    /// Sets the run whose events are listed. Null: no events.
    void setRun(std::shared_ptr<const Run>);
    /// Takes the events that came since the last call; returns whether there were any.
    bool refresh();
    /// Returns how many of the run's events were looked at.
    size_t taken() const { return m_taken; }
    const Event& eventAt(int row) const { return m_run->events()[indexAt(row)]; }
    /// Returns the index, among the run's events, of the event in `row`.
    size_t indexAt(int row) const { return m_rows[m_rows.size() - 1 - static_cast<size_t>(row)]; }
    /// Returns the row of an event of the run, or of the one that tells of it too; -1 when there is
    /// none. Rows are in the order in which events are told, see isToldBefore().
    int rowOf(size_t index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

    /// Returns "Overflow, scale halved", in the user's language; for an overflow that no scale
    /// would have prevented, "Not finite at any scale"; for an edit, what changed.
    static QString whatText(const Event&);
    /// Returns the engine's sentence; it calls a lane by its letter, as the whole window does.
    static QString sentenceOf(const Event&);
    /// Replaces "65536 (2^16)" in a sentence by "2^16".
    static QString powersAlone(QString sentence);
    /// Returns "Step 9: Overflow, scale halved", and for an edit "Step 9: Learning rate 0.01".
    static QString briefSentenceOf(const Event&);
    /// Says why such an event happens and what it means for the training; empty for an edit.
    /// `reason` is what skipReason() returns.
    static QString whyText(const Event&, const QString& reason = {});
    /// Says why the lane of an overflow skips more steps than is normal, or why one without skips
    /// lost the loss, and what may help; empty where it did not.
    QString skipReason(const Event&) const;
    /// The last event of the gravest kind that the run has: a non-finite loss, an underflow, an
    /// overflow, a change of the scale. Underflows and overflows count until another loss scale is
    /// set. Nothing when there was none of them.
    const std::optional<Event>& gravest() const { return m_gravest; }
    /// Whether a lane of the run has a loss scale; true as long as there is no run.
    bool lanesScale() const;

private:
    bool isBefore(uint32_t a, uint32_t b) const;
    void insert(uint32_t index);
    void dropReplaced(const Event& by, std::vector<uint32_t>& coming);

    std::shared_ptr<const Run> m_run;
    std::vector<uint32_t> m_rows; ///< indices of the events that have a row, the last row first
    size_t m_taken = 0;           ///< how many of its events were taken
    std::optional<Event> m_gravest;
};

} // namespace halfscope
