// Everything that one training measured: settings, device, columns of metrics, events, gradients
// and pictures. A Run owns its data and knows neither windows nor files; views and writers read it.
#pragma once

#include "engine/core/message.h"
#include "engine/exec/executor.h"
#include "engine/runs/column.h"
#include "engine/runs/events.h"
#include "engine/runs/gradient_history.h"
#include "engine/runs/lane_pictures.h"
#include "engine/runs/lane_totals.h"
#include "engine/runs/lost_samples.h"
#include "engine/runs/missing_part.h"
#include "engine/runs/run_checkpoint.h"
#include "engine/runs/run_pictures.h"
#include "engine/runs/step_row.h"
#include "engine/runs/unread_parts.h"
#include "engine/settings/run_config.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Stopped means that an error ended the run, such as a loss scale at its floor or samples that
/// cannot be read, and OutOfPatience that run.patience did.
enum class RunOutcome : uint8_t { Finished, Interrupted, Stopped, OutOfPatience };
/// Returns the name in summary.json: "finished".
const char* nameOf(RunOutcome);

struct LaneInfo {
    std::string name;        ///< in files: "amp-fp16-2"
    std::string title;       ///< on screen: "amp-fp16, init_scale 2^24"
    int parent = -1;         ///< the lane that this one continues; -1 when there is none
    int64_t forkStep = 0;    ///< the last step that it shares with its parent
    LaneConfig config{};     ///< its settings when it started
    bool scalesAnew = false; ///< of a fork and its parent, only one scales the loss
};
/// Returns the lanes that a configuration starts with, then those that it forks, in order.
std::vector<LaneInfo> lanesOf(const RunConfig&);
/// Whether an event concernsLane(), or is one of the lanes that it continues, from the steps that
/// it shares with them.
bool belongsToLane(const Event&, std::span<const LaneInfo> lanes, size_t lane);
/// Returns the parents of the lanes, for laneTitleParts().
std::vector<int> parentsOf(std::span<const LaneInfo>);

struct RunInfo {
    RunInfo();          // out of line: GCC 12 takes the strings of an inline one for uninitialised
    RunConfig config;   ///< as it is now: live edits change it, and forks are among its lanes
    RunConfig recorded; ///< as it started, with its forks and edits; training it again gives the
                        ///< same bits
    std::string preset; ///< the name of the preset that it started from; may be empty
    std::optional<DeviceInfo> device; ///< nothing when no file of a saved run tells it
    Message cudaReason; ///< why CUDA is not used; empty when it is, or when nobody asked for it
    std::vector<MemoryUse> memory;     ///< by lane; empty when not known
    std::string program, compiler;     ///< versions: "0.1.0"; empty when not known
    std::optional<RunOutcome> outcome; ///< nothing while it trains, and when no file tells it
    bool restored = false; ///< it comes from a session that was left behind, see left_session.h
    std::string origin;    ///< the run there, such as "20261121-173455-1/2"; empty for others
    UnreadParts unread;    ///< what that one lacked already, or could not give

    // For a saved run only.
    std::string folder; ///< the folder it was read from; empty for a run that was trained here
    std::string id;     ///< there, see run_manifest.h; empty when no manifest tells it
    std::vector<MissingPart> missing; ///< what the folder lacks
    std::string summary; ///< the whole text of summary.json, to be saved again as it was

    // For a run that goes on from a saved one, or from one that did.
    std::string pastFolder; ///< the folder that the saved run was read from; empty for others
    std::string pastId;     ///< its id there; empty when no manifest told it
    int64_t pastStep = 0;   ///< the last step of which this run has the saved run's rows
};

/// A value that is not part of a step's row: of a metric that is not measured at every step, or of
/// one that only a file knows.
struct Sample {
    int64_t step = 0;
    int32_t lane = 0;
    MetricId metric = 0;
    double value = 0;
};

/// What a run takes in at once, in this order. The steps of a lane and metric rise from batch to
/// batch.
struct RunBatch {
    std::vector<Metric> metrics; ///< new ones, which go behind those that the run has
    std::vector<LaneInfo> lanes; ///< new ones: forks of lanes that the run has
    std::vector<std::vector<GradientRange>> gradients; ///< in order of counting; each by lane
    /// The newest count where nobody watches the gradients: for cards, not for histories and files.
    std::vector<GradientRange> glance;
    std::vector<StepRow> rows;
    std::vector<Sample> samples;
    std::vector<Event> events;
    bool gradientsEnd = false; ///< from here on nothing is known until gradients are counted again
    std::vector<std::vector<GradientColumn>> savedGradients; ///< those of a saved run, by lane
    bool gradientsUnread = false;                            ///< not all of these could be read
    std::optional<LanePictures> pictures;                    ///< replace the pictures before
    std::shared_ptr<const RunPictures> storedPictures;       ///< likewise; null keeps them
    std::shared_ptr<const RunCheckpoint> checkpoint;         ///< replaces the run's; null keeps it
    std::optional<Picture> target;                           ///< replaces sharedTarget()
    std::optional<RunInfo> info; ///< replaces the run's after a live edit, or when the run is over
    bool empty() const;
};

/// A run at one moment. Any thread may read it, also while the run takes in more. A copy costs
/// about two counted pointers for each lane and metric.
class RunSnapshot {
public:
    uint64_t version() const { return m_version; }
    const RunInfo& info() const { return *m_info; }
    /// The known metrics come first, so that metric::Loss is the loss in every run; then come the
    /// columns that only a file knows.
    std::span<const Metric> metrics() const { return *m_metrics; }
    /// Returns the id of a column, or -1 when the run has none of that name.
    MetricId metricNamed(std::string_view column) const;
    /// Whether any lane has a value of this metric.
    bool has(MetricId) const;
    std::span<const LaneInfo> lanes() const { return *m_lanes; }
    int laneCount() const { return static_cast<int>(m_lanes->size()); }

    /// The first step that any lane has a row of; later than 1 when the run goes on from a
    /// checkpoint without the rows before it.
    int64_t firstStep() const;
    /// The number of steps that every lane has finished.
    int64_t step() const;
    /// The number of steps that any lane has finished.
    int64_t lastStep() const;
    const Column& column(int lane, MetricId) const;
    /// Returns all known metrics at a step.
    StepRow row(int lane, int64_t step) const;
    /// Returns the rows of the steps from..to, both included, that the lane has. They are read
    /// column by column, so that many rows cost little.
    std::vector<StepRow> rows(int lane, int64_t from, int64_t to) const;
    /// The lane's newest row, its skipped steps and the loss scale that it has now. A fork has its
    /// parent's up to the fork.
    const LaneTotals& totals(int lane) const { return m_totals[static_cast<size_t>(lane)]; }
    /// Returns the median of the lane's last `values` values, see trailingMedian() of column.h.
    double trailingMedian(int lane, MetricId, size_t values) const;
    /// Returns the median over the lane's latest 2^20 steps, without those of its parent; 0 without
    /// steps. Reads them all.
    double medianDeviceSeconds(int lane) const;

    const GrowingList<Event>::View& events() const { return m_events; }
    /// What the events tell of samples that could not be read.
    const LostSamples& lostSamples() const { return m_lost; }
    const GradientHistory& gradients(int lane) const {
        return *m_gradients[static_cast<size_t>(lane)];
    }
    /// Whether the file that the run comes from may have more of them, which cannot be read.
    bool gradientsUnread() const { return m_gradientsUnread; }
    /// The last count, by lane; empty when nothing was counted.
    std::span<const GradientRange> lastGradients() const { return *m_lastGradients; }
    /// The same, or a glance that came later.
    std::span<const GradientRange> newestGradients() const { return *m_newestGradients; }
    /// What pictures() are compared with; its width is 0 when the task has no such picture.
    std::shared_ptr<const Picture> target() const { return targetPicture().picture(); }
    const TargetPicture& targetPicture() const {
        return m_pictures->target() ? *m_pictures->target() : *m_target;
    }
    /// Step 0 and no outputs until there are pictures. They may have to be read from a file, which
    /// a window leaves to another thread; throws RunError or InputError when they cannot be read.
    std::shared_ptr<const LanePictures> pictures() const { return m_pictures->read(); }
    /// The newest state from which the run can go on; null when none was kept.
    const std::shared_ptr<const RunCheckpoint>& checkpoint() const { return m_checkpoint; }
    /// Shared forms of info() and lastGradients(), and the owner of pictures(), to tell new ones
    /// from those seen before: while a caller holds one, no other gets its address.
    const std::shared_ptr<const RunInfo>& sharedInfo() const { return m_info; }
    const std::shared_ptr<const std::vector<GradientRange>>& sharedGradients() const {
        return m_lastGradients;
    }
    const std::shared_ptr<const RunPictures>& sharedPictures() const { return m_pictures; }
    /// The target that the run began with; runs with equal ones share it.
    const std::shared_ptr<const TargetPicture>& sharedTarget() const { return m_target; }
    /// Returns the heap bytes of all columns.
    size_t columnBytes() const;
    /// Returns about how many heap bytes the run holds without its checkpoint, which a store soon
    /// has, and without sharedTarget(), which other runs may hold, too.
    size_t bytes() const;

private:
    friend class Run;
    std::shared_ptr<const RunInfo> m_info;
    std::shared_ptr<const std::vector<Metric>> m_metrics;
    std::shared_ptr<const std::vector<LaneInfo>> m_lanes;
    std::vector<Column> m_columns; ///< lane by lane; each lane has as many as there are metrics
    std::vector<LaneTotals> m_totals;
    GrowingList<Event>::View m_events;
    LostSamples m_lost;
    std::vector<std::shared_ptr<const GradientHistory>> m_gradients;
    std::shared_ptr<const std::vector<GradientRange>> m_lastGradients, m_newestGradients;
    bool m_gradientsUnread = false;
    std::shared_ptr<const TargetPicture> m_target;
    std::shared_ptr<const RunPictures> m_pictures;
    std::shared_ptr<const RunCheckpoint> m_checkpoint;
    uint64_t m_version = 0;
};

/// Returns the events with which a run of these settings goes on after a step. Edits and forks are
/// told before the step on which they act: those of the next step are left out when the settings do
/// not have them, because they came after the checkpoint.
std::vector<Event> eventsUpTo(const RunSnapshot&, const RunConfig& recorded, int64_t step);

/// One thread appends, and reads through now(); every other thread takes a snapshot().
class Run {
public:
    /// `metrics` are those that only a file knows. In a saved run (RunInfo::folder) the gradients
    /// stay as they were saved, see GradientHistory::ofSavedRun().
    explicit Run(RunInfo, std::vector<LaneInfo> lanes, Picture target = {},
                 std::vector<Metric> metrics = {});
    Run(RunInfo, std::vector<LaneInfo> lanes, std::shared_ptr<const TargetPicture>,
        std::vector<Metric> metrics = {});
    /// Returns the beginning of a run of these settings that goes on from a step of another run: it
    /// has the rows and events up to there, and takes in the rest. Of the other run's description
    /// it has only where that was saved.
    static std::shared_ptr<Run> goingOn(const RunConfig& recorded, const RunSnapshot& before,
                                        int64_t step);

    /// Appends a batch; nothing else adds to a run. Throws std::logic_error for a lane or metric
    /// that the run does not have, and for steps that do not rise. After std::bad_alloc everything
    /// before the part that lacked memory is there, rows and lanes being taken whole or not at all;
    /// later rows may follow.
    void append(RunBatch);
    /// Lets values that a store has take less memory, as append() does now and then; returns
    /// whether any do. A store has to look again before more of them can.
    bool mergeSpans();
    /// A number that changes with each append; any thread may ask for it.
    uint64_t version() const { return m_version.load(std::memory_order_acquire); }
    RunSnapshot snapshot() const;
    const RunSnapshot& now() const { return m_now; }

    // Short forms of now(), for the thread that appends.
    const RunInfo& info() const { return m_now.info(); }
    std::span<const Metric> metrics() const { return m_now.metrics(); }
    std::span<const LaneInfo> lanes() const { return m_now.lanes(); }
    const Column& column(int lane, MetricId id) const { return m_now.column(lane, id); }
    const GrowingList<Event>::View& events() const { return m_now.events(); }
    int64_t step() const { return m_now.step(); }

private:
    void addMetrics(std::vector<Metric>);
    /// The rows that a lane begins with: those of another lane up to a step.
    struct LanePast {
        const RunSnapshot& of;
        int lane;
        int64_t upTo;
    };
    void addLane(LaneInfo);
    void addLane(LaneInfo, const LanePast&);
    void add(const StepRow&);
    void add(const Sample&);
    void enlist(Event);
    void add(Event);
    void add(const std::vector<GradientRange>&);
    struct Moves;
    ColumnWriter& writerOf(int32_t lane, MetricId);
    void put(int32_t lane, MetricId, int64_t step, double value);
    LaneTotals totalsOf(const LanePast&) const;
    GradientHistory& historyOf(int32_t lane);

    mutable std::mutex m_mutex;                       ///< held while m_now changes or is copied
    std::vector<std::vector<ColumnWriter>> m_writers; ///< by lane and metric
    GrowingList<Event> m_events;
    std::vector<std::shared_ptr<GradientHistory>> m_histories; ///< those of m_now, not const
    RunSnapshot m_now;
    std::atomic<uint64_t> m_version{0};
};

} // namespace halfscope
