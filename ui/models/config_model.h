// The experiment that the user edits: one row for each field of the run and of each lane, with what
// is allowed, what differs from the preset and what waits for a restart. Starts nothing by itself.
#pragma once

#include "engine/settings/fields.h"
#include "engine/settings/sweep.h"
#include "engine/train/setting_grid.h"

#include <QAbstractListModel>
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

namespace halfscope {

class Run;

class ConfigModel : public QAbstractListModel {
    Q_OBJECT
public:
    /// The data of a row besides Qt::DisplayRole (label), EditRole (value as text) and ToolTipRole.
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
        UnknownRole ///< words for a value that is not known yet; empty when it is known
    };
    static constexpr int kMostLanes = static_cast<int>(kMaxLanes);

    struct Row {
        const Field* field = nullptr;
        int lane = -1; ///< -1: a field of the run
    };

    explicit ConfigModel(QObject* parent = nullptr);

    const RunConfig& config() const { return m_config; }
    /// The settings that ChangedRole compares with.
    const RunConfig& preset() const { return m_preset; }
    const Row& row(int i) const { return m_rows[static_cast<size_t>(i)]; }
    int rowOf(std::string_view key, int lane = -1) const;
    QString text(int row) const;
    QString presetText(int row) const;

    /// Loads another experiment, which becomes its own preset.
    void load(const RunConfig&);
    /// Takes over what is being typed, forgets what was refused in settings that are hidden, and
    /// returns the settings with which a run is to begin: where no row is refused, its form shows
    /// them, and no others.
    const RunConfig& settle();
    /// Tells that the present experiment is being built: lanes that are added or removed from now
    /// on belong to the next run. What hold() kept back is in its settings.
    void startBuilding();
    /// Returns the number of steps of a run with the settings, as far as it is known.
    int64_t steps() const { return lengthOf(m_config); }
    /// Returns the words shown instead of the number of steps that the epochs make, while that is
    /// not known: the data are still being read, or cannot be read. Empty when it is known.
    QString stepsUnknown() const;
    /// Learns from the rows of a run how many steps its epochs have: its data may be gone.
    void countAs(const Run&);
    /// Sets what a run was built from. Live fields that were edited meanwhile are sent to it.
    void setRunning(const RunConfig&);
    void clearRunning();
    /// Sets whether live edits wait here, because the run is at its end: they are its own only once
    /// it trains with them. Afterwards those that still differ from its settings are sent to it.
    void hold(bool);
    bool holds() const { return m_holds; }
    /// Whether such an edit lets a run go on that has ended after `trained` steps, or, where
    /// `waited` is not 0, after so many validations that were no better.
    bool goesOn(int64_t trained, int64_t waited) const;
    /// Takes the recorded forks and edits of the run over into the edited settings, except where
    /// the user has edited them since. A forked lane that no edited lane stands for gets settings
    /// of its own.
    void follow(RunConfig now);
    /// Returns a lane's number in the current run; nothing for a lane that only the next run will
    /// have.
    std::optional<int> runsAs(int lane) const;
    /// Whether a lane does not run and could be forked from another lane's present state.
    bool canFork(int lane) const;
    /// Tells which lane the next fork will be.
    void expectFork(int lane) { m_forking = lane; }
    /// The settings of the current run with the live edits that reached it; nothing while there is
    /// no run.
    const std::optional<RunConfig>& running() const { return m_running; }
    /// Returns the edited lane that stands for a lane of the run; nothing when it was removed
    /// since.
    std::optional<int> editedLane(int runLane) const;
    /// Tells that facts about data files have become known or have changed: rows that depend on
    /// them are shown anew.
    void dataArrived() { announce(); }
    /// Whether the settings are still `config`; the pace, which no run knows of, may differ.
    bool isStill(const RunConfig&) const;
    /// Returns where a finished run stops next when it continues after `trained` steps: at its last
    /// step where that was edited since, or where it ended before that; else as many steps further
    /// as the experiment had when it was opened.
    int64_t nextStop(int64_t trained, bool endedEarly = false) const;
    /// What waits for the run to start again.
    enum class Waiting {
        Nothing,
        NewLanes, ///< only lanes that were added: they may also continue from a lane of the run
        Edits,    ///< edits that have no other way to take effect
    };
    Waiting waiting() const;
    /// Returns the names of the settings that wait for a restart, each once; none where a lane that
    /// was removed waits with them.
    QStringList waitingNames() const;
    bool restartNeeded() const { return waiting() != Waiting::Nothing; }
    /// Returns the names of the live settings that were changed since the run's end, each once:
    /// they wait until it goes on, see hold(). Its length is not among them.
    QStringList heldNames() const;
    /// Returns the first row that applies and whose box has a value that is not allowed; -1 when
    /// there is none. No run begins while there is one.
    int refusedRow() const;
    /// Returns the name of the setting in that row; empty when there is none.
    QString refusedName() const;
    /// Tells whether the run has not begun: Play then takes up what waits.
    void setUntrained(bool);
    bool untrained() const { return m_untrained; }

    /// Says why nothing can be trained with the settings, whatever their values are: they are of a
    /// run that was recorded in PyTorch. Empty for others.
    QString cannotTrain() const;
    /// Says why no lane can be added; empty when one can.
    QString laneObstacle() const;
    /// Says why no networks can be built with the settings as they are; empty when they can, if
    /// their data can be read.
    QString settingsObstacle() const;
    /// Says why no training can start with the settings as they are; empty when one can.
    QString trainingObstacle() const;
    bool addLane();
    /// Makes lanes of a setting's values, see applySweeps(), which says what is refused by
    /// InputError. A lane whose settings stay goes on as the one of the run that it was.
    void sweep(const Sweep&);
    /// Makes lanes of the cells of a map, see applyCells(). Throws InputError as it does,
    /// and for a cell whose settings no lane may have.
    void takeCells(const SettingGrid&, std::span<const size_t> cells);
    /// What makes lanes: the user adds or removes one, tries several values, or takes cells.
    enum class LaneEdit { One, Values, Cells };
    /// That which edited() tells of, while it tells.
    LaneEdit laneEdit() const { return m_laneEdit; }
    bool removeLane(int lane);
    void resetToPreset(int row);

    static constexpr int kNoBuild = 0; ///< runs are counted from 1
    /// Everything that edits change, so that it can be restored (see EditHistory).
    struct Edits {
        RunConfig config, preset;
        std::vector<int> runsAs;
        int builds = kNoBuild; ///< the run that `runsAs` refers to
    };
    Edits edits() const { return {m_config, m_preset, m_runsAs, m_builds}; }
    /// Acts like the edits that lead there: live fields reach the run, the others wait.
    void restore(const Edits&);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    /// Takes a text for EditRole. A wrong one becomes the row's error and changes nothing.
    bool setData(const QModelIndex&, const QVariant&, int role = Qt::EditRole) override;
    Qt::ItemFlags flags(const QModelIndex&) const override;

signals:
    /// A live field of the current run was edited; `lane` is the run's number of the lane.
    void liveEdited(int lane, const std::string& key, const halfscope::FieldValue& value);
    void edited();
    /// What is being typed is to be set now.
    void settling();
    /// The present experiment is being built: what was set in the run before it is void.
    void building();
    /// Another experiment was loaded: earlier edits are void.
    void loaded();

private:
    size_t lanesThatRun() const;
    bool runsRemovedLane() const { return lanesThatRun() < m_running->lanes.size(); }
    void rebuildRows();
    bool apply(int row, const FieldValue&);
    void announce();
    RunConfig presetFor(int lane) const;
    bool resetsEpochs(const Row&) const;
    /// Takes over an experiment with other lanes; `from` tells which ones they were made from.
    void takeLanes(RunConfig now, const std::vector<size_t>& from, LaneEdit);
    /// Whether the row means something with the edited settings; otherwise it is not shown.
    bool applies(const Row&) const;
    bool differs(const Row&, const RunConfig& other) const;
    /// Returns the running lane that an edited lane stands for; -1 for a row of the run; nothing
    /// for a lane that does not run.
    std::optional<int> runningLane(const Row&) const;
    bool differsFromRunning(const Row&) const;
    bool isIdleInRun(const Row&) const;
    std::optional<int64_t> builtEpoch(const RunConfig&) const;
    /// Returns the steps of a run with these settings. While the data cannot be read, an epoch has
    /// as many as it had for the last networks or run.
    int64_t lengthOf(const RunConfig&) const;
    /// Whether a length that differs from the run's is held.
    bool holdsLength() const;
    bool waitsForRestart(const Row&) const;
    bool isHeld(const Row&) const;
    /// Which edits are sent: all, or those alone that the run takes with the settings that it has.
    enum class Sent { All, Allowed };
    /// Returns whether there was something to send, and it was sent.
    bool sendLive(const Row&, Sent);
    /// Sends the live fields of a lane, or of the run and all lanes, as far as they differ.
    void sendAll(std::optional<int> lane = {});

    RunConfig m_config, m_preset;
    std::optional<RunConfig> m_running;
    std::optional<RunConfig> m_counted; ///< of the last networks or run: its steps are those of
                                        ///< its epochs
    bool m_untrained = false;
    bool m_holds = false;
    LaneEdit m_laneEdit = LaneEdit::One;
    std::vector<int> m_runsAs;    ///< by lane: its number in the run, or kNotRunning
    std::optional<int> m_forking; ///< the lane that the next fork will be
    int m_builds = 0;             ///< counts startBuilding()
    std::vector<Row> m_rows;
    std::vector<QString> m_errors; ///< by row; empty when the value is fine
};

} // namespace halfscope
