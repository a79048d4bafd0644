// An experiment: one to six lanes that start from the same weights, see the same batches and
// advance in lock-step. Knows nothing of windows or files; one thread calls it, requestStop() may
// come from any.
#pragma once

#include "engine/core/message.h"
#include "engine/data/task_view.h"
#include "engine/runs/lane_pictures.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment_state.h"
#include "engine/train/trainer.h"

#include <atomic>
#include <memory>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace halfscope {

using Snapshot = LanePictures;

/// EngineError when lanes that need so many bytes each do not fit into the device together. An
/// executor looks at its own lane only, and a system that runs out of memory ends programs without
/// a word.
void checkLanesFit(std::span<const size_t> bytes, const DeviceInfo&);

class Task;

class Experiment {
public:
    /// Builds and compiles all lanes; with the device "auto" on the CPU when CUDA's fails.
    /// InputError, EngineError; RunError when `stop` asks for it.
    explicit Experiment(RunConfig, const std::stop_token& stop = {});
    ~Experiment();

    /// Before the first step, of an experiment that was made of the state's recorded settings: goes
    /// on after that state. Every later row and event is what it would have been without the break,
    /// on the same device. InputError where the state is not one of these settings.
    void resume(const ExperimentState&);

    /// All of it as it is now; RunError in the middle of a step.
    ExperimentState state();
    /// That its values take, in all lanes.
    size_t stateBytes() const;

    /// As it is now, `steps` where epochs decide too: lanes that were forked stand among the lanes,
    /// edits among the settings.
    const RunConfig& config() const { return m_config; }
    /// As it was at the start, with the forks and edits since and those that are still to come: run
    /// again, it gives the same bits on the same device.
    RunConfig recorded() const;
    /// How many forks and edits there were; moves where config() and recorded() do.
    size_t changes() const { return m_start.forks.size() + m_start.edits.size(); }
    int lanes() const { return static_cast<int>(m_lanes.size()); }
    Trainer& lane(int i) { return *m_lanes[static_cast<size_t>(i)]; }
    const std::string& laneName(int i) const { return m_names[static_cast<size_t>(i)]; }
    const DeviceInfo& device() const { return m_lanes.front()->device(); }
    /// Why CUDA is not used, when the configuration left it open; empty otherwise.
    const Message& cudaReason() const { return m_cudaReason; }

    /// How the samples become steps. An epoch is one pass over the train split.
    const EpochPlan& epochs() const { return m_epochs; }
    int64_t stepsPerEpoch() const { return m_epochs.stepsPerEpoch(); }
    /// Whether lanes are judged on samples that they do not train on.
    bool validates() const { return m_lanes.front()->validates(); }
    /// Whether targets are classes: accuracies are measured.
    bool hasClasses() const;
    /// Steps that every lane has finished.
    int64_t step() const { return m_step; }
    bool finished() const { return m_step >= m_config.steps; }
    /// Why no further step is allowed (a lane's scale reached its floor, scaler.at_floor stop);
    /// empty otherwise. The sentence calls the lanes by `names`, by default laneName().
    Message stopReason(std::span<const std::string> names = {}) const;
    /// Advances every lane by one step; rows (one for each lane, in order) and events are appended.
    /// Lanes of one GPU are queued there together, lanes of several GPUs work at the same time.
    /// False when requestStop() came in between: the unfinished lanes go on with the next call.
    /// RunError with stopReason(), if there is one.
    bool advance(std::vector<StepRecord>& records, std::vector<Event>& events);
    void requestStop();
    /// Before a new stretch of steps: forgets earlier stop requests.
    void clearStop() { m_stop = false; }

    /// A live field of the run (lane < 0) or of a lane; acts at the next step and leaves an Edit
    /// event. InputError for a field that needs a restart. kLiveScale sets the loss scale itself,
    /// as GradScaler.update(new_scale) does.
    void setLive(int lane, std::string_view key, const FieldValue&, std::vector<Event>& events);
    /// Whether all lanes stand after the same step, so that fork() is possible.
    bool atStepBoundary() const { return m_pending.empty(); }
    /// Adds a lane that goes on from the parent's present state under other precision or scaler
    /// settings, and leaves an event. Its index. InputError for settings that are not allowed and
    /// beyond six lanes; RunError in the middle of a step; EngineError where it does not fit.
    int fork(int parent, const LaneConfig&, std::vector<Event>& events);

    /// How predictions are shown.
    const TaskView& view() const;
    Picture target() const;
    /// After step 0: the untrained networks' pictures. Captions tell the coefficients that a Linear
    /// layer alone has learnt. No outputs where requestStop() came while a network was asked for
    /// them; RunError when `stop` asks for it.
    Snapshot snapshot(const std::stop_token& stop = {});
    /// Adds what takes passes of its own: pictures with the classes that the lanes take them for.
    /// No outputs where requestStop() came in between.
    void addGalleries(Snapshot&);

    /// By lane, the gradients of the step that comes next; empty in the middle of a step, and when
    /// a stop request came in between. The training goes on as if nothing had been.
    std::vector<GradientRange> gradientRanges();

private:
    /// A live field that has changed in m_config and not yet on the devices.
    struct Edit {
        int lane;
        std::string key;
        float scale = 0; ///< of kLiveScale
    };
    /// All lanes on their devices. EngineError, also when "auto" would change it on the way.
    void buildLanes(const std::string& device, const std::stop_token& stop);
    void checkLaneFits(size_t lane) const;
    void replay(std::vector<Event>& events);
    void replayAll(int64_t untilStep);
    void record(LiveEdit);
    void record(LaneFork);
    void addForkEvent(int parent, std::vector<Event>& events) const;
    size_t beginLanes();
    bool isValidatedAfter(int64_t step) const;
    bool endsEpoch(int64_t step) const;
    void measureTrainingAccuracy();
    bool validateLanes();
    void tellDamaged(std::vector<Event>& events);
    void applyEdits();
    void applyTo(int lane, FieldApply);
    int64_t nextFreeStep() const;
    void setScale(int lane, const FieldValue&, std::vector<Event>& events);
    void keepValidation(int64_t step);
    void showValidation(Snapshot&);
    bool hasFormula() const;
    std::string formula(Trainer& lane) const;
    void addEditEvent(int lane, std::string_view key, const Message& change,
                      std::vector<Event>& events) const;

    RunConfig m_config;
    RunConfig m_start;   ///< as given, with the forks and edits so far
    RunConfig m_planned; ///< as given: its forks and edits from the next ones on are to come
    size_t m_nextFork = 0, m_nextEdit = 0;
    bool m_replaying = false;
    std::string m_device; ///< that lanes are built on: as given, or "cpu"
    EpochPlan m_epochs;
    int64_t m_scheduleSteps; ///< of the schedule since the start, whatever the run's length is now
    std::unique_ptr<Task> m_task;
    int64_t m_validated = 0;                ///< the last step after which all lanes were
    std::vector<ClassCounts> m_classCounts; ///< of that validation, by lane
    bool m_hasFormula = false; ///< its lanes learn coefficients that can be told in words
    std::vector<std::unique_ptr<Trainer>> m_lanes;
    std::vector<std::string> m_names;
    Message m_cudaReason;
    std::atomic<bool> m_stop{false};
    std::vector<StepRecord> m_pending;   ///< rows of the lanes that finished an interrupted step
    std::vector<Edit> m_edits;           ///< wait for the next step boundary
    std::set<std::string> m_toldDamaged; ///< samples that events have named
    bool m_midway = false;               ///< a lane has begun a step that not all have finished
    int64_t m_step = 0;
    double m_wallSeconds = 0;
};

} // namespace halfscope
