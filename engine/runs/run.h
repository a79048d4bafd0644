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
#include "engine/runs/missing_part.h"
#include "engine/runs/run_checkpoint.h"
#include "engine/runs/step_row.h"
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

/// Stopped: a loss scale reached its floor.
enum class RunOutcome : uint8_t { Finished, Interrupted, Stopped };
/// "finished", as in summary.json.
const char* nameOf(RunOutcome);

struct LaneInfo {
    std::string name;     ///< in files: "amp-fp16-2"
    std::string title;    ///< on screen: "amp-fp16, init_scale 2^24"
    int parent = -1;      ///< the lane that this one continues from; -1: none
    int64_t forkStep = 0; ///< the last step that it shares with its parent
    LaneConfig config{};  ///< its settings at its start
};
/// The lanes that a configuration starts with, and those that it forks, in order.
std::vector<LaneInfo> lanesOf(const RunConfig&);

struct RunInfo {
    RunInfo();          // out of line: GCC 12 takes the strings of an inline one for uninitialised
    RunConfig config;   ///< as it is now: live edits change it, forks are among its lanes
    RunConfig recorded; ///< as it started, with its forks and edits: trained again, the same bits
    std::string preset; ///< the name of the preset that it began as; may be empty
    std::optional<DeviceInfo> device;  ///< nothing where no file of a saved run tells it
    Message cudaReason;                ///< why CUDA is not used; empty when it is, or nobody asked
    std::vector<MemoryUse> memory;     ///< by lane; empty when not known
    std::string program, compiler;     ///< versions: "0.1.0"; empty when not known
    std::optional<RunOutcome> outcome; ///< nothing while it trains, and where no file tells it
    bool restored = false;             ///< from a session that was left, see left_session.h

    // Of a saved run.
    std::string folder; ///< that it was read from; empty for one that was trained here
    std::vector<MissingPart> missing; ///< what the folder lacks
    std::string summary;              ///< all of summary.json, to be saved again as it was
};

/// A value that is no part of a step's row: a metric that is not measured at every step, or one
/// that only a file knows.
struct Sample {
    int64_t step = 0;
    int32_t lane = 0;
    MetricId metric = 0;
    double value = 0;
};

/// What a run takes in at once, in this order. Steps of a lane and metric rise from batch to batch.
struct RunBatch {
    std::vector<Metric> metrics; ///< new ones, behind those that the run has
    std::vector<LaneInfo> lanes; ///< new ones: forks of lanes that the run has
    std::vector<std::vector<GradientRange>> gradients; ///< in order of counting; each by lane
    std::vector<StepRow> rows;
    std::vector<Sample> samples;
    std::vector<Event> events;
    bool gradientsEnd = false; ///< from here on nothing is known until they are counted again
    std::vector<std::vector<GradientColumn>> savedGradients; ///< of a saved run, by lane
    std::optional<LanePictures> pictures;                    ///< the newest ones replace the others
    std::shared_ptr<const RunCheckpoint> checkpoint;         ///< replaces the run's; null: it stays
    std::optional<RunInfo> info; ///< replaces the run's: after a live edit, or when it is over
    bool empty() const;
};

/// A run at one moment. Any thread may read it, also while the run takes in more. A copy costs
/// about two counted pointers for each lane and metric.
class RunSnapshot {
public:
    uint64_t version() const { return m_version; }
    const RunInfo& info() const { return *m_info; }
    /// The known metrics first, so that metric::Loss is the loss of every run; then columns that
    /// only a file knows.
    std::span<const Metric> metrics() const { return *m_metrics; }
    /// The id of a column; -1 when the run has none of that name.
    MetricId metricNamed(std::string_view column) const;
    /// Whether a lane has a value of it.
    bool has(MetricId) const;
    std::span<const LaneInfo> lanes() const { return *m_lanes; }
    int laneCount() const { return static_cast<int>(m_lanes->size()); }

    /// The first one that any lane has a row of; later than 1 where a run goes on from a checkpoint
    /// without the rows before it.
    int64_t firstStep() const;
    /// Steps that every lane has finished.
    int64_t step() const;
    /// Steps that any lane has finished.
    int64_t lastStep() const;
    const Column& column(int lane, MetricId) const;
    /// All known metrics at a step.
    StepRow row(int lane, int64_t step) const;
    /// The same for the steps from..to, both included, that the lane has; column by column, so that
    /// many cost little.
    std::vector<StepRow> rows(int lane, int64_t from, int64_t to) const;
    /// The lane's newest row, its skipped steps and the loss scale that it has now. A fork has its
    /// parent's up to the fork.
    const LaneTotals& totals(int lane) const { return m_totals[static_cast<size_t>(lane)]; }
    /// Of the lane's last so many values, see trailingMedian() of column.h.
    double trailingMedian(int lane, MetricId, size_t values) const;
    /// Of the lane's latest 2^20 steps; 0 without steps. Reads them all.
    double medianDeviceSeconds(int lane) const;

    const GrowingList<Event>::View& events() const { return m_events; }
    const GradientHistory& gradients(int lane) const {
        return *m_gradients[static_cast<size_t>(lane)];
    }
    /// By lane, of the last count; empty when nothing was counted.
    std::span<const GradientRange> lastGradients() const { return *m_lastGradients; }
    /// What the lanes are to paint; no width where the task has no picture.
    const Picture& target() const { return *m_target; }
    /// Step 0 and no outputs until there are some.
    const LanePictures& pictures() const { return *m_pictures; }
    /// The newest state that the run can go on from; null where none was kept.
    const std::shared_ptr<const RunCheckpoint>& checkpoint() const { return m_checkpoint; }
    /// The same as info(), lastGradients() and pictures(), to tell new ones from those that were
    /// seen: whoever holds them keeps their address from being given to others.
    const std::shared_ptr<const RunInfo>& sharedInfo() const { return m_info; }
    const std::shared_ptr<const std::vector<GradientRange>>& sharedGradients() const {
        return m_lastGradients;
    }
    const std::shared_ptr<const LanePictures>& sharedPictures() const { return m_pictures; }
    /// Heap bytes of all columns.
    size_t columnBytes() const;

private:
    friend class Run;
    std::shared_ptr<const RunInfo> m_info;
    std::shared_ptr<const std::vector<Metric>> m_metrics;
    std::shared_ptr<const std::vector<LaneInfo>> m_lanes;
    std::vector<Column> m_columns; ///< lane by lane, as many as there are metrics
    std::vector<LaneTotals> m_totals;
    GrowingList<Event>::View m_events;
    std::vector<std::shared_ptr<const GradientHistory>> m_gradients;
    std::shared_ptr<const std::vector<GradientRange>> m_lastGradients;
    std::shared_ptr<const Picture> m_target;
    std::shared_ptr<const LanePictures> m_pictures;
    std::shared_ptr<const RunCheckpoint> m_checkpoint;
    uint64_t m_version = 0;
};

/// One thread appends. That thread reads through now(); every other one takes a snapshot().
class Run {
public:
    /// `metrics`: those that only a file knows. Of a saved run (RunInfo::folder) the gradients
    /// stand as they were saved, see GradientHistory::ofSavedRun().
    explicit Run(RunInfo, std::vector<LaneInfo> lanes, Picture target = {},
                 std::vector<Metric> metrics = {});
    /// The beginning of a run of these settings that goes on from another one's step: it has the
    /// rows and events up to there, and takes in the rest.
    static std::shared_ptr<Run> goingOn(const RunConfig& recorded, const RunSnapshot& before,
                                        int64_t step);

    /// The only way in. std::logic_error for a lane or metric that the run does not have, and for
    /// steps that do not rise. std::bad_alloc: what comes before the part without memory is there,
    /// of a row and a lane all or nothing; later rows may follow.
    void append(RunBatch);
    /// Moves with each append; any thread may ask.
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
    /// Rows that a lane begins with: those of a lane up to a step.
    struct LanePast {
        const RunSnapshot& of;
        int lane;
        int64_t upTo;
    };
    void addLane(LaneInfo);
    void addLane(LaneInfo, const LanePast&);
    void add(const StepRow&);
    void add(const Sample&);
    void add(Event);
    void add(const std::vector<GradientRange>&);
    ColumnWriter& writerOf(int32_t lane, MetricId);
    void put(int32_t lane, MetricId, int64_t step, double value);
    LaneTotals totalsOf(const LanePast&) const;
    GradientHistory& historyOf(int32_t lane);

    mutable std::mutex m_mutex;                       ///< held while m_now changes or is copied
    std::vector<std::vector<ColumnWriter>> m_writers; ///< by lane and metric
    GrowingList<Event> m_events;
    std::vector<std::shared_ptr<GradientHistory>> m_histories; ///< those of m_now, to be changed
    RunSnapshot m_now;
    std::atomic<uint64_t> m_version{0};
};

} // namespace halfscope
