// Everything that crosses the border between the window's thread and the training thread, as
// values: step rows, events, notices and the newest picture one way, commands the other way. Qt's
// queue is not used: it hands data over under locks that ThreadSanitizer does not know.
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
/// What a run continues from.
struct Beginning {
    std::shared_ptr<const ExperimentState> state{}; ///< a checkpoint's; null: the run begins at the
                                                    ///< start
    std::shared_ptr<Run> run{};                     ///< with the rows up to there; may be null
};
/// Reads a Beginning. Called on the training thread, because a checkpoint and many rows take long
/// to read. Throws InputError or RunError.
using BeginningReader = std::function<Beginning()>;
struct ResetCommand {
    RunConfig config;
    uint32_t run = 0; ///< the number that rows, events and pictures of this run carry
    /// Null when the run begins at the start. Otherwise the state's settings apply.
    BeginningReader from{};
};
struct EditCommand {
    int lane = -1; ///< -1: a field of the run
    std::string key;
    FieldValue value;
};
/// Adds a lane that continues from another one's present state, see Experiment::fork().
struct ForkCommand {
    int parent = 0;
    LaneConfig lane;
};
/// Writes a checkpoint of the run, or a file of one lane, once the run stands between two steps.
struct SaveCommand {
    std::string path, program; ///< `program` is the program's version
    std::optional<LaneFile> file{};
    int lane = 0;
    std::string samples{}; ///< the file whose samples are predicted
};
/// Completes a step that a pause interrupted, then keeps the networks with their run. Answered by a
/// KeptNotice with the same number.
struct KeepCommand {
    uint64_t number = 0;
};
/// Asks for the gradients from now on, see SessionChannel::watchGradients() and watchLayers().
struct LookCommand {};
using Command = std::variant<PlayCommand, PauseCommand, StepCommand, ResetCommand, EditCommand,
                             ForkCommand, SaveCommand, KeepCommand, LookCommand>;

/// What the worker built: fixed for the whole run.
struct SessionInfo {
    uint32_t run = 0;
    std::optional<int64_t> goesOnAfter{}; ///< the step of the checkpoint that the run continues
                                          ///< from
    std::vector<ScalerFigures> scalers{}; ///< by lane, after that step
    bool ended = false;                   ///< whether that is its last step
    std::shared_ptr<Run> begun{};         ///< with the rows up to there; may be null
    RunConfig config, recorded;           ///< see TrainingRun
    std::vector<std::string> laneNames;
    std::vector<MemoryUse> memory; ///< TrainingRun::memory()
    DeviceInfo device;
    Message cudaReason;    ///< why the GPU is not used; empty when it is used or was not asked for
    Message dataChange;    ///< Experiment::dataChange()
    Message weightsNote{}; ///< Experiment::weightsNote()
    Picture target;
};

/// The settings after forks and live edits, those that the run was recorded with among them.
struct SessionChange {
    RunConfig now, recorded;
    std::vector<MemoryUse> memory;
};

using SessionInfoPtr = std::shared_ptr<const SessionInfo>;

struct StateNotice {
    SessionState state;
    int64_t outOfPatience = 0; ///< Experiment::outOfPatience() of a finished run
};
struct BuiltNotice {
    SessionInfoPtr info;
};
/// The run cannot go on; a reset builds a new one.
struct FailedNotice {
    Message reason;
    bool hasNetworks = false; ///< so that they can be saved
    bool ofInput = false;     ///< a setting or a file is wrong: it stays so until it is corrected
};
/// A live edit or a fork was refused, or a beginning could not be read; the run continues.
struct RefusedNotice {
    Message reason;
};
/// A file of the run could not be written, or its networks are too large to be kept with it.
struct NotSavedNotice {
    Message reason;
};
/// A checkpoint of the run after `step` steps, or a file of one lane, has been written.
struct SavedNotice {
    std::string path;
    int64_t step = 0;
    bool ofLane = false;
    Message note{}; ///< see LaneFileBytes
};
/// The networks are kept with their run, if they are not too large for that.
struct KeptNotice {
    uint64_t number = 0; ///< of the last command that asked for it
};
/// The device of a lane cannot show gradients, or can again.
struct NoGradientsNotice {
    Message reason; ///< empty when they are counted
};
/// What the training thread reports; notices are rare.
using Notice = std::variant<StateNotice, BuiltNotice, FailedNotice, RefusedNotice, NotSavedNotice,
                            SavedNotice, KeptNotice, NoGradientsNotice>;

/// Visits a Command or a Notice: one function for each kind.
template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>; // C++20 deduces this by itself; clang 14 does not

/// What the window takes in one frame; everything belongs to the same run.
struct SessionBatch {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    std::optional<SessionChange> change;               ///< the newest; empty when nothing changed
    std::optional<Snapshot> snapshot;                  ///< the newest; empty when there is no new
                                                       ///< one
    std::vector<std::vector<GradientRange>> gradients; ///< in the order of counting; each vector
                                                       ///< has one entry a lane
    std::shared_ptr<const RunCheckpoint> checkpoint;   ///< the newest; null when there is no new
                                                       ///< one
    bool empty() const {
        return records.empty() && events.empty() && !change && !snapshot && gradients.empty() &&
               !checkpoint;
    }
};

class SessionChannel {
public:
    /// Takes 1.4 MiB: half a second of frames at 30,000 rows a second.
    static constexpr size_t kRows = 16384;
    /// Takes 2 MiB for two lanes: more counts than can be made in a frame's time. Only the newest
    /// has those of each layer.
    static constexpr size_t kMostCounts = 1024;

    explicit SessionChannel(size_t rows = kRows) : m_rows(rows) {}

    // The window's thread.
    void post(Command);
    /// Tells the training thread to end. Needs no memory.
    void quit();
    /// Asks the running step, if there is one, to stop.
    void interrupt();
    /// Sets whether somebody looks at gradients: counting them costs the training a share of its
    /// time.
    void watchGradients(bool);
    /// Sets whether somebody looks at those of each layer, with their errors.
    void watchLayers(bool);
    /// Sets whether a count now and then is shown, of a hundredth of the training's time.
    void glanceAtGradients(bool on) { m_glanceAtGradients = on; }
    /// Limits the steps a second, in this run and in later ones; 0 means as fast as possible.
    void setPace(double stepsPerSecond) { m_pace = stepsPerSecond; }
    /// Returns everything of run `run` that has arrived; leftovers of older runs are dropped.
    SessionBatch take(uint32_t run);
    bool restsMidway() const { return m_restsMidway; }
    /// Sets the function that is called on the training thread, once for each notice. Null: no
    /// further notice is sent. The function must not call the channel back.
    void listen(std::function<void()> told);
    /// A notice and the run that it is about.
    struct Told {
        Notice notice;
        uint32_t run = 0;
    };
    std::optional<Told> takeNotice();
    /// Whether a requested file is being written.
    bool saves() const { return m_saves; }

    // The training thread.
    bool quits() const { return m_quits; }
    /// Waits until there is a command or `patience` is over. When there is no command it clears
    /// stop requests, under the same lock that posts commands, so that no request can be lost in
    /// between.
    std::vector<Command> waitForCommands(std::chrono::milliseconds patience);
    /// Returns the token of the run that is built next. A stop is requested as soon as a command
    /// makes that run void.
    std::stop_token newRun();
    /// Sets the run that interrupt() reaches; must be null before the run is destroyed.
    void setTarget(TrainingRun*);
    /// Moves as many rows and events out of the vectors as there is room for; returns true when
    /// nothing is left.
    bool publish(uint32_t run, std::vector<StepRecord>& records, std::vector<Event>& events);
    /// Must come before the first row or event of the lane that it announces.
    void publish(uint32_t run, SessionChange);
    void publish(uint32_t run, Snapshot);
    void publish(uint32_t run, std::vector<GradientRange>);
    void publish(uint32_t run, std::shared_ptr<const RunCheckpoint>);
    /// Throws bad_alloc; the notice is not sent then.
    void tell(uint32_t run, Notice);
    void setSaves(bool saves) { m_saves = saves; }
    /// Whether the window has taken the last picture.
    bool pictureWanted() const;
    bool gradientsWatched() const { return m_watchGradients || m_watchLayers; }
    bool layersWatched() const { return m_watchLayers; }
    bool gradientsGlancedAt() const { return m_glanceAtGradients; }
    /// Whether fewer than kMostCounts of them wait for the window.
    bool hasRoomForGradients() const;
    double pace() const { return m_pace; }
    /// Whether a command waits; work that can be delayed should then be delayed.
    bool commandWaits() const;
    /// Tells whether the run stands in the middle of a step, where its gradients cannot be counted.
    void setRestsMidway(bool on) { m_restsMidway = on; }

private:
    struct Row {
        StepRecord record;
        uint32_t run = 0;
    };

    StepRing<Row> m_rows;
    std::vector<Row> m_outgoing; ///< training thread only: rows on their way into the ring
    std::vector<Row> m_incoming; ///< window's thread only

    mutable std::mutex m_mutex; ///< guards everything below; held only briefly
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
    std::atomic<bool> m_watchGradients{false}, m_watchLayers{false}, m_glanceAtGradients{false};
    std::atomic<double> m_pace{0};
    std::atomic<bool> m_restsMidway{false};
    std::atomic<bool> m_saves{false};
    std::atomic<bool> m_quits{false}; ///< changed under the mutex
};

} // namespace halfscope
