// Tables, pictures and summary of a run. How a file becomes visible in one piece is in
// io/atomic_file.
#include "engine/runs/run_writer.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/runs/gradient_file.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_summary.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <filesystem>

namespace halfscope {

namespace {

constexpr int64_t kBlockSteps = 1024;  // that are gathered from columns at once
constexpr size_t kTextBytes = 1 << 16; // of a table, before they go to the file

std::string laneField(int32_t lane, std::span<const std::string> lanes) {
    return lane < 0 ? "all" : csvField(lanes[static_cast<size_t>(lane)]);
}

/// "path" from the root; `key` names the setting in the error.
std::string absolutePath(const std::string& key, const std::string& path) {
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(path, error);
    if (error)
        throw InputError(key + ": " + quotedText(path) +
                         " is not allowed: the current folder, from which it leads, is gone (" +
                         error.message() + "); an absolute path is");
    return whole.lexically_normal().string();
}

std::vector<std::string> namesOf(std::span<const LaneInfo> lanes) {
    std::vector<std::string> names;
    for (const LaneInfo& lane : lanes)
        names.push_back(lane.name);
    return names;
}

/// The columns that a file has while a run trains.
std::vector<StepTable::Column> columnsOf(MetricFile file, std::span<const MetricId> measured) {
    std::vector<StepTable::Column> columns;
    for (MetricId id = 0; const Metric& each : knownMetrics()) {
        const bool has = std::find(measured.begin(), measured.end(), id) != measured.end();
        if (each.file == file && (each.always || has)) columns.emplace_back(id, each);
        ++id;
    }
    return columns;
}

bool lacks(const RunSnapshot& run, const std::string& name) {
    const auto& missing = run.info().missing;
    return std::find(missing.begin(), missing.end(), name) != missing.end();
}

/// Those of a run that is there.
std::vector<StepTable::Column> columnsOf(MetricFile file, const RunSnapshot& run) {
    std::vector<StepTable::Column> columns;
    const bool noFile =
        lacks(run, file == MetricFile::Steps ? run_file::kSteps : run_file::kTiming);
    for (MetricId id = 0; const Metric& each : run.metrics()) {
        const bool expected = each.always && !noFile && !lacks(run, each.column);
        if (each.file == file && (expected || run.has(id))) columns.emplace_back(id, each);
        ++id;
    }
    return columns;
}

/// What an earlier run left in the folder must not pass for this one's, nor the picture of a lane
/// that it does not have. Only files; a link is written through.
void removeFile(const std::string& folder, const std::string& name) {
    const std::filesystem::path path = folder + "/" + name;
    std::error_code ignored;
    if (std::filesystem::is_symlink(path, ignored)) return;
    if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
}

std::vector<std::string> tableNames() {
    return {run_file::kSummary, run_file::kSteps, run_file::kEvents, run_file::kTiming,
            run_file::kGradients};
}

/// Of all lanes that a run can have without forks.
std::vector<std::string> pictureNames() {
    std::vector<std::string> names;
    for (const PrecisionPreset& preset : precisionPresets())
        for (int number = 1; number <= static_cast<int>(kMaxLanes); ++number)
            names.push_back(run_file::output(laneName(preset.precision, number)));
    return names;
}

void writeEvents(const RunSnapshot& run, std::span<const std::string> lanes,
                 const std::string& path) {
    GrowingFile file(path);
    std::string text = eventHeader();
    for (const Event& event : run.events()) {
        text += eventText(event, lanes);
        if (text.size() < kTextBytes) continue;
        file.append(text);
        text.clear();
    }
    file.append(text);
    file.finish();
}

/// Some steps of all lanes, from the columns of a run.
class Block {
public:
    Block(const RunSnapshot& run, const StepTable& table) : m_run(run), m_table(table) {}

    void read(int64_t from, int64_t to) {
        const size_t columns = m_table.columns().size();
        const auto lanes = static_cast<size_t>(m_run.laneCount());
        m_from = from;
        m_values.assign(lanes * kBlockSteps * columns, std::nullopt);
        for (size_t lane = 0; lane < lanes; ++lane)
            for (size_t c = 0; c < columns; ++c)
                m_run.column(static_cast<int>(lane), m_table.columns()[c].first)
                    .values(from, to, [&](int64_t step, double value) {
                        m_values[at(step, lane) * columns + c] = value;
                    });
    }
    std::span<const std::optional<double>> row(int64_t step, size_t lane) const {
        const size_t columns = m_table.columns().size();
        return std::span(m_values).subspan(at(step, lane) * columns, columns);
    }

private:
    size_t at(int64_t step, size_t lane) const {
        return lane * static_cast<size_t>(kBlockSteps) + static_cast<size_t>(step - m_from);
    }
    const RunSnapshot& m_run;
    const StepTable& m_table;
    int64_t m_from = 0;
    std::vector<std::optional<double>> m_values; ///< by lane, step and column
};

/// Rows in the order in which a training writes them. A lane's past before its fork is its
/// parent's.
void writeSteps(const RunSnapshot& run, StepTable& steps, StepTable* timing) {
    Block stepBlock(run, steps);
    std::optional<Block> timingBlock;
    if (timing) timingBlock.emplace(run, *timing);
    const auto isRow = [](std::span<const std::optional<double>> values) {
        return std::any_of(values.begin(), values.end(),
                           [](const auto& value) { return value.has_value(); });
    };
    for (int64_t from = 1; from <= run.lastStep(); from += kBlockSteps) {
        const int64_t to = std::min(run.lastStep(), from + kBlockSteps - 1);
        stepBlock.read(from, to);
        if (timingBlock) timingBlock->read(from, to);
        for (int64_t step = from; step <= to; ++step)
            for (int32_t lane = 0; lane < run.laneCount(); ++lane) {
                const auto at = static_cast<size_t>(lane);
                if (step <= run.lanes()[at].forkStep) continue;
                const auto values = stepBlock.row(step, at);
                if (!isRow(values)) continue;
                steps.append(step, lane, values);
                if (timing) timing->append(step, lane, timingBlock->row(step, at));
            }
    }
    steps.finish();
    if (timing) timing->finish();
}

} // namespace

std::string csvField(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string eventHeader() { return "step,lane,kind,scale_before,scale_after,tensor,text\n"; }

std::string eventText(const Event& event, std::span<const std::string> lanes) {
    return numberText(event.step) + ',' + laneField(event.lane, lanes) + ',' + nameOf(event.kind) +
           ',' + numberText(event.scaleBefore) + ',' + numberText(event.scaleAfter) + ',' +
           csvField(event.tensor) + ',' + csvField(event.text) + '\n';
}

RunConfig portableConfig(RunConfig config) {
    if (!config.task.image.empty())
        config.task.image = absolutePath("task.image", config.task.image);
    const auto place = [](LaneConfig& lane) {
        if (!lane.policyFile.empty())
            lane.policyFile = absolutePath("precision.policy", lane.policyFile);
    };
    for (LaneConfig& lane : config.lanes)
        place(lane);
    for (LaneFork& fork : config.forks)
        place(fork.lane);
    checkConfig(config); // the folder's name may be none that JSON can hold
    return config;
}

StepTable::StepTable(const std::string& path, std::span<const std::string> lanes,
                     std::vector<Column> columns)
    : m_columns(std::move(columns)), m_values(m_columns.size()), m_file(path) {
    for (const std::string& lane : lanes)
        addLane(lane);
    m_text = "step,lane";
    for (const auto& [id, metric] : m_columns)
        m_text += ',' + csvField(metric.column);
    m_text += '\n'; // waits: a file to which nothing was written leaves an earlier one alone
}

void StepTable::addLane(const std::string& name) { m_lanes.push_back(csvField(name)); }

void StepTable::append(int64_t step, int32_t lane, std::span<const std::optional<double>> values) {
    m_text += numberText(step) + ',' + m_lanes[static_cast<size_t>(lane)];
    for (size_t i = 0; i < m_columns.size(); ++i) {
        m_text += ',';
        if (values[i]) m_text += metricText(m_columns[i].second.kind, *values[i]);
    }
    m_text += '\n';
    if (m_text.size() >= kTextBytes) flush();
}

void StepTable::append(const StepRow& row) {
    for (size_t i = 0; i < m_columns.size(); ++i) {
        const MetricId id = m_columns[i].first;
        m_values[i] = row.measured(id) ? std::optional(row[id]) : std::nullopt;
    }
    append(row.step, row.lane, m_values);
}

void StepTable::flush() {
    m_file.append(m_text);
    m_text.clear();
}

void StepTable::finish() {
    flush();
    m_file.finish();
}

RunWriter::RunWriter(std::string folder, const RunInfo& info, std::span<const LaneInfo> lanes,
                     const Picture& target, std::span<const MetricId> measured)
    : m_folder((makeOutputFolder(folder), std::move(folder))), m_lock(m_folder),
      m_lanes(lanes.begin(), lanes.end()), m_names(namesOf(lanes)), m_totals(lanes.size()),
      m_times(lanes.size()),
      m_steps(pathTo(run_file::kSteps), m_names, columnsOf(MetricFile::Steps, measured)),
      m_timing(pathTo(run_file::kTiming), m_names, columnsOf(MetricFile::Timing, measured)),
      m_events(pathTo(run_file::kEvents)) {
    const std::string text = configText(portableConfig(info.recorded));
    writePng(target, pathTo(run_file::kTarget));
    writeFileAtomically(pathTo(run_file::kExperiment), text); // last of what can fail
    for (const auto& names : {tableNames(), pictureNames()})
        for (const std::string& name : names)
            removeFile(m_folder, name);
    m_steps.flush();
    m_timing.flush();
    m_events.append(eventHeader());
}

void RunWriter::addLane(const LaneInfo& lane) {
    m_lanes.push_back(lane);
    m_names.push_back(lane.name);
    m_totals.emplace_back();
    m_times.emplace_back();
    m_steps.addLane(lane.name);
    m_timing.addLane(lane.name);
}

void RunWriter::append(const RunBatch& batch) {
    for (const LaneInfo& lane : batch.lanes)
        addLane(lane);
    for (const StepRow& row : batch.rows) {
        m_steps.append(row);
        m_timing.append(row);
        m_totals[static_cast<size_t>(row.lane)].add(row);
        m_times[static_cast<size_t>(row.lane)].add(row.deviceSeconds());
    }
    m_steps.flush();
    m_timing.flush();
    for (const Event& event : batch.events) {
        m_events.append(eventText(event, m_names));
        if (event.lane >= 0) m_totals[static_cast<size_t>(event.lane)].add(event);
    }
    for (const auto& ranges : batch.gradients) {
        if (!m_gradients) {
            m_gradients.emplace(pathTo(run_file::kGradients));
            m_gradients->append(gradientHeader());
        }
        for (size_t lane = 0; lane < ranges.size(); ++lane)
            m_gradients->append(gradientLine(ranges[lane], m_names[lane]));
    }
}

void RunWriter::finish(const RunInfo& info, const LanePictures& pictures) {
    m_steps.finish();
    m_events.finish();
    m_timing.finish();
    if (m_gradients) m_gradients->finish();
    writeFileAtomically(pathTo(run_file::kExperiment), configText(portableConfig(info.recorded)));
    for (size_t i = 0; i < pictures.outputs.size(); ++i)
        writePng(pictures.outputs[i], pathTo(run_file::output(m_names[i])));
    // a fork may have given the lanes before it other titles
    const std::vector<LaneInfo> lanes = lanesOf(info.recorded);
    for (size_t i = 0; i < std::min(lanes.size(), m_lanes.size()); ++i)
        m_lanes[i].title = lanes[i].title;
    std::vector<double> medians;
    for (const RecentTimes& times : m_times)
        medians.push_back(times.median());
    writeFileAtomically(pathTo(run_file::kSummary), summaryText(info, m_lanes, m_totals, medians));
}

std::vector<std::string> filesOf(const RunSnapshot& run) {
    std::vector<std::string> names{run_file::kExperiment, run_file::kSteps,     run_file::kEvents,
                                   run_file::kTiming,     run_file::kGradients, run_file::kSummary,
                                   run_file::kTarget};
    for (const LaneInfo& lane : run.lanes())
        names.push_back(run_file::output(lane.name));
    return names;
}

namespace {

/// The parts of saveRun() by file; each says whether it wrote one.
class Saving {
public:
    Saving(const RunSnapshot& run, const std::string& folder)
        : m_run(run), m_folder(folder), m_names(namesOf(run.lanes())) {}

    SavedFiles all() {
        makeOutputFolder(m_folder);
        const FolderLock lock(m_folder);
        writeSettings();
        writeTables();
        if (!lacks(m_run, run_file::kEvents)) {
            writeEvents(m_run, m_names, pathTo(run_file::kEvents));
            wrote(run_file::kEvents);
        }
        writeGradientFile();
        writeSummary();
        writePictures();
        for (const auto& names : {tableNames(), pictureNames()})
            for (const std::string& name : names)
                if (std::find(m_saved.names.begin(), m_saved.names.end(), name) ==
                    m_saved.names.end())
                    removeFile(m_folder, name);
        return std::move(m_saved);
    }

private:
    std::string pathTo(const std::string& name) const { return m_folder + "/" + name; }
    void wrote(const std::string& name) { m_saved.names.push_back(name); }

    void writeSettings() {
        try {
            const std::string text = configText(portableConfig(m_run.info().recorded));
            writeFileAtomically(pathTo(run_file::kExperiment), text);
            wrote(run_file::kExperiment);
        } catch (const InputError& error) {
            m_saved.settingsError = error.what();
        }
    }
    void writeTables() {
        StepTable steps(pathTo(run_file::kSteps), m_names, columnsOf(MetricFile::Steps, m_run));
        std::optional<StepTable> timing;
        if (auto columns = columnsOf(MetricFile::Timing, m_run); !columns.empty())
            timing.emplace(pathTo(run_file::kTiming), m_names, std::move(columns));
        writeSteps(m_run, steps, timing ? &*timing : nullptr);
        wrote(run_file::kSteps);
        if (timing) wrote(run_file::kTiming);
    }
    void writeGradientFile() {
        std::vector<const GradientHistory*> histories;
        for (int lane = 0; lane < m_run.laneCount(); ++lane)
            histories.push_back(&m_run.gradients(lane));
        if (writeGradients(histories, m_names, pathTo(run_file::kGradients)))
            wrote(run_file::kGradients);
    }
    void writeSummary() {
        std::string text = m_run.info().summary;
        if (text.empty()) {
            if (!m_run.info().device) return; // of a saved run without one
            std::vector<LaneTotals> totals;
            std::vector<double> medians;
            for (int lane = 0; lane < m_run.laneCount(); ++lane) {
                totals.push_back(m_run.totals(lane));
                medians.push_back(m_run.medianDeviceSeconds(lane));
            }
            text = summaryText(m_run.info(), m_run.lanes(), totals, medians);
        }
        writeFileAtomically(pathTo(run_file::kSummary), text);
        wrote(run_file::kSummary);
    }
    void writePictures() {
        const auto write = [this](const Picture& picture, const std::string& name) {
            if (picture.width < 1) return; // not painted yet
            writePng(picture, pathTo(name));
            wrote(name);
        };
        write(m_run.target(), run_file::kTarget);
        const std::vector<Picture>& outputs = m_run.pictures().outputs;
        for (size_t i = 0; i < outputs.size(); ++i)
            write(outputs[i], run_file::output(m_names[i]));
    }

    const RunSnapshot& m_run;
    const std::string& m_folder;
    std::vector<std::string> m_names;
    SavedFiles m_saved;
};

} // namespace

SavedFiles saveRun(const RunSnapshot& run, const std::string& folder) {
    return Saving(run, folder).all();
}

} // namespace halfscope
