// Writes the files of a whole run: first all under temporary names, then in place of an earlier
// run's.
#include "engine/runs/run_saving.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/runs/gradient_file.h"
#include "engine/runs/lost_pictures.h"
#include "engine/runs/output_file.h"
#include "engine/runs/overwriting.h"
#include "engine/runs/run_summary.h"
#include "engine/runs/run_tables.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace halfscope {
namespace {

constexpr int64_t kBlockSteps = 1024; // gathered from columns at once

std::vector<std::string> namesOf(std::span<const LaneInfo> lanes) {
    std::vector<std::string> names;
    for (const LaneInfo& lane : lanes)
        names.push_back(lane.name);
    return names;
}

bool lacks(const RunSnapshot& run, const std::string& name) {
    const auto& missing = run.info().missing;
    const MissingPart all{MissingPart::Kind::All, name};
    return std::find(missing.begin(), missing.end(), all) != missing.end();
}

/// Returns the columns of a run that is complete.
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

/// Gathers some steps of all lanes from the columns of a run.
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

/// Writes rows in the order in which a training writes them. Before its fork, a lane has its
/// parent's rows.
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
                // in a run that did not end, times may end earlier
                if (timing && !isRow(timingBlock->row(step, at))) timing = nullptr;
                if (timing) timing->append(step, lane, timingBlock->row(step, at));
            }
    }
}

/// The steps of saveRun(), file by file.
class Saving {
public:
    Saving(const RunSnapshot& run, const std::string& folder)
        : m_run(run), m_folder(folder), m_names(namesOf(run.lanes())), m_target(run.target()) {}

    SavedFiles all(std::span<const MadeFile> made, const std::string& id,
                   EarlierCheckpoint earlier) {
        SavedFiles saved;
        saved.id = id;
        readPictures();
        saved.settingsError = addSettings();
        addTables();
        addSummary();
        addPictures();
        const std::vector<std::string> unread = unreadPictures();
        std::vector<std::string> kept = keptPictures(unread);
        saved.picturesError = picturesError(kept.size(), unread.size());
        keepClasses(kept);
        if (keepsGradients()) kept.emplace_back(run_file::kGradients);
        const std::vector<std::string> results = kept;
        if (earlier == EarlierCheckpoint::StaysWithItsSteps) keepCheckpoint(saved, kept);
        RunManifest manifest{saved.id, true, {}, m_run.firstStep() - 1};
        for (const auto& file : m_files)
            manifest.files[file->name()] = file->written();
        for (const std::string& name : results)
            manifest.files[name] = m_folder.sizeOf(name);
        for (const MadeFile& file : made) // a run is whole without them
            add(file.name, file.content);
        add(run_file::kManifest, manifestText(manifest));
        std::vector<GrowingFile*> files;
        for (const auto& file : m_files) {
            files.push_back(file.get());
            saved.names.push_back(file->name());
        }
        replaceRun(m_folder, files, Checkpoints::Remove, kept);
        return saved;
    }

private:
    void add(std::unique_ptr<GrowingFile> file) {
        file->sync();
        m_files.push_back(std::move(file));
    }
    void add(const std::string& name, std::string_view content) {
        auto file = std::make_unique<GrowingFile>(m_folder, name);
        file->append(content);
        add(std::move(file));
    }

    /// What cannot be read leaves the rest worth saving.
    void readPictures() {
        try {
            m_pictures = m_run.pictures();
            m_damage = lostPicturesText(m_run, *m_pictures);
        } catch (const ReportedError& error) {
            m_pictures = nullptr;
            m_damage = error.message();
        }
    }
    /// Returns the name of a gallery's file. Forks may not have painted yet: the last gallery is
    /// that of the true classes, however many there are.
    std::string galleryName(size_t place) const {
        const bool ofLane = place + 1 < m_pictures->galleries.size() && place < m_names.size();
        return ofLane ? run_file::samples(m_names[place]) : run_file::kSamples;
    }
    /// Returns the names of the run's pictures that cannot be read. Where not even their number is
    /// known, there are galleries and mistakes if the folder has some.
    std::vector<std::string> unreadPictures() const {
        const std::vector<std::string> mistakes = mistakeNames(m_names);
        std::vector<std::string> names;
        if (!m_pictures) {
            for (const std::string& lane : m_names)
                names.push_back(run_file::output(lane));
            for (const std::vector<std::string>& all : {galleryNames(m_names), mistakes})
                if (std::ranges::any_of(all, [this](const auto& name) { return holds(name); }))
                    names.insert(names.end(), all.begin(), all.end());
        } else {
            for (const size_t lane : m_pictures->lost.outputs)
                names.push_back(run_file::output(m_names.at(lane)));
            for (const size_t place : m_pictures->lost.galleries)
                names.push_back(galleryName(place));
            for (const size_t lane : m_pictures->lost.mistakes)
                if (lane < mistakes.size()) names.push_back(mistakes[lane]);
        }
        if (m_run.targetPicture().isDamaged()) names.emplace_back(run_file::kTarget);
        return names;
    }
    bool holds(const std::string& name) const { return m_folder.hasFile(name); }
    /// Whether the same steps were saved in the folder before: its files are the run's then.
    bool holdsTheseSteps() const {
        const auto steps = std::ranges::find(m_files, std::string(run_file::kSteps),
                                             [](const auto& file) { return file->name(); });
        return steps != m_files.end() && (*steps)->equalsNamed();
    }
    /// Whether the gradients that were saved with the same steps stay, because not all of the run's
    /// can be read.
    bool keepsGradients() const {
        return m_run.gradientsUnread() && holds(run_file::kGradients) && holdsTheseSteps();
    }
    /// Returns which pictures stay in the folder because nothing can take their place. They are the
    /// run's if the same steps were saved there before. Throws RunError for others, which would
    /// pass for the run's.
    std::vector<std::string> keptPictures(std::vector<std::string> names) const {
        std::erase_if(names, [this](const std::string& name) { return !holds(name); });
        if (names.empty() || holdsTheseSteps()) return names;
        throw RunError(phrase("Files", "%1 has pictures, such as %2, that would be deleted, and "
                                       "this run's cannot be read (%3); choose another folder"),
                       pathText(m_folder.path()), names.front(), m_damage);
    }
    /// Keeps the classes that a lane's output shows where that stays.
    void keepClasses(std::vector<std::string>& kept) const {
        for (const std::string& lane : m_names)
            if (std::ranges::find(kept, run_file::output(lane)) != kept.end() &&
                holds(run_file::classes(lane)))
                kept.push_back(run_file::classes(lane));
    }
    /// Returns why not all pictures were written, or an empty message. So many of those that cannot
    /// be read stay in the folder.
    Message picturesError(size_t kept, size_t unread) const {
        if (m_damage.empty()) return {};
        if (kept == 0) return leftOutText(m_pictures.get(), m_damage);
        if (kept < unread)
            return {phrase("Files", "Saved, but pictures cannot be read any more. Some of them "
                                    "were saved earlier and stay in the folder, which lacks the "
                                    "others: %1"),
                    m_damage};
        return {phrase("Files", "Saved, but pictures cannot be read any more. Those that were "
                                "saved earlier stay in the folder: %1"),
                m_damage};
    }
    /// Lets the checkpoint that was saved with the same steps, and the weights beside it, stay: it
    /// names the run in the folder, which keeps its id.
    void keepCheckpoint(SavedFiles& saved, std::vector<std::string>& kept) const {
        if (!holdsTheseSteps()) return;
        for (const std::string& name : checkpointNames())
            if (holds(name)) kept.push_back(name);
        saved.keptCheckpoint = holds(run_file::kCheckpoint) || holds(run_file::kEarlierCheckpoint);
        if (!saved.keptCheckpoint) return;
        const auto manifest = std::filesystem::path(m_folder.path()) / run_file::kManifest;
        try {
            saved.id = readManifest(manifest.string()).run;
        } catch (const InputError&) { // then nothing tells whose it is, as before
        }
    }
    /// Returns why there are no settings, or an empty message.
    Message addSettings() {
        try {
            add(run_file::kExperiment, configText(portableConfig(m_run.info().recorded)));
            return {};
        } catch (const InputError& error) {
            return error.message();
        }
    }
    void addTables() {
        StepTable steps(m_folder, run_file::kSteps, m_names, columnsOf(MetricFile::Steps, m_run));
        std::optional<StepTable> timing;
        if (auto columns = columnsOf(MetricFile::Timing, m_run); !columns.empty())
            timing.emplace(m_folder, run_file::kTiming, m_names, std::move(columns));
        writeSteps(m_run, steps, timing ? &*timing : nullptr);
        add(steps.takeFile());
        if (timing) add(timing->takeFile());
        if (!lacks(m_run, run_file::kEvents)) addEvents();
        if (keepsGradients()) return;
        std::vector<const GradientHistory*> histories;
        for (int lane = 0; lane < m_run.laneCount(); ++lane)
            histories.push_back(&m_run.gradients(lane));
        const std::string gradients = gradientText(histories, m_names);
        if (!gradients.empty()) add(run_file::kGradients, gradients);
    }
    void addEvents() {
        auto file = std::make_unique<GrowingFile>(m_folder, run_file::kEvents);
        file->append(eventHeader());
        std::vector<const Event*> events;
        for (const Event& event : m_run.events())
            events.push_back(&event);
        appendEvents(*file, std::move(events), m_names);
        add(std::move(file));
    }
    void addSummary() {
        std::string text = m_run.info().summary;
        if (text.empty()) {
            if (!m_run.info().device) return; // a saved run that lacks it
            std::vector<LaneTotals> totals;
            std::vector<double> medians;
            for (int lane = 0; lane < m_run.laneCount(); ++lane) {
                totals.push_back(m_run.totals(lane));
                medians.push_back(m_run.medianDeviceSeconds(lane));
            }
            text = summaryText(m_run.info(), m_run.lanes(), totals, medians,
                               m_pictures ? pictureErrors(m_run.info(), *m_pictures, *m_target)
                                          : std::vector<PictureError>(),
                               m_run.lostSamples());
        }
        add(run_file::kSummary, text);
    }
    void addPictures() {
        if (m_target->width > 0) add(run_file::kTarget, pngBytes(*m_target));
        if (!m_pictures) return;
        const std::vector<Picture>& outputs = m_pictures->outputs;
        const TaskConfig& task = m_run.info().config.task;
        for (size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i].width < 1) continue; // not painted yet
            add(run_file::output(m_names[i]), outputPng(task, outputs[i]));
            const std::string classes = classesCsv(task, outputs[i], *m_target);
            if (!classes.empty()) add(run_file::classes(m_names[i]), classes);
        }
        for (size_t place = 0; place < m_pictures->galleries.size(); ++place)
            addPainted(galleryName(place), m_pictures->galleries[place]);
        const size_t lanes = std::min(m_pictures->mistakes.size(), m_names.size());
        for (size_t lane = 0; lane < lanes; ++lane)
            addPainted(run_file::mistakes(m_names[lane]), m_pictures->mistakes[lane]);
    }
    /// Adds a picture, unless it is damaged or its lane has painted none yet.
    void addPainted(const std::string& name, const Picture& picture) {
        if (picture.width > 0) add(name, pngBytes(picture));
    }

    const RunSnapshot& m_run;
    const OutputFolder m_folder;
    const std::vector<std::string> m_names;
    const std::shared_ptr<const Picture> m_target;
    std::shared_ptr<const LanePictures> m_pictures;    ///< null when none can be read
    Message m_damage;                                  ///< why some or all cannot
    std::vector<std::unique_ptr<GrowingFile>> m_files; ///< on the disk, but not yet in place
};

} // namespace

SavedFiles saveRun(const RunSnapshot& run, const std::string& folder,
                   std::span<const MadeFile> made, const std::string& id,
                   EarlierCheckpoint earlier) {
    keepRead(readPathsOf(run.info().recorded), folder, runFileNames());
    return Saving(run, folder).all(made, id, earlier);
}

std::vector<std::string> filesOf(const RunSnapshot& run) {
    std::vector<std::string> names{run_file::kExperiment, run_file::kSteps,     run_file::kEvents,
                                   run_file::kTiming,     run_file::kGradients, run_file::kSummary,
                                   run_file::kTarget,     run_file::kManifest};
    const std::vector<std::string> lanes = namesOf(run.lanes());
    for (const std::string& lane : lanes) {
        names.push_back(run_file::output(lane));
        names.push_back(run_file::classes(lane));
    }
    for (std::vector<std::string> more : {galleryNames(lanes), mistakeNames(lanes)})
        names.insert(names.end(), more.begin(), more.end());
    return names;
}

} // namespace halfscope
