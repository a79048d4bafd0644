// An experiment: one to six lanes that start from the same weights, see the same batches and
// advance in lock-step. It knows nothing of windows or files. One thread calls it; requestStop()
// may come from any thread.
#pragma once

#include "engine/core/message.h"
#include "engine/data/task_view.h"
#include "engine/runs/lane_pictures.h"
#include "engine/settings/fields.h"
#include "engine/train/damage_report.h"
#include "engine/train/data_record.h"
#include "engine/train/experiment_state.h"
#include "engine/train/lane_judge.h"
#include "engine/train/patience.h"
#include "engine/train/trainer.h"

#include <atomic>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace halfscope {

using Snapshot = LanePictures;

class Task;

class Experiment {
public:
    /// Builds and compiles all lanes. With the device "auto" they are built on the CPU when CUDA
    /// fails. Several experiments may have the same data, one after the other: those that
    /// makeTask() makes of the same settings of the run; without them they are read. Throws
    /// InputError or EngineError, and RunError when `stop` asks for it.
    explicit Experiment(RunConfig, const std::stop_token& stop = {},
                        std::shared_ptr<Task> data = nullptr);
    ~Experiment();

    /// Goes on after the given state. Must be called before the first step, on an experiment that
    /// was made from the state's recorded settings. Every later row and event is what it would have
    /// been without the break, on the same device. Throws InputError when the state does not belong
    /// to these settings.
    void resume(const ExperimentState&);

    /// Returns the whole state as it is now. Throws RunError in the middle of a step.
    ExperimentState state(LastOutputs = LastOutputs::AtTheEnd);
    /// Returns the bytes that the state of all lanes takes.
    size_t stateBytes() const {
        size_t bytes = 0;
        for (const auto& lane : m_lanes)
            bytes += lane->stateBytes();
        return bytes;
    }

    /// The configuration as it is now: forked lanes are among the lanes, edits are applied to the
    /// settings, and it holds what setFromData() sets.
    const RunConfig& config() const { return m_config; }
    /// Returns the configuration as it was at the start, with the forks and edits since then and
    /// those that are still to come. Run again, it gives the same bits on the same device.
    RunConfig recorded() const;
    /// The number of forks and edits so far; it changes when config() and recorded() do.
    size_t changes() const { return m_start.forks.size() + m_start.edits.size() + m_beginEdits; }
    int lanes() const { return static_cast<int>(m_lanes.size()); }
    Trainer& lane(int i) { return *m_lanes[static_cast<size_t>(i)]; }
    const std::string& laneName(int i) const { return m_names[static_cast<size_t>(i)]; }
    const DeviceInfo& device() const { return m_lanes.front()->device(); }
    /// The reason why CUDA is not used although the configuration left it open; empty otherwise.
    const Message& cudaReason() const { return m_cudaReason; }
    /// What FirstWeights notes of the file of model.weights that the lanes have begun with.
    const Message& weightsNote() const { return m_weightsNote; }
    /// How many batches the batch norms in that file have seen, see FirstWeights.
    const BatchCounts& batchesBefore() const { return m_batchesBefore; }

    /// How the samples become steps. An epoch is one pass over the train split.
    const EpochPlan& epochs() const { return m_epochs; }
    int64_t stepsPerEpoch() const { return m_epochs.stepsPerEpoch(); }
    /// Returns dataPrint() of the data as they were when the training began, also of a run that
    /// goes on from a checkpoint; empty when it is not known.
    const std::string& dataPrint() const { return m_data.print; }
    /// Returns it with the settings of the data, for which it may look at their files, and the
    /// names of the classes.
    DataRecord dataRecord() const { return withSettings(m_data, m_config); }
    /// Returns changeSince() for a run that goes on from a checkpoint; empty when its data are the
    /// same. The first step after that has an event with it.
    const Message& dataChange() const { return m_dataChange; }
    /// True when lanes are judged on samples that they do not train on.
    bool validates() const { return m_lanes.front()->validates(); }
    /// True when they are judged on samples of their own at the end, too.
    bool tests() const;
    /// Returns what a lane predicted in the last validation; that of the test does not count.
    JudgedSamples judged(int lane) const { return m_judge.judged(static_cast<size_t>(lane)); }
    /// True when targets are classes.
    bool hasClasses() const;
    /// True then, and when they are two classes as one number, see Dataset::targetsAreSides().
    bool measuresAccuracy() const;
    /// Returns how many numbers a network computes for each sample, or for each of its positions.
    int64_t outputs() const;
    /// True when targets are standardised; errors in the units of the data are measured then.
    bool scalesTargets() const;
    /// The number of steps that every lane has finished.
    int64_t step() const { return m_step; }
    /// Whether it has come to its last step, or run.patience ends it.
    bool finished() const { return m_step >= m_config.steps || outOfPatience() > 0; }
    /// Returns how many validations in a row have been no new best in any lane where run.patience
    /// ends the run for that, and 0 otherwise. A larger run.patience lets the run go on; a smaller
    /// one ends it with a later validation.
    int64_t outOfPatience() const {
        return m_endedByPatience && isOver(m_patience) ? m_patience.waited() : 0;
    }
    /// Returns why no further step is allowed (a lane's scale reached its floor, scaler.at_floor
    /// stop); empty otherwise. The sentence calls the lanes by `names`, by default laneName().
    Message stopReason(std::span<const std::string> names = {}) const;
    /// Advances every lane by one step, and appends rows (one for each lane, in order) and events.
    /// Lanes of one GPU are queued there together; lanes of several GPUs work at the same time.
    /// Returns false when requestStop() came in between: the unfinished lanes go on with the next
    /// call. Throws RunError with stopReason(), if there is one.
    bool advance(std::vector<StepRecord>& records, std::vector<Event>& events);
    /// Counts a wait before the next step, for which run.pace asks, as time of the training: rows
    /// and checkpoints have it. Called between two steps.
    void addWait(double seconds) { m_wallSeconds += seconds; }
    void requestStop();
    /// Forgets earlier stop requests, before a new stretch of steps.
    void clearStop() { m_stop = false; }

    /// Sets a live field of the run (lane < 0) or of a lane. It acts at the next step and leaves an
    /// Edit event. Throws InputError for a field that needs a restart. kLiveScale sets the loss
    /// scale itself, as GradScaler.update(new_scale) does.
    void setLive(int lane, std::string_view key, const FieldValue&, std::vector<Event>& events);
    /// Does the same, but before the first step, of a run without forks and edits, the setting
    /// becomes one that the run begins with: recorded() has it in the place of an edit, and no
    /// event tells of it. That cannot be said of kLiveScale, nor of a length that the schedule
    /// would follow if the run had begun with it, nor of what no run can begin with.
    void setBeforeStart(int lane, std::string_view key, const FieldValue&,
                        std::vector<Event>& events);
    /// True when all lanes stand after the same step, so that fork() is possible.
    bool atStepBoundary() const { return m_pending.empty(); }
    /// Says why the samples of the last validation could not be read: the step is done, and there
    /// is no other one. Empty otherwise.
    const Message& dataFault() const { return m_judge.problem(); }
    /// Adds a lane that goes on from the parent's present state under other precision or scaler
    /// settings, and leaves an event. Returns the new lane's index. Throws InputError for settings
    /// that are not allowed and beyond six lanes, RunError in the middle of a step, and EngineError
    /// when the lane does not fit.
    int fork(int parent, LaneConfig, std::vector<Event>& events);

    /// How predictions are shown.
    const TaskView& view() const;
    Picture target() const;
    /// Returns the present pictures; after step 0 they are those of the untrained networks.
    /// Captions give the coefficients that a network of a single Linear layer has learnt. Has no
    /// outputs when requestStop() came while a network was asked for them. Throws RunError when
    /// `stop` asks for it.
    Snapshot snapshot(const std::stop_token& stop = {});
    /// Adds the pictures that need forward passes of their own: samples with the classes that the
    /// lanes take them for. Adds the mistakes of the last validation as well, which need none. Adds
    /// no outputs when requestStop() came in between.
    void addGalleries(Snapshot&);

    /// Returns, by lane, the gradients of the next step, with the errors of layers if they are
    /// asked for; empty in the middle of a step, when a stop request came in between, and when a
    /// device cannot show them, of which the next advance() gives an event once. Does not change
    /// the training.
    std::vector<GradientRange> gradientRanges(bool errors = false);
    /// Returns why a device could not show them when they were asked for last; empty otherwise.
    Message whyNoGradients() const { return m_showsGradients ? Message() : m_noGradients; }
    /// Frees what errors need, until they are asked for again.
    void releaseErrors() {
        for (const auto& lane : m_lanes)
            lane->releaseErrors();
    }

private:
    /// A live field that has changed in m_config but not yet on the devices.
    struct Edit {
        int lane;
        std::string key;
        float scale = 0; ///< only for kLiveScale
    };
    /// Builds all lanes on their devices. Throws EngineError, also when "auto" would choose another
    /// device for a later lane.
    void buildLanes(const std::string& device, const std::stop_token& stop);
    void checkLaneFits(size_t lane) const;
    void replay(std::vector<Event>& events);
    void replayAll(int64_t untilStep);
    void record(LiveEdit);
    void record(LaneFork);
    size_t beginLanes();
    bool isValidatedAfter(int64_t step) const;
    bool endsEpoch(int64_t step) const { return step % stepsPerEpoch() == 0; }
    void measureTrainingAccuracy();
    void measureDistances();
    bool judgeLanes();
    bool isOver(const Patience& patience) const {
        return m_config.patience > 0 && patience.waited() >= m_config.patience;
    }
    bool isScheduled(int64_t step) const;
    void tellDamaged(std::vector<Event>& events);
    void applyEdits();
    void applyTo(int lane, FieldApply);
    /// Returns the first step at which a new edit acts in every lane.
    int64_t nextFreeStep() const { return m_step + (m_pending.empty() ? 1 : 2); }
    bool keepsOutputs(LastOutputs) const;
    void setScale(int lane, const FieldValue&, std::vector<Event>& events);

    RunConfig m_config;
    RunConfig m_start;   ///< as given, with the forks and edits so far
    RunConfig m_planned; ///< as given: its forks and edits from m_nextFork and m_nextEdit on are
                         ///< still to come
    size_t m_nextFork = 0, m_nextEdit = 0;
    size_t m_beginEdits = 0; ///< edits that became settings of the start
    bool m_replaying = false;
    std::string m_device; ///< the device that lanes are built on: as given, or "cpu"
    EpochPlan m_epochs;
    int64_t m_scheduleSteps; ///< the length of the schedule, fixed at the start even if the run
                             ///< becomes longer
    std::shared_ptr<Task> m_task;
    DataRecord m_data;
    Message m_dataChange;
    bool m_tellsChange = false;      ///< true until there is an event with it
    Message m_noGradients;           ///< why they were not counted, if they ever were not
    bool m_tellsNoGradients = false; ///< likewise
    bool m_showsGradients = true;    ///< whether they could be counted when that was asked last
    LaneJudge m_judge;
    Patience m_patience; ///< counts whether run.patience is set or not: an edit may set it
    bool m_endedByPatience = false; ///< by the validation after the last step
    bool m_hasFormula = false;      ///< true when lanes learn coefficients that a caption can give
    std::vector<std::unique_ptr<Trainer>> m_lanes;
    bool m_hasRoom = false; ///< whether checkLanesFree() has found so of all
    std::vector<std::string> m_names;
    Message m_cudaReason, m_weightsNote;
    BatchCounts m_batchesBefore;
    std::atomic<bool> m_stop{false};
    std::vector<StepRecord> m_pending; ///< rows of the lanes that finished an interrupted step
    std::vector<Edit> m_edits;         ///< waiting for the next step boundary
    DamageReport m_damage;
    bool m_midway = false; ///< true when a lane has begun a step that not all have
                           ///< finished
    int64_t m_step = 0;
    /// The step of the checkpoint that this goes on from, where that lacks its outputs; else 0.
    int64_t m_withoutOutputs = 0;
    double m_wallSeconds = 0;
};

} // namespace halfscope
