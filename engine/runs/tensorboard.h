// Writes a run as TensorBoard's event files: FOLDER/LANE/events.out.tfevents.*.halfscope, so that
// lanes are runs that TensorBoard overlays. Of every step: a scalar for each metric, see
// tensorBoardTag(). Where gradients are counted: the histogram "gradients/log2_magnitude" of
// log2 |x| of the scaled gradients, in shares of them all, and the shares "gradients/zero" and
// "gradients/not_finite". The pictures that networks paint: "picture".
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

/// Of a known metric: "amp/loss_scale", or the name of its column; empty for those that are left
/// out because others tell them. Metrics that only a file knows go by their column, too.
std::string_view tensorBoardTag(MetricId);

/// A run while it trains. Its records are safe from a kill after a quarter of a second; a reader
/// takes all that are complete. Scalars have the precision of float32, as TensorBoard reads them.
class TensorBoardWriter {
public:
    /// `after`: steps that were taken before. A run from the start (0) takes the place of the files
    /// that an earlier one left in the folders of lanes of the same names; a run that goes on keeps
    /// them, and TensorBoard drops what they hold of later steps. RunError when a folder cannot be
    /// made or another program writes there. `start`: when the run began, in seconds since 1970; by
    /// default its first row is of now.
    TensorBoardWriter(std::string folder, std::span<const LaneInfo> lanes, int64_t after,
                      std::optional<double> start = {});
    ~TensorBoardWriter();
    TensorBoardWriter(const TensorBoardWriter&) = delete;
    TensorBoardWriter& operator=(const TensorBoardWriter&) = delete;

    /// Rows, samples, gradients, pictures, and lanes that were forked.
    void append(const RunBatch&);
    /// When it returns, the disk has everything. Without this call all but the last quarter of a
    /// second is there all the same.
    void finish();

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

/// Writes what is new of a run, look by look: of a window's, which somebody else trains.
class TensorBoardFollower {
public:
    /// Of `run` nothing is written yet; it has a step. Its rows from the start take the place of
    /// earlier files; a run that goes on without the rows before keeps them. `start`: when it
    /// began, in seconds since 1970. RunError as of TensorBoardWriter.
    TensorBoardFollower(const std::string& folder, const RunSnapshot& run, double start);
    /// Steps that all lanes have finished, the newest gradients, and a picture now and then, about
    /// 20 in a run. RunError.
    void write(const RunSnapshot&);
    /// The rows of lanes up to a step, and lanes that were forked by then. Cancellable, see
    /// core/cancel.h: what was written by then stays.
    void writeRows(const RunSnapshot&, int64_t upTo);
    TensorBoardWriter& writer() { return m_writer; }

private:
    TensorBoardWriter m_writer;
    size_t m_lanes, m_metrics;
    int64_t m_next; ///< step
    int64_t m_gradientStep = 0, m_nextPicture = 0;
};

/// Now, in seconds since 1970, less the time that a run has trained.
double startOf(const RunSnapshot&);

/// The same for a run that is there, all at once; files of an earlier run are replaced. RunError.
void saveTensorBoard(const RunSnapshot&, const std::string& folder);

} // namespace halfscope
