// The runs of a session as a table: whether a run's curves are drawn behind those of the run that
// is shown, its number and name, what sets its settings apart, and how its loss or its validation
// ended.
#pragma once

#include "engine/runs/run_score.h"
#include "engine/runs/run_store.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <span>
#include <vector>

namespace halfscope {

class RunListModel : public QAbstractTableModel {
    Q_OBJECT
public:
    /// LossColumn has the last validations instead while showValidations() is on.
    enum Column { NameColumn, LossColumn, DiffersColumn, Columns };
    enum Role {
        ColorRole = Qt::UserRole + 1, ///< see Colors::run()
        CurrentRole,                  ///< whether it is the run that is shown
        LanesRole,                    ///< see lanesApart()
        LookRole, ///< a number that changes with the texts; no two rows have the same, 0: not told
    };

    explicit RunListModel(RunStore&, QObject* parent = nullptr);

    /// Takes changes of the store and of its runs.
    void refresh();
    /// Whether rows tell their last validations instead of their losses: a list in the order of
    /// other numbers than it shows could not be read.
    void showValidations(bool on);
    RunId idAt(int row) const;
    int rowOf(RunId) const;
    /// Returns a run's name and how well it did, as of the last refresh().
    const std::string& nameAt(int row) const { return m_rows[static_cast<size_t>(row)].entry.name; }
    const RunScore& scoreAt(int row) const { return m_rows[static_cast<size_t>(row)].score; }
    /// Returns "2": what a run is called when its name is too long.
    static QString tagOf(RunId);
    /// Returns everything that the list says of a run, in lines.
    QString detailsOf(int row) const;
    /// Returns what tells a run from the others, "Learning rate 0.01, Seed 2", as of the last
    /// refresh(); empty for a row that was not there then.
    QString differencesOf(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex&, const QVariant&, int role = Qt::EditRole) override;
    QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex&) const override;

signals:
    /// Emitted when the set of runs whose curves are drawn has changed.
    void visibilityChanged();
    /// Emitted when the user has given a run another name.
    void renamed();
    /// Emitted when what tells runs from each other has changed.
    void differencesChanged();

private:
    /// The store's entry as it was at the last look: rows change only in refresh().
    struct Row {
        RunStore::Entry entry;
        uint64_t version = 0;
        std::shared_ptr<const RunInfo> info; ///< with the settings that were compared
        size_t editsMade = 0;                ///< then, see editsMade()
        QStringList differences, losses, validations;
        QString lanes; ///< what tells them apart
        RunScore score;
        bool current = false; ///< the run that is shown
        bool told = false;    ///< no text has changed since it was last told
        quint64 look = 0;     ///< see LookRole
    };
    void takeStore();
    void removeGone();
    void insertEntries(int row, std::span<const RunStore::Entry>);
    void takeDifferences();
    static QStringList lossesOf(const RunSnapshot&);
    static QStringList validationsOf(const RunSnapshot&);
    QString resultOf(const Row&) const;
    QString spokenOf(const Row&) const;

    RunStore& m_store;
    std::vector<Row> m_rows;
    uint64_t m_changes = 0;
    bool m_taken = false;
    quint64 m_looks = 0;        ///< the last LookRole
    bool m_validations = false; ///< see showValidations()
    bool m_compared = false;    ///< whether all rows tell their differences from each other
};

} // namespace halfscope
