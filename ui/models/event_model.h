// The rare events of a run as a table, newest first: step, lane, what happened, and the sentence
// that explains it. Knows which of a run's events have a row; the events stay in the run.
#pragma once

#include "engine/runs/run.h"

#include <QAbstractTableModel>
#include <memory>
#include <optional>
#include <vector>

namespace halfscope {

/// Whether an event is the backoff that follows from the overflow before it: the overflow tells
/// that the scale fell.
bool isEcho(const GrowingList<Event>::View&, size_t i);

class EventModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { StepColumn, LaneColumn, KindColumn, TextColumn, Columns };
    enum Role { StepRole = Qt::UserRole + 1, LaneRole, KindRole };

    explicit EventModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    /// Null: no events.
    void setRun(std::shared_ptr<const Run>);
    /// Takes the events that came since the last call; whether there were any.
    bool refresh();
    const Event& eventAt(int row) const { return m_run->events()[indexAt(row)]; }
    /// Of a row's event among the run's.
    size_t indexAt(int row) const { return m_rows[m_rows.size() - 1 - static_cast<size_t>(row)]; }
    /// The row of one of the run's events; -1: it has none.
    int rowOf(size_t index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

    /// "Overflow, scale halved", in the user's language; an edit tells what changed.
    static QString whatText(const Event&);
    /// As the engine tells it; a lane is called by its letter, which is what all of the window
    /// says.
    static QString sentenceOf(const Event&);
    /// A sentence with "2^16" for "65536 (2^16)".
    static QString powersAlone(QString sentence);
    /// "Step 9: Overflow, scale halved".
    static QString briefSentenceOf(const Event&);
    /// Why such a thing happens and what it means for the training; empty for an edit.
    static QString whyText(const Event&);
    /// An event of the gravest kind of the run: a lost loss, an overflow, a change of the scale;
    /// nothing when there was none of them.
    const std::optional<Event>& gravest() const { return m_gravest; }

private:
    std::shared_ptr<const Run> m_run;
    std::vector<uint32_t> m_rows; ///< indices of its events, oldest first
    size_t m_taken = 0;           ///< of its events
    std::optional<Event> m_gravest;
};

} // namespace halfscope
