// The tables of a run, field by field, with the bounds of what a run can write.
#include "engine/runs/run_reader.h"

#include "engine/core/error.h"
#include "engine/io/input_file.h"
#include "engine/runs/gradient_file.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_manifest.h"
#include "engine/runs/run_summary.h"
#include "engine/runs/saved_forks.h"
#include "engine/runs/saved_pictures.h"
#include "engine/runs/table_reader.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <utility>

namespace halfscope {
namespace {

constexpr int64_t kMostSteps = 1'000'000'000; // the limit of run.steps
constexpr int64_t kMostWhole = int64_t{1} << 53;
constexpr size_t kRowsBetween = size_t{1} << 13; // rows between two calls of goesOn

/// The columns of a table of steps, and which metric each one holds.
struct StepColumns {
    struct Column {
        int place;
        MetricId id;
        ValueKind kind;
        bool mayBeEmpty;
    };
    int step = 0, lane = 0;
    std::vector<Column> metrics;
};

/// Returns a metric that only the file knows.
Metric fileMetric(const std::string& column, MetricFile file) {
    Metric metric;
    metric.column = column;
    metric.title = metric.shortTitle = Message::data(column);
    metric.about = phrase("Metrics", "A column that this version of the program does not know.");
    metric.axis = PlotAxis::Linear;
    metric.file = file;
    metric.kind = ValueKind::Float64;
    return metric;
}

double valueOf(const TableReader& table, const StepColumns::Column& column) {
    switch (column.id) {
    case metric::Scale: return double{table.numberFromZero<float>(column.place)};
    case metric::GrowthTracker:
        return static_cast<double>(
            table.whole(column.place, 0, std::numeric_limits<int32_t>::max()));
    case metric::Epoch:
    case metric::Batch: return static_cast<double>(table.whole(column.place, 1, kMostSteps));
    case metric::SkippedSoFar: return static_cast<double>(table.whole(column.place, 0, kMostSteps));
    case metric::Accuracy:
    case metric::TrainingAccuracy:
    case metric::TestAccuracy:
    case metric::UnchangedWeights:
    case metric::UnchangedCopies:
    case metric::GradientError:
    case metric::DeviceSeconds:
    case metric::WallSeconds: return table.numberFromZero<double>(column.place);
    default: break;
    }
    switch (column.kind) {
    case ValueKind::Float32: return double{table.number<float>(column.place)};
    case ValueKind::Float64: return table.number<double>(column.place);
    case ValueKind::Integer:
        return static_cast<double>(table.whole(column.place, -kMostWhole, kMostWhole));
    case ValueKind::Flag: return static_cast<double>(table.whole(column.place, 0, 1));
    }
    return 0;
}

/// The places of the columns of events.csv; -1 for those that it need not have.
struct EventColumns {
    explicit EventColumns(const TableReader& table)
        : step(table.wanted("step")), lane(table.wanted("lane")), kind(table.wanted("kind")),
          before(table.find("scale_before")), after(table.find("scale_after")),
          tensor(table.find("tensor")), text(table.find("text")) {}
    int step, lane, kind, before, after, tensor, text;
};

/// Takes any name, because a later version may know more kinds of events.
void readKind(const TableReader& table, int column, Event& event) {
    if (!isKindName(table.text(column)))
        table.refuse(column, phrase("Files", "a kind of event, such as overflow: 1 to 40 "
                                             "lower-case letters, digits and hyphens"));
    setKind(event, table.text(column));
}

/// Returns the first step that this row of events and those behind it may have, or 0 if the row
/// does not tell it: they are written step by step, but an edit may come a step early, and so may
/// what a later version tells.
int64_t firstStepFrom(const TableReader& table, const EventColumns& at, int64_t last) {
    const std::string_view text = table.fieldFound(at.step), kind = table.fieldFound(at.kind);
    int64_t step = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
    if (error != std::errc() || end != text.data() + text.size() || step > last) return 0;
    Event event;
    setKind(event, kind);
    const bool early = event.kind == EventKind::Edit || event.kind == EventKind::Other;
    return early ? step - 1 : step;
}

/// Reads one file after the other and reports its progress by their bytes.
class Reading {
public:
    Reading(const std::string& folder, const RunConfig& config,
            const std::function<bool(double)>& goesOn)
        : m_folder(folder), m_goesOn(goesOn) {
        RunInfo info;
        info.config = settingsAtEnd(config);
        info.recorded = config;
        info.folder = folder;
        m_planned = lanesOf(config);
        for (const LaneInfo& lane : m_planned)
            m_names.push_back(lane.name);
        std::vector<LaneInfo> lanes(m_planned.begin(),
                                    m_planned.begin() +
                                        static_cast<std::ptrdiff_t>(config.lanes.size()));
        m_ends.resize(lanes.size());
        takeManifest(info);
        m_run = std::make_shared<Run>(std::move(info), std::move(lanes), target());
        for (const char* name :
             {run_file::kSteps, run_file::kTiming, run_file::kEvents, run_file::kGradients})
            m_all += bytesOf(name);
    }

    std::shared_ptr<Run> read() {
        const bool done = readSteps() && (!isThere(run_file::kTiming) || readTiming()) &&
                          (!isThere(run_file::kEvents) || readEvents()) && readGradientFile();
        if (!done) return nullptr;
        RunBatch last;
        last.info = m_run->info();
        readSummary(*last.info);
        last.pictures = savedPictures(m_run->now(), m_missing);
        last.info->missing = m_missing;
        m_run->append(std::move(last));
        return m_run;
    }

private:
    struct LaneEnd {
        int64_t step = 0;
        std::optional<int64_t> skipped = 0; ///< nothing when the steps before are not there
    };

    std::string pathTo(const std::string& name) const {
        return (std::filesystem::path(m_folder) / name).string();
    }
    double bytesOf(const char* name) const {
        std::error_code ignored;
        const auto bytes = std::filesystem::file_size(pathTo(name), ignored);
        return ignored ? 0.0 : static_cast<double>(bytes);
    }
    bool exists(const std::string& name) const {
        std::error_code ignored;
        return std::filesystem::exists(pathTo(name), ignored);
    }
    bool isThere(const char* name) {
        if (exists(name)) return true;
        lacks(name);
        return false;
    }
    void lacks(MissingPart part) {
        if (std::find(m_missing.begin(), m_missing.end(), part) == m_missing.end())
            m_missing.push_back(std::move(part));
    }
    /// Notes that all of a file or column is missing.
    void lacks(const std::string& name) { lacks({MissingPart::Kind::All, name}); }
    /// Notes where a table ends after its rows were read: the steps up to there are whole. This
    /// says more than the sizes in the manifest do.
    void lacksAfter(const char* name, int64_t step, const Message& reason = {}) {
        std::erase(m_missing, MissingPart{MissingPart::Kind::End, name});
        const bool told = std::any_of(m_missing.begin(), m_missing.end(), [&](const auto& part) {
            return part.kind == MissingPart::Kind::Rows && part.name == name;
        });
        if (!told) lacks({MissingPart::Kind::Rows, name, step, reason});
    }
    /// Reads rows of a table; returns why they end before it does. A damaged row ends its table as
    /// if the file were cut off there, but must not hide the steps before it: until the run has a
    /// whole step, its error is thrown.
    template <class Read>
    Message damageIn(const Read& read) {
        try {
            read();
        } catch (const InputError& error) {
            hand();
            if (m_run->step() <= m_after) throw;
            return error.message();
        }
        return {};
    }

    /// Reads what the run said of itself when it wrote its last file.
    void takeManifest(RunInfo& info) {
        if (!exists(run_file::kManifest)) return; // written by an earlier version
        RunManifest manifest;
        try {
            manifest = readManifest(pathTo(run_file::kManifest));
        } catch (const InputError&) {
            lacks(run_file::kManifest);
            return;
        }
        info.id = manifest.run;
        if (!manifest.whole) lacks({MissingPart::Kind::RunEnd});
        m_after = manifest.after;
        if (m_after > 0) std::fill(m_ends.begin(), m_ends.end(), LaneEnd{m_after, std::nullopt});
        for (const auto& [name, bytes] : manifest.files) {
            if (!exists(name))
                lacks(name);
            else if (bytesOf(name.c_str()) < static_cast<double>(bytes))
                lacks({MissingPart::Kind::End, name});
        }
    }

    /// A file that cannot be read is no reason to delete it when the run is saved there.
    std::shared_ptr<const TargetPicture> target() {
        if (!exists(run_file::kTarget)) return sharedTarget(Picture());
        try {
            return sharedTarget(readPicture(pathTo(run_file::kTarget)));
        } catch (const InputError&) {
            lacks(run_file::kTarget);
            return damagedTarget();
        }
    }

    /// Returns the lane of a field. A fork may not have begun before the run ended; it exists from
    /// its first row or event on.
    int32_t laneAt(const TableReader& table, int column, bool mayBeAll) {
        const int32_t lane = table.lane(column, m_names, mayBeAll);
        while (lane >= static_cast<int32_t>(m_ends.size())) {
            hand();
            const LaneInfo& next = m_planned[m_ends.size()];
            const auto parent = static_cast<size_t>(next.parent);
            if (parent >= m_ends.size() || m_ends[parent].step < next.forkStep)
                table.refuse(
                    column,
                    {phrase("Files", "%1 from step %2 on, after its parent's steps before it"),
                     next.name, next.forkStep + 1});
            RunBatch fork;
            fork.lanes.push_back(next);
            m_run->append(std::move(fork));
            const int added = static_cast<int>(m_ends.size());
            m_ends.push_back({next.forkStep, m_run->now().totals(added).skips().skipped()});
            if (next.forkStep <= m_after) m_ends.back() = {m_after, std::nullopt};
        }
        return lane;
    }

    bool goesOn(double share, const char* name) const {
        if (!m_goesOn) return true;
        return m_goesOn(m_all > 0 ? std::min(1.0, (m_before + share * bytesOf(name)) / m_all) : 1);
    }
    /// Called after each row; now and then it passes what was read to the run.
    bool rowDone(const TableReader& table, const char* name) {
        if (++m_sinceTold < kRowsBetween) return true;
        m_sinceTold = 0;
        hand();
        return goesOn(table.shareRead(), name);
    }
    void hand() {
        if (!m_batch.empty()) m_run->append(std::exchange(m_batch, {}));
    }
    void fileDone(const char* name) {
        hand();
        m_before += bytesOf(name);
    }

    /// Returns which metrics a table has, and adds those that this version does not know.
    StepColumns columnsOf(const TableReader& table, MetricFile file, const char* name) {
        StepColumns columns;
        columns.step = table.wanted("step");
        columns.lane = table.wanted("lane");
        RunBatch added;
        const auto next = static_cast<MetricId>(m_run->metrics().size());
        for (int place = 0; place < static_cast<int>(table.columns().size()); ++place) {
            const std::string& column = table.columns()[static_cast<size_t>(place)];
            if (place == columns.step || place == columns.lane) continue;
            MetricId id = m_run->now().metricNamed(column);
            if (std::find(m_seen.begin(), m_seen.end(), column) != m_seen.end())
                throw InputError(phrase("Files", "%1: the column %2 is in %3 too"), table.place(),
                                 column, run_file::kSteps);
            m_seen.push_back(column);
            const bool known = id >= 0;
            if (!known) {
                id = next + static_cast<MetricId>(added.metrics.size());
                added.metrics.push_back(fileMetric(column, file));
            }
            const Metric& metric =
                known ? m_run->metrics()[static_cast<size_t>(id)] : added.metrics.back();
            // a session whose losses are damaged is exported without them
            const bool mayBeEmpty = !known || !metric.always || id == metric::Loss;
            columns.metrics.push_back({place, id, metric.kind, mayBeEmpty});
        }
        if (columns.metrics.empty())
            throw InputError(phrase("Files", "%1: %2 has no column of values beside step and lane"),
                             table.place(), name);
        for (const Metric& metric : knownMetrics())
            if (metric.file == file && metric.always && table.find(metric.column) < 0)
                lacks(metric.column);
        if (!added.empty()) m_run->append(std::move(added));
        return columns;
    }

    /// Takes all of a row or, if it is damaged, nothing.
    void readRow(const TableReader& table, const StepColumns& columns) {
        StepRow row(table.whole(columns.step, 1, kMostSteps), laneAt(table, columns.lane, false));
        std::vector<Sample> samples;
        LaneEnd end = m_ends[static_cast<size_t>(row.lane)];
        if (row.step != end.step + 1)
            throw InputError(
                phrase("Files", "%1, step: \"%2\" is not allowed: the next step of %3 is %4"),
                table.place(), row.step, m_names[static_cast<size_t>(row.lane)], end.step + 1);
        end.step = row.step;
        const StepColumns::Column* tally = nullptr;
        for (const StepColumns::Column& each : columns.metrics) {
            if (each.mayBeEmpty && table.text(each.place).empty()) continue;
            const double value = valueOf(table, each);
            if (each.id == metric::SkippedSoFar) tally = &each;
            if (each.id < metric::kKnown)
                row.set(each.id, value);
            else
                samples.push_back({row.step, row.lane, each.id, value});
        }
        if (end.skipped) *end.skipped += row.has(kSkipped) ? 1 : 0;
        if (tally && !end.skipped) end.skipped = row.skippedSoFar();
        if (tally && row.measured(metric::Skipped))
            table.whole(tally->place, *end.skipped, *end.skipped);
        m_ends[static_cast<size_t>(row.lane)] = end;
        m_batch.samples.insert(m_batch.samples.end(), samples.begin(), samples.end());
        m_batch.rows.push_back(row);
        m_order.push_back(static_cast<uint8_t>(row.lane));
    }

    /// Returns the lane whose row a step of `lane` is: before its fork, its parent.
    int32_t laneOf(int32_t lane, int64_t step) const {
        for (;;) {
            const LaneInfo& info = m_planned[static_cast<size_t>(lane)];
            if (info.parent < 0 || step > info.forkStep) return lane;
            lane = info.parent;
        }
    }

    bool readSteps() {
        TableReader table(pathTo(run_file::kSteps));
        if (isEmpty(table, run_file::kSteps)) return true;
        const StepColumns columns = columnsOf(table, MetricFile::Steps, run_file::kSteps);
        bool goes = true;
        const Message damage = damageIn([&] {
            while (goes && table.next()) {
                readRow(table, columns);
                goes = rowDone(table, run_file::kSteps);
            }
        });
        if (!goes) return false;
        fileDone(run_file::kSteps);
        if (table.cutOff() || !damage.empty()) lacksAfter(run_file::kSteps, m_run->step(), damage);
        return true;
    }

    /// Whether the first line of a table never reached the disk.
    bool isEmpty(const TableReader& table, const char* name) {
        if (!table.columns().empty()) return false;
        lacks(name);
        return true;
    }

    /// Reads the same rows as in steps.csv, as far as the file goes.
    bool readTiming() {
        TableReader table(pathTo(run_file::kTiming));
        if (isEmpty(table, run_file::kTiming)) return true;
        const StepColumns columns = columnsOf(table, MetricFile::Timing, run_file::kTiming);
        std::vector<int64_t> steps;
        for (const LaneInfo& lane : m_run->lanes())
            steps.push_back(std::max(lane.forkStep, m_after));
        size_t row = 0;
        bool goes = true, more = false;
        const Message damage = damageIn([&] {
            for (; goes && row < m_order.size() && table.next(); ++row) {
                const size_t lane = m_order[row];
                readTime(table, columns, static_cast<int32_t>(lane), steps[lane] + 1);
                ++steps[lane];
                goes = rowDone(table, run_file::kTiming);
            }
            more = goes && row == m_order.size() && table.next();
        });
        if (!goes) return false;
        fileDone(run_file::kTiming);
        if (row < m_order.size())
            lacksAfter(run_file::kTiming, steps[m_order[row]], damage);
        else if (more || !damage.empty()) // whatever stands behind the rows
            lacksAfter(run_file::kSteps, m_run->step());
        return true;
    }

    /// Takes all of a row or, if it is damaged, nothing.
    void readTime(const TableReader& table, const StepColumns& columns, int32_t lane,
                  int64_t step) {
        table.whole(columns.step, step, step);
        if (table.lane(columns.lane, m_names, false) != lane)
            table.refuse(columns.lane, {phrase("Files", "%1, as in this row of steps.csv"),
                                        m_names[static_cast<size_t>(lane)]});
        std::vector<Sample> samples;
        for (const StepColumns::Column& each : columns.metrics) {
            if (each.mayBeEmpty && table.text(each.place).empty()) continue;
            const double value = valueOf(table, each);
            for (int32_t own = lane; own < m_run->now().laneCount(); ++own)
                if (laneOf(own, step) == lane) samples.push_back({step, own, each.id, value});
        }
        m_batch.samples.insert(m_batch.samples.end(), samples.begin(), samples.end());
    }

    bool readEvents() {
        TableReader table(pathTo(run_file::kEvents));
        if (isEmpty(table, run_file::kEvents)) return true;
        const EventColumns columns(table);
        // an edit belongs to the next step, or to the one after it
        const int64_t last = m_run->now().lastStep() + 2;
        int64_t from = 0; // the first step that the rows from the last one on may have
        const auto lookAt = [&] { from = std::max(from, firstStepFrom(table, columns, last)); };
        bool goes = true;
        const Message damage = damageIn([&] {
            while (goes && table.next()) {
                lookAt();
                readEvent(table, columns, last);
                goes = rowDone(table, run_file::kEvents);
            }
        });
        if (!goes) return false;
        fileDone(run_file::kEvents);
        if (!damage.empty()) {
            lookAt(); // at a row that could not be divided
            lacks({MissingPart::Kind::Rest, run_file::kEvents, std::max<int64_t>(from - 1, 0),
                   damage});
        } else if (table.cutOff()) {
            lacks({MissingPart::Kind::LastLine, run_file::kEvents});
        }
        return true;
    }

    /// Leaves out an event whose rows are not there, which is behind the step `last`.
    void readEvent(const TableReader& table, const EventColumns& at, int64_t last) {
        Event event;
        event.step = table.whole(at.step, 0, kMostSteps + 2);
        if (event.step > last) return lacksAfter(run_file::kSteps, m_run->step());
        event.lane = laneAt(table, at.lane, true);
        readKind(table, at.kind, event);
        if (isAhead(event)) return lacksAfter(run_file::kSteps, m_run->step());
        if (at.before >= 0) event.scaleBefore = table.number<float>(at.before);
        if (at.after >= 0) event.scaleAfter = table.number<float>(at.after);
        if (at.tensor >= 0) event.tensor = table.text(at.tensor);
        if (at.text >= 0) event.text = Message::data(table.text(at.text));
        recognizeFork(event, m_planned);
        m_batch.events.push_back(std::move(event));
    }

    /// Whether an event is of rows that are not there. Edits are of a step to come, and what a
    /// later version tells may be, too.
    bool isAhead(const Event& event) const {
        return event.kind != EventKind::Edit && event.kind != EventKind::Other &&
               std::all_of(m_ends.begin(), m_ends.end(),
                           [&](const LaneEnd& end) { return event.step > end.step; });
    }

    bool readGradientFile() {
        if (!exists(run_file::kGradients)) return true; // only a run that counts gradients has it
        if (bytesOf(run_file::kGradients) == 0) {
            lacks(run_file::kGradients);
            return true;
        }
        Message damage;
        bool cutOff = false;
        const auto lanes = readGradients(
            pathTo(run_file::kGradients), names(), m_run->step(),
            [this](double share) { return goesOn(share, run_file::kGradients); },
            m_run->step() > m_after ? &damage : nullptr, &cutOff);
        if (!lanes) return false;
        if (!damage.empty())
            lacks({MissingPart::Kind::Rest, run_file::kGradients, 0, damage});
        else if (cutOff)
            lacks({MissingPart::Kind::LastLine, run_file::kGradients});
        for (const GradientHistory& each : *lanes)
            m_batch.savedGradients.push_back(each.columns());
        hand();
        return true;
    }

    void readSummary(RunInfo& info) {
        if (!isThere(run_file::kSummary)) return;
        info.summary = readFile(pathTo(run_file::kSummary), kMostSummaryBytes);
        TrainedOn trained;
        try {
            trained = trainedOnOf(info.summary, pathTo(run_file::kSummary), names(), m_run->step());
        } catch (const InputError&) {
            const bool damaged = info.summary.empty() || tablesAreCut();
            info.summary.clear();
            if (!damaged) throw;
            lacks(run_file::kSummary); // it lacks one that fits the rows that are left
            return;
        }
        info.device = std::move(trained.device);
        info.memory = std::move(trained.memory);
        info.outcome = trained.outcome;
        info.program = std::move(trained.program);
        info.compiler = std::move(trained.compiler);
    }

    bool tablesAreCut() const {
        return std::any_of(m_missing.begin(), m_missing.end(), [](const MissingPart& part) {
            if (part.kind == MissingPart::Kind::Shares) return false;
            return part.kind != MissingPart::Kind::All || part.name == run_file::kSteps;
        });
    }

    /// Returns the names of the lanes that the run has.
    std::vector<std::string> names() const {
        return {m_names.begin(), m_names.begin() + static_cast<std::ptrdiff_t>(m_ends.size())};
    }

    const std::string& m_folder;
    const std::function<bool(double)>& m_goesOn;
    std::vector<LaneInfo> m_planned;  ///< all lanes, with all forks
    std::vector<std::string> m_names; ///< of the planned lanes
    std::vector<LaneEnd> m_ends;      ///< the state after the last row of each lane
    std::vector<uint8_t> m_order;     ///< the lane of each row of steps.csv
    std::vector<std::string> m_seen;  ///< names of metrics' columns
    std::vector<MissingPart> m_missing;
    RunBatch m_batch;               ///< read, but not yet given to the run
    int64_t m_after = 0;            ///< the rows begin after this step
    double m_all = 0, m_before = 0; ///< bytes of all files, and of those that are done
    size_t m_sinceTold = 0;         ///< rows since progress was last told
    std::shared_ptr<Run> m_run;
};

} // namespace

bool holdsSavedRun(const std::string& folder) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::path(folder) / run_file::kSteps, ignored);
}

std::shared_ptr<Run> readRun(const std::string& folder, const std::function<bool(double)>& goesOn) {
    const auto path = std::filesystem::path(folder) / run_file::kExperiment;
    return readRun(folder, readConfig(path.string()), goesOn);
}

std::shared_ptr<Run> readRun(const std::string& folder, const RunConfig& config,
                             const std::function<bool(double)>& goesOn) {
    return Reading(folder, config, goesOn).read();
}

} // namespace halfscope
