// Reads of a checkpoint that was left only what its header says: the run may be large.
#include "app/cli_checkpoints.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/own_files.h"
#include "engine/io/input_file.h"
#include "engine/io/output_folder.h"
#include "engine/io/strict_json.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_summary.h"
#include "engine/settings/fields.h"
#include "engine/settings/resumed_settings.h"
#include "engine/train/checkpoint.h"

#include <filesystem>
#include <optional>
#include <utility>

namespace halfscope::cli {

namespace {

std::string fileIn(const std::string& folder, const char* name) {
    return (std::filesystem::path(folder) / name).string();
}

/// Whether a run trained to its end, or as long as validation got better: nothing is left to do.
bool cameToItsEnd(const std::string& folder) {
    try {
        const std::string text = readFile(fileIn(folder, run_file::kSummary), kMostSummaryBytes);
        const JsonTree summary = parseStrictJson(text, {.bytes = kMostSummaryBytes});
        const auto outcome = summary.root().at("outcome").get<std::string>();
        return outcome == nameOf(RunOutcome::Finished) ||
               outcome == nameOf(RunOutcome::OutOfPatience);
    } catch (const InputError&) { // a run that was killed has none
    } catch (const Json::exception&) {
    }
    return false;
}

/// Returns the folder of the saved run whose experiment is to be trained; empty for any other
/// experiment.
std::string savedFolder(const ExperimentOptions& experiment) {
    const std::filesystem::path file(experiment.file);
    if (file.filename() != run_file::kExperiment) return experiment.runFolder();
    return file.has_parent_path() ? file.parent_path().string() : ".";
}

/// Whether the run in a folder has this experiment, but for what --resume may have changed or can
/// change: the length, further edits and forks, and the settings of takeOnResume().
bool hasExperiment(const std::string& folder, const RunConfig& config) {
    try {
        RunConfig there = readConfig(fileIn(folder, run_file::kExperiment));
        RunConfig wanted = portableConfig(config);
        there.steps = wanted.steps;
        there.epochs = wanted.epochs;
        if (there.forks.size() > wanted.forks.size()) there.forks.resize(wanted.forks.size());
        if (there.edits.size() > wanted.edits.size()) there.edits.resize(wanted.edits.size());
        takeOnResume(there, wanted);
        takeOnResume(wanted, there); // either of them may skip damaged samples
        return configText(there) == configText(wanted);
    } catch (const InputError&) { // it is not there, or is damaged
        return false;
    }
}

/// Returns the step from which the run in a folder can go on; nothing for one that came to its end.
std::optional<int64_t> stepToGoOnFrom(const std::string& folder) {
    return folder.empty() || cameToItsEnd(folder) ? std::nullopt : stepLeftIn(folder);
}

std::string hasText(const std::string& folder, int64_t step) {
    return pathText(folder) + " has a checkpoint of step " + std::to_string(step);
}

std::string resumeText(const std::string& folder) {
    return "--resume " + shellText(folder) + " goes on from it";
}

} // namespace

CheckpointFiles::CheckpointFiles(RunWriter& files, const RunOptions& options, const Start& start)
    : m_files(files), m_out(options.out), m_none(options.checkpointEvery == 0),
      m_goesOnHere(start.goesOnIn(options.out)) {
    const int64_t before = start.state ? start.state->checkpointEvery : 0;
    m_every = options.checkpointEvery < 0 ? before : options.checkpointEvery;
    m_changed = m_every != before;
    m_newestWhole =
        m_goesOnHere && std::filesystem::path(start.checkpoint).filename() == run_file::kCheckpoint;
}

std::string CheckpointFiles::write(ExperimentState state, bool ends) {
    state.run = m_files.id();
    state.checkpointEvery = m_every;
    const CheckpointText text(state, HALFSCOPE_VERSION);
    const bool failed = !m_unsaved.empty();
    m_unsaved = m_files.place(run_file::kCheckpoint, text.parts(), run_file::kEarlierCheckpoint,
                              m_newestWhole ? OnFullDisk::RemoveBefore : OnFullDisk::KeepBefore);
    if (m_unsaved.empty()) {
        m_saved = state.step;
        m_newestWhole = true;
    }
    if (failed == !m_unsaved.empty()) return {};
    const std::string step = "step " + std::to_string(state.step);
    return failed ? "Checkpoints can be written again: there is one of " + step + "\n"
                  : "halfscope-cli: " + m_unsaved.english() + "; there is no checkpoint of " +
                        step + (ends ? "\n" : ", and the run goes on\n");
}

std::string CheckpointFiles::unsavedText() const {
    const std::string last =
        m_saved < 0 ? "none was written" : "the last one is of step " + std::to_string(m_saved);
    return last + ": " + m_unsaved.english();
}

std::string CheckpointFiles::wholeText() const {
    try {
        const ExperimentState state = readCheckpoint(checkpointAt(m_out));
        if (state.run == m_files.id())
            return "the one of step " + std::to_string(state.step) +
                   " is whole; when its files can be written again, " + command() +
                   " goes on from it";
    } catch (const InputError&) { // there is none
    }
    return "none was written; --checkpoint-every writes some";
}

std::string CheckpointFiles::command() const {
    return "halfscope-cli run --resume " + shellText(m_out) + " --out " + shellText(m_out);
}

std::optional<int64_t> stepLeftIn(const std::string& folder) {
    for (const char* const name : {run_file::kCheckpoint, run_file::kEarlierCheckpoint}) {
        try {
            return checkpointStep(fileIn(folder, name));
        } catch (const InputError&) { // it is not there, or is damaged
        }
    }
    return std::nullopt;
}

void keepCheckpoint(const RunOptions& options, const RunConfig& config) {
    if (options.out.empty() || options.overwrite) return;
    const bool again = isSameFile(savedFolder(options.experiment), options.out) ||
                       hasExperiment(options.out, config);
    const auto step = again ? stepToGoOnFrom(options.out) : std::nullopt;
    if (!step) return;
    const OutputFolder idle(options.out); // a run that still trains there cannot be resumed
    throw InputError(Message::data("--out: " + hasText(options.out, *step) +
                                   ", which a new run would remove; " + resumeText(options.out) +
                                   ", another --out keeps it, and --overwrite replaces it"));
}

std::string leftCheckpoint(const RunOptions& options) {
    const std::string folder = savedFolder(options.experiment);
    const bool here = !options.out.empty() && isSameFile(folder, options.out);
    const auto step = here ? std::nullopt : stepToGoOnFrom(folder);
    return step ? hasText(folder, *step) + "; " + resumeText(folder) + "\n" : std::string();
}

} // namespace halfscope::cli
