// Writes the folder of a run while it trains:
//   experiment.json  the settings; running it again gives the same bits on the same device
//   steps.csv        step,lane and the metrics of MetricFile::Steps, a row per step and lane
//   timing.csv       step,lane and those of MetricFile::Timing
//   events.csv       step,lane,kind,scale_before,scale_after,tensor,text
//   gradients.csv    see gradient_file.h; only when gradients were counted
//   summary.json     see run_summary.h
//   manifest.json    see run_manifest.h
//   target.png, output_<lane>.png
//   samples_<lane>.png, samples_target.png  see LanePictures::galleries; only when there are some
//   mistakes_<lane>.png                     see LanePictures::mistakes; likewise
//   checkpoint.safetensors, weights_<lane>.safetensors  made elsewhere
// Lanes go by name, flags are 0 or 1, numbers read back as the same value ("nan", "inf", "-inf"),
// and a field is empty when nothing was measured. Only timing.csv and summary.json hold what
// depends on the clock, and only manifest.json holds the run's id: the other files have the same
// bytes when the experiment runs again on the same device.
#pragma once

#include "engine/runs/disk_sync.h"
#include "engine/runs/run.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_past.h"
#include "engine/runs/run_tables.h"

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// What becomes of the file kept as `before`, where a full disk has no room for a third one. It may
/// go where the one that has the name is whole.
enum class OnFullDisk : uint8_t { KeepBefore, RemoveBefore };

/// Holds the folder: no other program of this kind can write there meanwhile. Throws RunError when
/// something cannot be written, and soon after another program has removed, replaced or changed a
/// table: such a run never becomes whole. Tables grow under their own names. Their rows are safe
/// from a kill after a quarter of a second and from a power cut after a second, and the tables end
/// at a common step when the disk is full.
class RunWriter {
public:
    /// Makes the folder; experiment.json, target.png and the headers of tables are there at once.
    /// What an earlier run left is removed, or stays whole when this one cannot begin. `measured`
    /// are the metrics that this run has but not every run. A run that goes on has a past: its
    /// rows, when it has them, come first; the run stays the same run, and keeps the checkpoints in
    /// this folder.
    RunWriter(const std::string& folder, const RunInfo&, std::span<const LaneInfo> lanes,
              const Picture& target, std::span<const MetricId> measured = {},
              const RunPast* past = nullptr);
    ~RunWriter();
    RunWriter(const RunWriter&) = delete;
    RunWriter& operator=(const RunWriter&) = delete;

    /// The run's unique id.
    const std::string& id() const { return m_id; }

    /// Takes in rows, events, gradients and pictures; the pictures are written at the end. Each
    /// batch is of one step, with the edits of the next one, so that events.csv is in order.
    void append(const RunBatch&);
    /// Writes a whole file beside the tables like OutputFolder::write(), after the disk has their
    /// rows. Returns why this file could not be written, because it is too large for the disk for
    /// example: the folder keeps the one that it has, and the run can go on.
    [[nodiscard]] Message place(const std::string& name, std::span<const std::string_view> parts,
                                const std::string& before,
                                OnFullDisk onFullDisk = OnFullDisk::KeepBefore);
    /// Writes the rest: summary.json, pictures when there are any, the files made elsewhere and
    /// manifest.json. When it returns, the disk has everything. A file that cannot be written does
    /// not keep the others from it: the error comes after them, tells why, and names all that are
    /// not written. Without this call the tables are still there.
    void finish(const RunInfo&, const LanePictures&, std::span<const MadeFile> made = {});

private:
    using Clock = std::chrono::steady_clock;
    static constexpr size_t kTables = 4;
    /// The bytes of each table, in the order of tables(), at the end of a step.
    using Mark = std::array<int64_t, kTables>;

    /// Returns the tables. steps.csv is the last one, so that after a kill the others go as far or
    /// farther.
    std::array<GrowingFile*, kTables> tables();
    Mark mark();
    void addLane(const LaneInfo&);
    void openGradients();
    void startGradients();
    void placeNew(const Picture& target, Checkpoints);
    /// Lets forks without rows of their own have what their parents add up to.
    void continueForks();
    void take(const RunBatch&);
    void flushTables();
    void cutAtCommonStep() noexcept;
    void checkOwner() const;
    void checkTables();
    void checkWhole();
    void write(const std::string& name, std::string_view content);
    /// Does so at the end, when other files follow that may still be written.
    void writeLast(const std::string& name, std::string_view content);
    void writePictures(const TaskConfig&, const LanePictures&);
    void checkWritten() const;

    OutputFolder m_folder;
    std::vector<LaneInfo> m_lanes;
    std::vector<std::string> m_names;
    std::vector<LaneTotals> m_totals;
    std::vector<RecentTimes> m_times;
    LostSamples m_lost;
    std::string m_id = {};
    int64_t m_after = 0;                    ///< rows begin after this step
    std::string m_settings;                 ///< experiment.json
    Picture m_target;                       ///< has the names of classes, too
    Message m_whyUnwritten;                 ///< of the first of these
    std::vector<Message> m_unwritten;       ///< files of the end, by name
    std::map<std::string, int64_t> m_sizes; ///< the sizes of whole files, by name
    StepTable m_steps, m_timing;
    GrowingFile m_events;
    std::optional<GrowingFile> m_gradients; ///< exists from the first count on
    Mark m_common{};                        ///< up to here all tables are written
    std::vector<Mark> m_marks;              ///< one for each step since then
    const Clock::time_point m_start = Clock::now();
    Clock::time_point m_flushed = m_start;
    Clock::time_point m_checked = m_start; ///< when the tables were last compared with their names
    DiskSync m_sync;                       ///< last, because it uses the tables
};

} // namespace halfscope
