// The rare events of a run as a table, newest first: step, lane, what happened, and the sentence
// that explains it. Shown by the event list; a bounded number is kept.
#pragma once

#include "engine/runs/step_record.h"

#include <QAbstractTableModel>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

/// Without the backoffs that follow from an overflow: an overflow tells that the scale fell.
std::vector<Event> withoutEchoes(std::vector<Event>);

class EventModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { StepColumn, LaneColumn, KindColumn, TextColumn, Columns };
    enum Role { StepRole = Qt::UserRole + 1, LaneRole, KindRole };

    /// A run that overflows at every step must not fill the memory: older events give way.
    static constexpr int kMostEvents = 20000;

    explicit EventModel(QObject* parent = nullptr, int most = kMostEvents)
        : QAbstractTableModel(parent), m_most(most) {}

    void clear();
    void append(std::span<const Event>);
    const Event& eventAt(int row) const {
        return m_events[m_events.size() - 1 - static_cast<size_t>(row)];
    }
    /// Events since clear(), kept or not.
    int64_t total() const { return m_total; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

    /// "Overflow, scale halved", in the user's language; an edit tells what changed.
    static QString whatText(const Event&);
    /// As the engine tells it; a lane is called by its letter, which is what all of the window
    /// says.
    static QString sentenceOf(const Event&);
    /// Why such a thing happens and what it means for the training; empty for an edit.
    static QString whyText(const Event&);
    /// An event of the gravest kind since clear(): a lost loss, an overflow, a change of the scale;
    /// nothing when there was none of them.
    const std::optional<Event>& gravest() const { return m_gravest; }

private:
    std::deque<Event> m_events; ///< oldest first
    int m_most;
    int64_t m_total = 0;
    std::optional<Event> m_gravest;
};

} // namespace halfscope
