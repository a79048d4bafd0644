// Names the option in front of what the engine says.
#include "app/cli_overwriting.h"

#include "app/cli_checkpoints.h"
#include "app/cli_run.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/own_files.h"
#include "engine/io/growing_file.h"
#include "engine/io/input_file.h"
#include "engine/io/output_folder.h"
#include "engine/io/strict_json.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_manifest.h"
#include "engine/runs/run_summary.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

namespace halfscope::cli {

namespace {

template <class Check>
void checkOption(const std::string& option, const Check& check) {
    try {
        check();
    } catch (const InputError& error) {
        throw InputError(within(option, error.message()));
    }
}

/// Returns the folder that a file lies in.
std::string folderOf(const std::string& file) {
    const std::string folder = std::filesystem::path(file).parent_path().string();
    return folder.empty() ? "." : folder;
}

/// Whether a run or its evaluation may have a file of this name in its folder.
bool isRunFile(const std::string& name) {
    const std::vector<std::string> names = runFileNames();
    return name == kLockFile || isTemporaryName(name) || isEvaluationFile(name) ||
           std::ranges::find(names, name) != names.end();
}

} // namespace

std::filesystem::path wholePath(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    constexpr int kMostLinks = 40; // Linux follows no more
    std::error_code error;
    fs::path whole = fs::absolute(folder, error);
    // weakly_canonical() leaves a link as it is where the target is not there yet
    for (int i = 0; i < kMostLinks && fs::is_symlink(whole, error); ++i)
        whole = whole.parent_path() / fs::read_symlink(whole, error);
    return (fs::weakly_canonical(whole, error) / "").lexically_normal();
}

CommandFiles::CommandFiles(const ExperimentOptions& experiment, const RunConfig& config)
    : m_reads(readPathsOf(config)) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(experiment.file, ignored)) m_experiment = experiment.file;
    const bool inRun =
        std::filesystem::path(m_experiment).filename().string() == run_file::kExperiment;
    addRun(inRun ? folderOf(m_experiment) : experiment.runFolder());
}

void CommandFiles::addRead(const std::string& option, const std::string& path) {
    if (!path.empty()) m_reads.push_back({option, path});
}

void CommandFiles::addRun(const std::string& folder) {
    if (!folder.empty()) m_runs.push_back(folder);
}

void CommandFiles::checkFolder(const std::string& out, std::span<const std::string> names) const {
    checkOption("--out", [&] {
        keepRead(m_reads, out, names);
        if (m_experiment.empty()) return;
        std::vector<std::string> others(names.begin(), names.end());
        std::erase(others, run_file::kExperiment); // such a run is trained again in its place
        keepRead(std::array{ReadPath{"the experiment", m_experiment}}, out, others);
    });
}

void CommandFiles::checkFile(const std::string& option, const std::string& file) const {
    checkOption(option, [&] {
        keepRead(m_reads, file);
        if (!m_experiment.empty())
            keepRead(std::array{ReadPath{"the experiment", m_experiment}}, file);
    });
    std::error_code ignored;
    std::filesystem::path target = std::filesystem::canonical(file, ignored); // a link leads there
    if (target.empty()) target = file;
    if (!isRunFile(target.filename().string())) return;
    const std::filesystem::path folder = wholePath(folderOf(target.string()));
    const auto refuse = [&](const std::string& run) {
        throw InputError(Message::data(option + ": " + quotedText(file) +
                                       " is not allowed: the run in " + quotedText(run) +
                                       " may have a file of that name; choose another one"));
    };
    for (const std::string& run : m_runs)
        if (folder == wholePath(run)) refuse(run);
    bool held = false;
    checkOption(option, [&] { held = holdsRun(folder.string()); });
    if (held) refuse(folderOf(file));
}

CommandFiles filesOfRun(const RunOptions& options, const RunConfig& config,
                        const std::string& checkpoint) {
    CommandFiles files(options.experiment, config);
    if (!checkpoint.empty()) files.addRun(folderOf(checkpoint));
    files.addRun(options.out);
    if (options.out.empty()) {
        files.addRead("--resume", checkpoint);
        return files;
    }
    std::vector<std::string> names = runFileNames(), kept;
    const bool here = !checkpoint.empty() && isSameFile(folderOf(checkpoint), options.out);
    if (here) {
        kept = {run_file::kCheckpoint, run_file::kEarlierCheckpoint};
        std::erase_if(names, [&kept](const std::string& name) {
            return std::ranges::find(kept, name) != kept.end();
        });
    }
    // what a checkpoint has in their place was read already
    RunConfig reads = config;
    if (here) reads.model.weights.clear();
    CommandFiles checked(options.experiment, reads);
    checked.addRead("--resume", checkpoint);
    checked.checkFolder(options.out, names);
    const std::string experiment =
        (std::filesystem::path(options.out) / run_file::kExperiment).string();
    if (isSameFile(options.experiment.file, experiment)) kept.push_back(run_file::kExperiment);
    checkOption("--out", [&] {
        keepRecorded(options.out);
        if (!here) keepForeign(options.out, kept);
    });
    files.addRead("--resume", checkpoint);
    return files;
}

std::string replacedNote(const std::string& folder, const RunConfig& config) {
    const auto file = [&folder](const char* name) {
        return (std::filesystem::path(folder) / name).string();
    };
    try {
        const bool whole = readManifest(file(run_file::kManifest)).whole;
        const RunConfig before = readConfig(file(run_file::kExperiment));
        if (configText(before) == configText(portableConfig(config))) return {};
        const std::string replaced =
            "Replaced in " + pathText(folder) + ": the run of " +
            (before.title.empty() ? "an experiment without a name" : pathText(before.title));
        if (!whole) {
            const std::optional<int64_t> step = stepLeftIn(folder);
            return step ? replaced + ", which had a checkpoint of step " + std::to_string(*step) +
                              "\n"
                        : std::string();
        }
        const std::string text = readFile(file(run_file::kSummary), kMostSummaryBytes);
        const JsonTree summary = parseStrictJson(text, {.bytes = kMostSummaryBytes});
        const auto steps = summary.root().at("steps").get<int64_t>();
        return replaced + ", " + std::to_string(steps) + (steps == 1 ? " step\n" : " steps\n");
    } catch (const InputError&) {
    } catch (const Json::exception&) { // not the summary of a run
    }
    return {};
}

std::string evaluationNote(const std::string& folder, bool goesOn) {
    std::string left;
    for (const std::string& name : evaluationFilesIn(folder))
        left += (left.empty() ? "" : ", ") + pathText(name);
    if (left.empty()) return {};
    const char* const what =
        goesOn ? "From before this training, and left in " : "Not of this run, but left in ";
    return what + pathText(folder) + ": " + left + "\n";
}

void checkExport(const std::string& out, const RunConfig& config,
                 std::span<const std::string> names) {
    CommandFiles({}, config).checkFolder(out, names);
    checkOption("--out", [&] { keepForeign(out); });
}

} // namespace halfscope::cli
