// The files of a run: experiment.json, steps.csv, events.csv, timing.csv, summary.json and
// pictures. Everything that the clock decides is in timing.csv and summary.json alone: the others
// have the same bytes when the same experiment runs again on the same device.
#pragma once

#include "engine/io/atomic_file.h"
#include "engine/runs/run.h"
#include "engine/train/experiment.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// One record as a line with a newline, under the header of the same name.
///   steps.csv   step,lane,loss,scale,growth_tracker,learning_rate,gradient_norm,skipped,grew,
///               backed_off,loss_not_finite,skipped_so_far
///   events.csv  step,lane,kind,scale_before,scale_after,tensor,text
///   timing.csv  step,lane,device_seconds,wall_seconds
///   gradients.csv  lane,first_step,last_step,counted_step,zero,2^-40,...,2^23,not_finite: shares
///   of
///               a step's gradients, times the loss scale; 2^e holds 2^e <= |x| < 2^(e+1), the
///               first and the last one what lies beyond. The three steps are one here.
/// Lanes go by name, flags are 0 or 1, numbers read back as the same value ("nan", "inf", "-inf").
extern const char* const kStepHeader;
extern const char* const kEventHeader;
extern const char* const kTimingHeader;
std::string stepLine(const StepRecord&, std::span<const std::string> lanes);
std::string eventLine(const Event&, std::span<const std::string> lanes);
std::string timingLine(const StepRecord&, std::span<const std::string> lanes);
std::string gradientHeader();
std::string gradientLine(const GradientRange&, const std::string& lane);

/// Takes the records of a run and keeps its folder, which no other run can use meanwhile. RunError
/// when something cannot be written.
class RunFiles {
public:
    /// Makes the folder; experiment.json and target.png are there at once. What an earlier run left
    /// is removed, or stays whole where this one cannot begin.
    RunFiles(std::string folder, const Experiment&);
    /// After each step with what it left.
    void append(Experiment&, std::span<const StepRecord>, std::span<const Event>);
    /// gradients.csv, which a run has that counts them: one range for each lane.
    void append(std::span<const GradientRange>);
    /// The rest: the csv files get their names, output_<lane>.png, summary.json, and
    /// experiment.json the forks and edits that came on the way. `programVersion`
    /// is "0.1.0". Without this call the destructors still keep the csv files.
    void finish(Experiment&, RunOutcome, std::string_view programVersion);

private:
    std::string pathTo(const std::string& name) const { return m_folder + "/" + name; }

    std::string m_folder;
    FolderLock m_lock;
    std::vector<std::string> m_lanes;
    std::vector<LaneTotals> m_totals;
    std::vector<RecentTimes> m_times;
    /// Of the last step, where steps are slow: an interrupted run must not compute another forward
    /// pass before it ends.
    std::optional<Snapshot> m_pictures;
    GrowingFile m_steps, m_events, m_timing;
    std::optional<GrowingFile> m_gradients; ///< from the first count on
};

} // namespace halfscope
