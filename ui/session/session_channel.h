// Everything that crosses the border between the window's thread and the training thread, as
// values: step rows, events, notices and the newest picture one way, commands the other. No Qt:
// what its queue carries is handed over under locks that ThreadSanitizer does not know.
#pragma once

#include "engine/runs/run.h"
#include "ui/session/step_ring.h"
#include "ui/session/training_run.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <variant>

namespace halfscope {

enum class SessionState : uint8_t { Building, Ready, Running, Paused, Finished, Failed };

struct PlayCommand {};
struct PauseCommand {};
struct StepCommand {};
/// What a run goes on from.
struct Beginning {
    std::shared_ptr<const ExperimentState> state{}; ///< of a checkpoint; null: from the start
    std::shared_ptr<Run> run{};                     ///< with the rows up to there; or null
};
/// Called on the training thread, as a checkpoint and many rows take long to read. InputError,
/// RunError.
using BeginningReader = std::function<Beginning()>;
struct ResetCommand {
    RunConfig config;
    uint32_t run = 0; ///< rows, events and pictures of this run carry the number
    /// Null: the run begins at the start. Else the settings are the state's.
    BeginningReader from{};
};
struct EditCommand {
    int lane = -1; ///< -1: a field of the run
    std::string key;
    FieldValue value;
};
/// A lane that goes on from another one's present state, see Experiment::fork().
struct ForkCommand {
    int parent = 0;
    LaneConfig lane;
};
/// A checkpoint of the run, or a file of one lane, once it stands between two steps.
struct SaveCommand {
    std::string path, program; ///< the program's version
    std::optional<LaneFile> file{};
    int lane = 0;
};
/// The gradients are wanted from now on, see SessionChannel::watchGradients().
struct LookCommand {};
using Command = std::variant<PlayCommand, PauseCommand, StepCommand, ResetCommand, EditCommand,
                             ForkCommand, SaveCommand, LookCommand>;

/// What the worker built: fixed for the whole run.
struct SessionInfo {
    uint32_t run = 0;
    std::optional<int64_t> goesOnAfter{}; ///< the step of a checkpoint
    std::shared_ptr<Run> begun{};         ///< with the rows up to there; or null
    RunConfig config, recorded;           ///< TrainingRun
    std::vector<std::string> laneNames;
    std::vector<MemoryUse> memory; ///< TrainingRun::memory()
    DeviceInfo device;
    Message cudaReason; ///< why the GPU is not used; empty when it is or was not asked for
    Picture target;
};

/// What forks and live edits made of a run, also those that it was recorded with.
struct SessionChange {
    RunConfig now, recorded;
    std::vector<MemoryUse> memory;
};

using SessionInfoPtr = std::shared_ptr<const SessionInfo>;

struct StateNotice {
    SessionState state;
};
struct BuiltNotice {
    SessionInfoPtr info;
};
/// The run is gone; a reset builds a new one.
struct FailedNotice {
    Message reason;
};
/// A live edit or a fork was not taken, or a beginning not read; the run goes on.
struct RefusedNotice {
    Message reason;
};
/// A file of the run was not written.
struct NotSavedNotice {
    Message reason;
};
/// A checkpoint of the run after so many steps is there, or a file of one lane.
struct SavedNotice {
    std::string path;
    int64_t step = 0;
    bool ofLane = false;
};
/// What the training thread tells, which is rare.
using Notice = std::variant<StateNotice, BuiltNotice, FailedNotice, RefusedNotice, NotSavedNotice,
                            SavedNotice>;

/// Visits a Command or a Notice: one function for each kind.
template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>; // C++20 has it by itself, clang 14 has not

/// What the window takes in one frame; all of the same run.
struct SessionBatch {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    std::optional<SessionChange> change;               ///< the newest, when there is a new one
    std::optional<Snapshot> snapshot;                  ///< the newest, when there is a new one
    std::vector<std::vector<GradientRange>> gradients; ///< in order of counting; each by lane
    std::shared_ptr<const RunCheckpoint> checkpoint;   ///< the newest, when there is a new one
    bool empty() const {
        return records.empty() && events.empty() && !change && !snapshot && gradients.empty() &&
               !checkpoint;
    }
};

class SessionChannel {
public:
    /// 1.4 MiB: half a second of frames at 30,000 rows a second.
    static constexpr size_t kRows = 16384;
    /// 2 MiB for two lanes: more counts than a frame's time has room for.
    static constexpr size_t kMostCounts = 1024;

    explicit SessionChannel(size_t rows = kRows) : m_rows(rows) {}

    // The window's thread.
    void post(Command);
    /// The thread is to end. Takes no memory.
    void quit();
    /// Asks the step that is running now to give up, if there is one.
    void interrupt();
    /// Whether somebody looks at gradients: they cost the training a share of its time.
    void watchGradients(bool);
    /// Steps a second at most, of this run and those to come; 0: as fast as possible.
    void setPace(double stepsPerSecond) { m_pace = stepsPerSecond; }
    /// Everything of run `run` that has arrived; older runs' leftovers are dropped.
    SessionBatch take(uint32_t run);
    bool restsMidway() const { return m_restsMidway; }
    /// Called on the training thread, once for each notice; null: none is told any more. It must
    /// not call back.
    void listen(std::function<void()> told);
    /// The first that was not taken yet, of whichever run; nothing where there is none.
    struct Told {
        Notice notice;
        uint32_t run = 0;
    };
    std::optional<Told> takeNotice();
    /// Whether a file that was asked for is being written.
    bool saves() const { return m_saves; }

    // The training thread.
    bool quits() const { return m_quits; }
    /// Waits until there is a command or the time is over. Forgets stop requests when there is
    /// none, under the same lock that posts commands, so that no request can be lost in between.
    std::vector<Command> waitForCommands(std::chrono::milliseconds patience);
    /// Of the run that is built next. Asks to stop as soon as a command makes that run void.
    std::stop_token newRun();
    /// The run that interrupt() reaches; null before it is destroyed.
    void setTarget(TrainingRun*);
    /// Takes the rows and events it has room for out of the vectors; true when nothing is left.
    bool publish(uint32_t run, std::vector<StepRecord>& records, std::vector<Event>& events);
    /// Comes before the first row or event of the lane that it announces.
    void publish(uint32_t run, SessionChange);
    void publish(uint32_t run, Snapshot);
    void publish(uint32_t run, std::vector<GradientRange>);
    void publish(uint32_t run, std::shared_ptr<const RunCheckpoint>);
    /// bad_alloc, and then it is not told.
    void tell(uint32_t run, Notice);
    void setSaves(bool saves) { m_saves = saves; }
    /// The window has taken the last picture.
    bool pictureWanted() const;
    bool gradientsWatched() const { return m_watchGradients; }
    /// They are watched, and the window has not left kMostCounts of them.
    bool gradientsWanted() const;
    double pace() const { return m_pace; }
    /// Something is to be obeyed; what can wait should.
    bool commandWaits() const;
    /// Whether the run stands in the middle of a step, where its gradients cannot be counted.
    void setRestsMidway(bool on) { m_restsMidway = on; }

private:
    struct Row {
        StepRecord record;
        uint32_t run = 0;
    };

    StepRing<Row> m_rows;
    std::vector<Row> m_outgoing; ///< training thread only: rows on their way into the ring
    std::vector<Row> m_incoming; ///< window's thread only

    mutable std::mutex m_mutex; ///< guards everything below; held for moments only
    std::condition_variable m_wake;
    std::vector<Command> m_commands;
    std::stop_source m_stopRun;
    TrainingRun* m_target = nullptr;
    std::vector<Event> m_events;
    uint32_t m_eventsRun = 0;
    std::optional<SessionChange> m_change;
    uint32_t m_changeRun = 0;
    std::optional<Snapshot> m_snapshot;
    uint32_t m_snapshotRun = 0;
    std::vector<std::vector<GradientRange>> m_gradients;
    uint32_t m_gradientsRun = 0;
    std::shared_ptr<const RunCheckpoint> m_checkpoint;
    uint32_t m_checkpointRun = 0;
    std::deque<Told> m_notices;
    std::function<void()> m_told;
    // these outlive a reset, which drops commands
    std::atomic<bool> m_watchGradients{false};
    std::atomic<double> m_pace{0};
    std::atomic<bool> m_restsMidway{false};
    std::atomic<bool> m_saves{false};
    std::atomic<bool> m_quits{false}; ///< changed under the mutex
};

} // namespace halfscope
