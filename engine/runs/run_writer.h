// Writes the folder of a run, while it trains or all at once:
//   experiment.json  the settings; running it again gives the same bits on the same device
//   steps.csv        step,lane and the metrics of MetricFile::Steps, a row a step and lane
//   timing.csv       step,lane and those of MetricFile::Timing
//   events.csv       step,lane,kind,scale_before,scale_after,tensor,text
//   gradients.csv    see gradient_file.h, where gradients were counted
//   summary.json     see run_summary.h
//   target.png, output_<lane>.png
// Lanes go by name, flags are 0 or 1, numbers read back as the same value ("nan", "inf", "-inf"),
// and what was not measured is an empty field. What the clock decides is in timing.csv and
// summary.json alone: the other files have the same bytes when the experiment runs again on the
// same device.
#pragma once

#include "engine/io/atomic_file.h"
#include "engine/runs/run.h"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace halfscope {

/// steps.csv or timing.csv as it grows.
class StepTable {
public:
    using Column = std::pair<MetricId, Metric>;
    StepTable(const std::string& path, std::span<const std::string> lanes,
              std::vector<Column> columns);
    const std::vector<Column>& columns() const { return m_columns; }
    void addLane(const std::string& name);
    /// A value for each column.
    void append(int64_t step, int32_t lane, std::span<const std::optional<double>> values);
    void append(const StepRow&);
    void flush(); ///< hands to the file what has gathered
    void finish();

private:
    std::vector<std::string> m_lanes; ///< as csv fields
    std::vector<Column> m_columns;
    std::vector<std::optional<double>> m_values;
    std::string m_text;
    GrowingFile m_file;
};

/// Writes a run while it trains, whose folder no other program can use meanwhile. RunError when
/// something cannot be written.
class RunWriter {
public:
    /// Makes the folder; experiment.json and target.png are there at once. What an earlier run left
    /// is removed, or stays whole where this one cannot begin. `measured`: metrics that not every
    /// run has, and this one has.
    RunWriter(std::string folder, const RunInfo&, std::span<const LaneInfo> lanes,
              const Picture& target, std::span<const MetricId> measured = {});
    /// Rows, events, gradients and, to be written at the end, pictures.
    void append(const RunBatch&);
    /// The rest: the csv files get their names, pictures where there are some, summary.json.
    /// Without this call the destructors still keep the csv files.
    void finish(const RunInfo&, const LanePictures&);

private:
    std::string pathTo(const std::string& name) const { return m_folder + "/" + name; }
    void addLane(const LaneInfo&);

    std::string m_folder;
    FolderLock m_lock;
    std::vector<LaneInfo> m_lanes;
    std::vector<std::string> m_names;
    std::vector<LaneTotals> m_totals;
    std::vector<RecentTimes> m_times;
    StepTable m_steps, m_timing;
    GrowingFile m_events;
    std::optional<GrowingFile> m_gradients; ///< from the first count on
};

struct SavedFiles {
    std::vector<std::string> names; ///< that were written, in the folder
    std::string settingsError;      ///< why experiment.json was not; empty: it was
};
/// Writes all of a run. Files of an earlier run in the folder are replaced, or removed where this
/// run has none of that name: they would pass for its own. A run that was read from a folder has
/// the same tables there that it came with. RunError.
SavedFiles saveRun(const RunSnapshot&, const std::string& folder);
/// The names that saveRun() may write.
std::vector<std::string> filesOf(const RunSnapshot&);

/// The settings as experiment.json of another folder has them: with absolute paths. InputError for
/// settings that no file may have, and for a relative path where the current folder is gone.
RunConfig portableConfig(RunConfig);

/// A line of events.csv, with its end; -1 is the lane "all".
std::string eventText(const Event&, std::span<const std::string> lanes);
std::string eventHeader();
/// As RFC 4180 quotes a field of a csv file.
std::string csvField(const std::string& text);

} // namespace halfscope
