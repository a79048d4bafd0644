// Writes a run as TensorBoard's event files: FOLDER/LANE/events.out.tfevents.*.halfscope, so that
// TensorBoard shows lanes as runs, one over the other. Every step has a scalar for each metric, see
// tensorBoardTag(). When gradients are counted there are the histogram
// "gradients/log2_magnitude_counts" of log2 |x| of the scaled gradients, or
// "gradients/log2_magnitude" where only their shares are known, and the shares "gradients/zero" and
// "gradients/not_finite"; the same of each layer as "gradients/Linear 0/zero", with the histogram
// "gradients/Linear 0/weights" of its parameters' gradients with their signs, and its error as
// "gradients/Linear 0/error" where that was measured. The pictures that networks paint have the tag
// "picture".
#pragma once

#include "engine/runs/run.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Returns the tag of a known metric: "amp/loss_scale", or the name of its column; empty for
/// metrics that are left out because others tell the same. Metrics that only a file knows go by
/// their column, too.
std::string_view tensorBoardTag(MetricId);

/// Writes a run while it trains. Its records are safe from a kill after a quarter of a second; a
/// reader takes all that are complete. Scalars have the precision of float32, as TensorBoard reads
/// them.
class TensorBoardWriter {
public:
    /// `after` is the number of steps that were taken before. A run from the start (0) replaces the
    /// files that an earlier run left in the folders of lanes of the same names; a run that goes on
    /// keeps them, and TensorBoard drops the later steps in them. `start` is when the run began, in
    /// seconds since 1970; by default, its first row has the time of now. Throws RunError when a
    /// folder cannot be made or another program writes there.
    TensorBoardWriter(std::string folder, std::span<const LaneInfo> lanes, int64_t after,
                      std::optional<double> start = {});
    ~TensorBoardWriter();
    TensorBoardWriter(const TensorBoardWriter&) = delete;
    TensorBoardWriter& operator=(const TensorBoardWriter&) = delete;

    /// Appends rows, samples, gradients, pictures and forked lanes.
    void append(const RunBatch&);
    /// Returns when the disk has everything so far: before a checkpoint, because a run that goes on
    /// from it does not write the earlier steps again.
    void sync();
    /// Returns when the disk has everything. Without this call all but the last quarter of a second
    /// is there, too.
    void finish();
    /// Whether files of an earlier run gave way to these.
    bool replaced() const;

private:
    class EventFile;
    using Clock = std::chrono::steady_clock;

    void addLane(const LaneInfo&);
    void addGradients(const RunBatch&);
    void add(const StepRow&);
    EventFile& lane(int32_t index) { return *m_lanes[static_cast<size_t>(index)]; }
    void flush();

    std::string m_folder;
    int64_t m_after;
    std::optional<double> m_start;
    double m_time;                        ///< of the last row, in seconds since 1970
    std::vector<std::string> m_otherTags; ///< of the metrics behind the known ones
    std::vector<std::unique_ptr<EventFile>> m_lanes;
    Clock::time_point m_flushed = Clock::now();
};

/// Writes, at each call, what is new in a run that somebody else trains, such as a window's.
class TensorBoardFollower {
public:
    /// Nothing of `run` is written yet, and it has a step. Its rows from the start replace earlier
    /// files; a run that goes on without the rows before keeps them. `start` is when it began, in
    /// seconds since 1970. Throws RunError like TensorBoardWriter.
    TensorBoardFollower(const std::string& folder, const RunSnapshot& run, double start);
    /// Writes the steps that all lanes have finished, the newest gradients, and a picture now and
    /// then, about 20 in a run. Throws RunError.
    void write(const RunSnapshot&);
    /// Writes the rows of lanes up to a step, and the lanes that were forked by then. Can be
    /// cancelled, see core/cancel.h: what was written by then stays.
    void writeRows(const RunSnapshot&, int64_t upTo);
    TensorBoardWriter& writer() { return m_writer; }

private:
    TensorBoardWriter m_writer;
    size_t m_lanes, m_metrics;
    int64_t m_next; ///< the next step to write
    int64_t m_gradientStep = 0, m_nextPicture = 0;
};

/// Returns the time now, in seconds since 1970, minus the time that a run has trained.
double startOf(const RunSnapshot&);

/// Returns the folders in `folder` that have event files of other lanes, sorted: those of earlier
/// runs, which TensorBoard shows beside these.
std::vector<std::string> otherBoardLanes(const std::string& folder, std::span<const LaneInfo>);

/// Writes a run that is complete, all at once; files of an earlier run are replaced. Returns why
/// not all of its pictures were written; empty when they were. Throws RunError.
Message saveTensorBoard(const RunSnapshot&, const std::string& folder);

} // namespace halfscope
