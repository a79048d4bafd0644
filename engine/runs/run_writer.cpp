// Writes the files of a run that is training. How a single file becomes safe is in io/growing_file.
#include "engine/runs/run_writer.h"

#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/runs/gradient_file.h"
#include "engine/runs/output_file.h"
#include "engine/runs/run_manifest.h"
#include "engine/runs/run_summary.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <filesystem>
#include <memory>

namespace halfscope {

namespace {

constexpr std::chrono::milliseconds kFlushAfter{250};
constexpr std::chrono::seconds kSyncAfter{1}; // shorter runs reach the disk when they end
constexpr std::chrono::seconds kCheckAfter{2};

std::vector<std::string> namesOf(std::span<const LaneInfo> lanes) {
    std::vector<std::string> names;
    for (const LaneInfo& lane : lanes)
        names.push_back(lane.name);
    return names;
}

/// Returns the columns that a file has while a run trains.
std::vector<StepTable::Column> columnsOf(MetricFile file, std::span<const MetricId> measured) {
    std::vector<StepTable::Column> columns;
    for (MetricId id = 0; const Metric& each : knownMetrics()) {
        const bool has = std::find(measured.begin(), measured.end(), id) != measured.end();
        if (each.file == file && (each.always || has)) columns.emplace_back(id, each);
        ++id;
    }
    return columns;
}

} // namespace

RunWriter::RunWriter(const std::string& folder, const RunInfo& info,
                     std::span<const LaneInfo> lanes, const Picture& target,
                     std::span<const MetricId> measured, const RunPast* past)
    : m_folder(folder), m_lanes(lanes.begin(), lanes.end()), m_names(namesOf(lanes)),
      m_totals(lanes.size()), m_times(lanes.size()), m_id(past ? past->run : newRunId()),
      m_settings(configText(portableConfig(info.recorded))), m_target(target),
      m_steps(m_folder, run_file::kSteps, m_names, columnsOf(MetricFile::Steps, measured)),
      m_timing(m_folder, run_file::kTiming, m_names, columnsOf(MetricFile::Timing, measured)),
      m_events(m_folder, run_file::kEvents) {
    m_events.append(eventHeader());
    std::error_code ignored;
    const bool goesOnHere = past && std::filesystem::equivalent(past->folder, folder, ignored);
    if (past) m_after = past->after();
    if (past) past->forEach([this](const RunBatch& batch) { take(batch); });
    if (past && !past->gradients.empty()) {
        openGradients();
        m_gradients->append(past->gradients);
    }
    for (GrowingFile* const table : tables())
        if (table) past ? table->sync() : table->flush(); // losing headers alone is no loss
    placeNew(target, goesOnHere ? Checkpoints::Keep : Checkpoints::Remove);
}

/// Puts all files that are there from the start in place of an earlier run's.
void RunWriter::placeNew(const Picture& target, Checkpoints checkpoints) {
    const auto whole = [this](const char* name, const std::string& content) {
        auto file = std::make_unique<GrowingFile>(m_folder, name);
        file->append(content);
        file->sync();
        m_sizes[name] = file->written();
        return file;
    };
    const auto picture = whole(run_file::kTarget, pngBytes(target));
    const auto settings = whole(run_file::kExperiment, m_settings);
    const auto manifest = whole(run_file::kManifest, manifestText({m_id, false, {}, m_after}));
    m_sizes.erase(run_file::kManifest);
    std::vector<GrowingFile*> files{settings.get(), picture.get()};
    for (GrowingFile* const table : tables())
        if (table) files.push_back(table);
    files.push_back(manifest.get());
    replaceRun(m_folder, files, checkpoints);
    m_common = mark();
    for (GrowingFile* const table : tables())
        if (table) m_sync.add(table->number());
}

RunWriter::~RunWriter() {
    try {
        flushTables();
    } catch (const std::exception&) {
        cutAtCommonStep(); // a destructor cannot report errors
    }
}

std::array<GrowingFile*, RunWriter::kTables> RunWriter::tables() {
    return {m_gradients ? &*m_gradients : nullptr, &m_timing.file(), &m_events, &m_steps.file()};
}

RunWriter::Mark RunWriter::mark() {
    Mark bytes{};
    for (size_t i = 0; const GrowingFile* const table : tables())
        bytes[i++] = table ? table->appended() : 0;
    return bytes;
}

void RunWriter::addLane(const LaneInfo& lane) {
    m_lanes.push_back(lane);
    m_names.push_back(lane.name);
    m_totals.emplace_back();
    m_times.emplace_back();
    m_steps.addLane(lane.name);
    m_timing.addLane(lane.name);
}

void RunWriter::openGradients() {
    m_gradients.emplace(m_folder, run_file::kGradients);
    m_gradients->append(gradientHeader());
}

void RunWriter::startGradients() {
    openGradients();
    m_gradients->flush();
    m_gradients->place();
    m_folder.sync();
    m_common[0] = m_gradients->written();
    for (Mark& each : m_marks)
        each[0] = m_common[0];
    m_sync.add(m_gradients->number());
}

void RunWriter::append(const RunBatch& batch) {
    try {
        take(batch);
        m_marks.push_back(mark());
        if (Clock::now() - m_flushed >= kFlushAfter) flushTables();
        if (m_flushed - m_checked >= kCheckAfter) checkTables();
    } catch (...) { // also when there is no memory
        cutAtCommonStep();
        throw;
    }
}

void RunWriter::continueForks() {
    for (size_t i = 0; i < m_lanes.size(); ++i)
        if (const LaneInfo& lane = m_lanes[i]; lane.parent >= 0)
            m_totals[i].continueFrom(m_totals[static_cast<size_t>(lane.parent)], lane.forkStep,
                                     static_cast<int32_t>(i), lane.scalesAnew);
}

void RunWriter::take(const RunBatch& batch) {
    for (const LaneInfo& lane : batch.lanes)
        addLane(lane);
    continueForks();
    for (const StepRow& row : batch.rows) {
        m_steps.append(row);
        m_timing.append(row);
        m_totals[static_cast<size_t>(row.lane)].add(row);
        m_times[static_cast<size_t>(row.lane)].add(row.deviceSeconds());
    }
    std::vector<const Event*> events;
    for (const Event& event : batch.events) {
        events.push_back(&event);
        m_lost.add(event);
        for (size_t lane = 0; lane < m_totals.size(); ++lane)
            if (concernsLane(event, lane)) m_totals[lane].add(event);
    }
    appendEvents(m_events, std::move(events), m_names);
    for (const auto& ranges : batch.gradients) {
        if (!m_gradients) startGradients();
        for (size_t lane = 0; lane < ranges.size(); ++lane)
            m_gradients->append(gradientLine(ranges[lane], m_names[lane]));
    }
}

void RunWriter::flushTables() {
    for (GrowingFile* const table : tables())
        if (table) table->flush();
    m_common = mark();
    m_marks.clear();
    m_flushed = Clock::now();
    if (m_flushed - m_start >= kSyncAfter) m_sync.start();
    if (const int error = m_sync.error())
        failFile(m_folder.path(), phrase("Files", "%1: cannot write to disk: %2"), error);
}

void RunWriter::cutAtCommonStep() noexcept {
    const auto all = tables();
    for (GrowingFile* const table : all) {
        try {
            if (table) table->flush(); // if there is room: all that belongs to the others' rows
        } catch (const std::exception&) {
            continue;
        }
    }
    const auto isWritten = [&all](const Mark& mark) {
        for (size_t i = 0; i < all.size(); ++i)
            if (all[i] && all[i]->written() < mark[i]) return false;
        return true;
    };
    const auto last = std::find_if(m_marks.rbegin(), m_marks.rend(), isWritten);
    const Mark end = last == m_marks.rend() ? m_common : *last;
    m_marks.clear();
    m_common = end;
    for (size_t i = 0; i < all.size(); ++i)
        if (all[i]) all[i]->cutAt(end[i]);
}

/// Throws when the folder is another run's by now, which can happen where the file system has no
/// locks.
void RunWriter::checkOwner() const {
    try {
        if (readManifest(m_folder.pathOf(run_file::kManifest)).run == m_id) return;
    } catch (const InputError&) {
        return; // what spoilt the file was not a run
    }
    throw RunError(phrase("Files", "%1: another run has begun in this folder meanwhile"),
                   m_folder.path());
}

/// Throws when another program has taken a table away or changed it. Costs a few calls that ask the
/// system.
void RunWriter::checkTables() {
    m_checked = Clock::now();
    for (const GrowingFile* const table : tables()) {
        if (!table || table->isIntact()) continue;
        checkOwner(); // that is the better reason
        throw RunError(phrase("Files", "%1: another program removed, replaced or changed this file "
                                       "while the run wrote to it; the rows that it lacks are "
                                       "lost, and the run ends here, unfinished"),
                       m_folder.pathOf(table->name()));
    }
}

/// Throws when a file is not what the run has written, just before the manifest calls it whole.
void RunWriter::checkWhole() {
    checkTables();
    for (const auto& [name, size] : m_sizes)
        if (m_folder.sizeOf(name) != size)
            throw RunError(phrase("Files", "%1: another program removed or changed this file while "
                                           "the run trained, so the run does not count as whole"),
                           m_folder.pathOf(name));
}

void RunWriter::write(const std::string& name, std::string_view content) {
    GrowingFile file(m_folder, name);
    file.append(content);
    file.finish();
    m_sizes[name] = static_cast<int64_t>(content.size());
}

void RunWriter::writeLast(const std::string& name, std::string_view content) {
    try {
        write(name, content);
    } catch (const RunError& error) {
        if (m_unwritten.empty()) m_whyUnwritten = error.message();
        m_unwritten.push_back(Message::data(name));
    }
}

void RunWriter::writePictures(const TaskConfig& task, const LanePictures& pictures) {
    for (size_t i = 0; i < pictures.outputs.size(); ++i) {
        const Picture& output = pictures.outputs[i];
        writeLast(run_file::output(m_names[i]), outputPng(task, output));
        const std::string classes = classesCsv(task, output, m_target);
        if (!classes.empty()) writeLast(run_file::classes(m_names[i]), classes);
    }
    if (pictures.target.width > 0) writeLast(run_file::kTarget, pngBytes(pictures.target));
    const auto writeAll = [this](const std::vector<std::string>& files,
                                 const std::vector<Picture>& all) {
        for (size_t i = 0; all.size() == files.size() && i < files.size(); ++i)
            writeLast(files[i], pngBytes(all[i]));
    };
    writeAll(galleryNames(m_names), pictures.galleries);
    writeAll(mistakeNames(m_names), pictures.mistakes);
}

void RunWriter::checkWritten() const {
    if (m_unwritten.empty()) return;
    if (m_unwritten.size() == 1) throw RunError(m_whyUnwritten);
    throw RunError(phrase("Files", "%1; nor were these files written: %2"), m_whyUnwritten,
                   listed(std::span(m_unwritten).subspan(1)));
}

Message RunWriter::place(const std::string& name, std::span<const std::string_view> parts,
                         const std::string& before, OnFullDisk onFullDisk) {
    try {
        flushTables();
        for (GrowingFile* const table : tables())
            if (table) table->sync();
    } catch (...) {
        cutAtCommonStep();
        throw;
    }
    checkOwner();
    checkTables();
    const bool mayRemove = onFullDisk == OnFullDisk::RemoveBefore && !before.empty();
    try {
        try {
            m_folder.write(name, parts, before);
        } catch (const DiskFull&) {
            if (!mayRemove || !m_folder.hasFile(before) || !m_folder.hasFile(name)) throw;
            m_folder.remove(before);
            m_folder.write(name, parts, before);
        }
        return {};
    } catch (const RunError& error) {
        return error.message();
    }
}

void RunWriter::finish(const RunInfo& info, const LanePictures& pictures,
                       std::span<const MadeFile> made) {
    try {
        flushTables();
    } catch (...) { // also when there is no memory
        cutAtCommonStep();
        throw;
    }
    checkOwner();
    checkTables();
    for (GrowingFile* const table : tables()) {
        if (!table) continue;
        table->sync();
        m_sizes[table->name()] = table->written();
    }
    const std::string settings = configText(portableConfig(info.recorded));
    if (settings != m_settings) writeLast(run_file::kExperiment, settings);
    // a fork may have changed the titles of the lanes before it
    const std::vector<LaneInfo> lanes = lanesOf(info.recorded);
    for (size_t i = 0; i < std::min(lanes.size(), m_lanes.size()); ++i)
        m_lanes[i].title = lanes[i].title;
    continueForks(); // those that were to go on from the last step
    std::vector<double> medians;
    for (const RecentTimes& times : m_times)
        medians.push_back(times.median());
    // before larger files, for which the disk may have no room
    writeLast(run_file::kSummary, summaryText(info, m_lanes, m_totals, medians,
                                              pictureErrors(info, pictures, m_target), m_lost));
    writePictures(info.config.task, pictures);
    for (const MadeFile& file : made)
        writeLast(file.name, file.content);
    m_folder.sync();
    checkWritten();
    checkWhole();
    m_folder.write(run_file::kManifest, manifestText({m_id, true, m_sizes, m_after}));
}

} // namespace halfscope
