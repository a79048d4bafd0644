// The experiment that the user edits: one row for each field of the run and of each lane, with what
// is allowed, what differs from the preset and what waits for a restart. Starts nothing by itself.
#pragma once

#include "engine/settings/fields.h"

#include <QAbstractListModel>
#include <QString>
#include <optional>
#include <vector>

namespace halfscope {

class ConfigModel : public QAbstractListModel {
    Q_OBJECT
public:
    /// Data of a row besides Qt::DisplayRole (label), EditRole (value as text), ToolTipRole.
    enum Role {
        KeyRole = Qt::UserRole + 1,
        LaneRole,
        GroupRole,
        UnitRole,
        LiveRole,
        AppliesRole,
        ChangedRole,
        WaitingRole,
        ErrorRole,
        UnknownRole ///< words for a value that is not known yet; empty where it is
    };
    static constexpr int kMostLanes = static_cast<int>(kMaxLanes);

    struct Row {
        const Field* field = nullptr;
        int lane = -1; ///< -1: a field of the run
    };

    explicit ConfigModel(QObject* parent = nullptr);

    const RunConfig& config() const { return m_config; }
    /// What "changed" is measured against.
    const RunConfig& preset() const { return m_preset; }
    const Row& row(int i) const { return m_rows[static_cast<size_t>(i)]; }
    int rowOf(std::string_view key, int lane = -1) const;
    QString text(int row) const;
    QString presetText(int row) const;

    /// Another experiment; it is its own preset.
    void load(const RunConfig&);
    /// The experiment as it is now is being built; lanes that come or go from here on belong to the
    /// next run.
    void startBuilding();
    /// Words in place of the steps that epochs come to, as long as nobody knows them: their data
    /// are still being read, or cannot be. Empty where they are known.
    QString stepsUnknown() const;
    /// What a run was built from. Live fields edited meanwhile are sent after it.
    void setRunning(const RunConfig&);
    void clearRunning();
    /// What forks and edits that were recorded made of the run: what was shown of it is edited
    /// along, and a lane that no edited one is forked as gets settings of its own.
    void follow(RunConfig now);
    /// The number of a lane in the run that goes on; nothing for one that the next run will have.
    std::optional<int> runsAs(int lane) const;
    /// Whether a lane does not run and could, from the state that another one has now.
    bool canFork(int lane) const;
    /// The next lane that is forked will be this one.
    void expectFork(int lane) { m_forking = lane; }
    /// With the live edits that reached it; nothing while there is no run.
    const std::optional<RunConfig>& running() const { return m_running; }
    /// The lane that the run's lane is edited as; nothing where it was removed since.
    std::optional<int> editedLane(int runLane) const;
    /// What files of data say is known now, or another: rows that follow from it are shown anew.
    void dataArrived() { announce(); }
    /// Whether the settings are still these; the pace, which no run knows of, may differ.
    bool isStill(const RunConfig&) const;
    /// Where a finished run stops next if it goes on after `trained` steps: as many steps further
    /// as the experiment has when it is opened.
    int64_t nextStop(int64_t trained) const;
    /// Some edits act only when the run starts again.
    bool restartNeeded() const;

    bool addLane();
    bool removeLane(int lane);
    void resetToPreset(int row);

    /// All that edits change, to come back to (EditHistory).
    struct Edits {
        RunConfig config, preset;
        std::vector<int> runsAs;
        int builds = 0; ///< the run that `runsAs` refers to
    };
    Edits edits() const { return {m_config, m_preset, m_runsAs, m_builds}; }
    /// Like the edits that lead there: live fields reach the run, the others wait.
    void restore(const Edits&);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    /// EditRole: a text. A wrong one is kept as the row's error and changes nothing.
    bool setData(const QModelIndex&, const QVariant&, int role = Qt::EditRole) override;
    Qt::ItemFlags flags(const QModelIndex&) const override;

signals:
    /// A live field of the run that is there now; `lane` is the run's.
    void liveEdited(int lane, const std::string& key, const halfscope::FieldValue& value);
    void edited();
    /// Another experiment is here: what was edited before is void.
    void loaded();

private:
    void rebuildRows();
    bool apply(int row, const FieldValue&);
    void announce();
    RunConfig presetFor(int lane) const;
    bool differs(const Row&, const RunConfig& other) const;
    /// The running lane that an edited lane came from; -1 for a row of the run; nothing for a lane
    /// that does not run.
    std::optional<int> runningLane(const Row&) const;
    bool differsFromRunning(const Row&) const;
    void sendLive(const Row&);

    RunConfig m_config, m_preset;
    std::optional<RunConfig> m_running;
    std::vector<int> m_runsAs;    ///< by lane: its number in the run; kNotRunning
    std::optional<int> m_forking; ///< lane that a fork was asked for
    int m_builds = 0;             ///< counts startBuilding()
    std::vector<Row> m_rows;
    std::vector<QString> m_errors; ///< by row; empty: fine
};

} // namespace halfscope
