// Implements the runs command. Sessions that a window uses are left alone: what a window trains
// belongs to it.
#include "app/cli_runs.h"

#include "app/cli_output.h"
#include "app/cli_overwriting.h"
#include "app/cli_ranking.h"
#include "app/cli_run_list.h"
#include "app/cli_targets.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/output_folder.h"
#include "engine/io/user_folders.h"
#include "engine/runs/left_session.h"
#include "engine/train/checkpoint.h"
#include "engine/train/lane_file.h"
#include "engine/train/saved_run.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace halfscope::cli {

namespace {

constexpr const char* kActions = "list, show, export or delete, or a folder with saved runs";

/// Returns the folder where the window keeps its sessions (AppLocalDataLocation of Qt).
std::string usualFolder() {
    const std::string data = userDataFolder();
    if (data.empty())
        throw InputError(Message::data("runs: --sessions is missing: without a home folder there "
                                       "is not a usual one"));
    return data + "/Halfscope/halfscope/sessions";
}

/// A run, or a whole session, that an action is about.
struct Target {
    std::string name;
    std::shared_ptr<LeftSession> session{}; ///< null: one that cannot be read, to be deleted
    std::optional<LeftRun> run{};           ///< nothing: the whole session
};

/// Whether a name is that of a session, or of a run in it.
bool isIn(const std::string& session, const std::string& name) {
    return name == session || name.starts_with(session + "/");
}

/// Says why an unknown run is unknown: its session cannot be read, say.
[[noreturn]] void refuse(const std::vector<LeftSession>& sessions, const OtherSessions& others,
                         const std::string& action, const std::string& name) {
    const std::string command = "runs " + action + ": ";
    for (const UnreadableSession& each : others.unreadable)
        if (isIn(each.name, name))
            throw InputError(
                Message::data(command + each.name + " cannot be read: " + each.reason.english()));
    const std::string unknown = command + "there is no run " + quotedText(name);
    std::vector<std::string> known;
    for (const LeftSession& session : sessions) {
        if (isIn(session.name(), name) && !session.damage().empty())
            throw InputError(
                Message::data(unknown + " that can be read: " + session.damage().english()));
        for (const LeftRun& run : session.runs())
            if (!run.saved) known.push_back(session.nameOf(run));
    }
    if (!known.empty())
        throw InputError(Message::data(unknown + nearestHint(name, known).english() +
                                       " (halfscope-cli runs lists them)"));
    const char* reason = ": no window has left an unsaved run; the results of a saved run are in "
                         "its folder, or in that of a run that went on from it";
    if (others.used > 0) reason = ": a program uses the only sessions that there are";
    if (!others.unreadable.empty())
        reason = ": there are sessions, but they cannot be read (halfscope-cli runs says why)";
    throw InputError(Message::data(unknown + reason));
}

bool has(const OtherSessions& others, const std::string& unreadable) {
    return std::ranges::find(others.unreadable, unreadable, &UnreadableSession::name) !=
           others.unreadable.end();
}

/// Returns what the options name, each once; the other sessions are let go, so that a window that
/// starts meanwhile may take them. Throws InputError for a name that is wrong.
std::vector<Target> targetsIn(std::vector<LeftSession> sessions, const OtherSessions& others,
                              const RunsOptions& options) {
    const bool deletes = options.action == "delete";
    if (options.runs.empty())
        throw InputError(Message::data("runs " + options.action +
                                       ": the run is missing (halfscope-cli runs lists them)"));
    std::vector<std::pair<std::string, size_t>> found; // the session, if it can be read
    for (const std::string& name : options.runs) {
        const auto holds = [&](const LeftSession& session) {
            const auto isIt = [&](const LeftRun& run) { return name == session.nameOf(run); };
            return (deletes && name == session.name()) || std::ranges::any_of(session.runs(), isIt);
        };
        const auto session = std::ranges::find_if(sessions, holds);
        if (session == sessions.end() && !(deletes && has(others, name)))
            refuse(sessions, others, options.action, name);
        if (std::ranges::find(found, name, [](const auto& each) { return each.first; }) ==
            found.end())
            found.emplace_back(name, static_cast<size_t>(session - sessions.begin()));
    }
    std::vector<std::shared_ptr<LeftSession>> held;
    for (LeftSession& session : sessions)
        held.push_back(std::make_shared<LeftSession>(std::move(session)));
    held.push_back(nullptr); // for those that cannot be read
    std::vector<Target> targets;
    for (const auto& [name, place] : found) {
        targets.push_back({name, held[place]});
        if (!held[place]) continue;
        for (const LeftRun& run : held[place]->runs())
            if (name == held[place]->nameOf(run)) targets.back().run = run;
    }
    return targets;
}

void list(std::vector<LeftSession> sessions, const OtherSessions& others,
          const std::string& folder) {
    for (LeftSession& session : sessions)
        session.leaveOutSaved();
    std::erase_if(sessions, [](const LeftSession& session) { return session.runs().empty(); });
    size_t width = 3; // "run"
    for (const LeftSession& session : sessions)
        for (const LeftRun& run : session.runs())
            width = std::max(width, session.nameOf(run).size());
    if (sessions.empty())
        print("There are no unsaved runs in " + pathText(folder) + "\n");
    else
        print(padded("run", width) + "  steps      name\n");
    for (const LeftSession& session : sessions)
        for (const LeftRun& run : session.runs())
            print(padded(session.nameOf(run), width) + "  " +
                  padded(std::to_string(run.steps), 11) + pathText(run.name) + "\n");
    for (const LeftSession& session : sessions)
        if (!session.damage().empty()) printNote(session.damage().english() + "\n");
    for (const UnreadableSession& each : others.unreadable)
        printNote(each.name + " cannot be read: " + each.reason.english() + "\n");
    if (others.used > 0)
        printNote(std::to_string(others.used) +
                  (others.used == 1 ? " more session is in use\n" : " more sessions are in use\n"));
}

/// Returns the last step that all lanes have, but for those whose values are lost; "-" when all
/// are.
std::string stepsText(const RunSnapshot& run) {
    int64_t steps = run.lastStep();
    for (int lane = 0; lane < run.laneCount(); ++lane)
        if (const int64_t own = run.totals(lane).last().step; own > 0) steps = std::min(steps, own);
    if (steps == 0) return "- steps";
    return std::to_string(steps) + (steps == 1 ? " step" : " steps");
}

/// Returns a line of the table of lanes; "-" stands for what is lost or was never measured.
std::string laneLine(const LaneInfo& info, const LaneTotals& lane, size_t width) {
    const StepRow& last = lane.last();
    const auto accuracy = lane.accuracy();
    const bool hasLoss = last.measured(metric::Loss);
    const bool hasSkips = last.measured(metric::SkippedSoFar);
    const bool hasScale = last.measured(metric::Scale) && scalesLoss(info.config);
    return padded(pathText(info.title), width) + "  " +
           padded(hasLoss ? shortNumber(static_cast<double>(last.loss()), 6) : "-", 12) +
           padded(accuracy ? accuracyText(*accuracy, lane.validationLoss()) : "-", 10) +
           padded(hasSkips ? std::to_string(last.skippedSoFar()) : "-", 9) +
           (hasScale ? scaleText(lane.scaleAfter()) : "-") + "\n";
}

void show(const LeftSession& session, const LeftRun& left) {
    const std::shared_ptr<Run> run = session.read(left);
    const RunSnapshot& now = run->now();
    print(session.nameOf(left) + ": " + pathText(left.name) + "\n");
    const size_t events = now.events().size();
    print(stepsText(now) + " of " + std::to_string(now.info().config.steps) +
          (now.info().device ? " on " + pathText(now.info().device->name) : std::string()) + ", " +
          std::to_string(events) + (events == 1 ? " event\n" : " events\n"));
    if (const auto& kept = now.checkpoint())
        print(kept->lies() == RunCheckpoint::Lies::Unread
                  ? "a checkpoint, if there is one, cannot be read\n"
                  : "checkpoint after step " + std::to_string(kept->step()) + "\n");
    size_t width = 4; // "lane"
    for (const LaneInfo& lane : now.lanes())
        width = std::max(width, charactersIn(pathText(lane.title)));
    print(padded("lane", width) + "  last loss   accuracy  skipped  scale\n");
    for (int i = 0; i < now.laneCount(); ++i)
        print(laneLine(now.lanes()[static_cast<size_t>(i)], now.totals(i), width));
}

/// Returns null, and prints why, when there are no networks.
std::unique_ptr<Experiment> builtFrom(const ExperimentState& state) {
    RunConfig config = state.recorded;
    config.device = "cpu"; // whatever trained it
    try {
        auto experiment = std::make_unique<Experiment>(config);
        experiment->resume(state);
        if (!experiment->dataChange().empty())
            printNote(experiment->dataChange().english() + ".\n");
        return experiment;
    } catch (const ReportedError& error) { // its data are gone, say
        printNote(std::string("No weights, ONNX models and predictions: ") + error.what() + "\n");
        return nullptr;
    }
}

/// Writes the weights, ONNX model and predictions of each lane; prints a note for each file that
/// cannot be made.
void exportNetworks(const ExperimentState& state, const std::string& out) {
    const std::unique_ptr<Experiment> built = builtFrom(state);
    if (!built) return;
    Experiment& experiment = *built;
    const OutputFolder folder(out); // links in it lead nowhere
    std::vector<LaneFile> files{LaneFile::StateDict, LaneFile::Onnx, LaneFile::Predictions};
    if (isAdversarial(state.recorded.model)) files.push_back(LaneFile::CriticOnnx);
    for (const LaneFile file : files)
        for (int lane = 0; lane < experiment.lanes(); ++lane) {
            const std::string name = nameOf(file, experiment.laneName(lane));
            try {
                const auto made = laneFileBytes(experiment, file, lane, HALFSCOPE_VERSION);
                require(made.has_value(), "nobody asked the lane to stop");
                folder.write(name, made->bytes);
                if (!made->note.empty()) printNote(name + ": " + made->note.english() + "\n");
            } catch (const InputError& error) {
                printNote("No " + name + ": " + error.what() + "\n");
            }
        }
}

void deleteUnreadable(const std::string& name, const std::string& folder) {
    std::optional<SessionLock> lock = SessionLock::ofLeft(folder, name);
    if (!lock)
        throw RunError(Message::data(pathText(folder) + ": " + name + " is used by a program now"));
    if (!lock->obstacle().empty()) throw RunError(lock->obstacle());
    if (const int error = lock->removeSession())
        throw RunError(Message::data(pathText(folder) + ": " + name +
                                     " cannot be deleted: " + std::strerror(error)));
}

void deleteAll(const std::vector<Target>& targets, const std::string& folder) {
    for (const Target& target : targets) {
        const auto takesIt = [&target](const Target& other) { // a session with all its runs
            return !other.run && other.session == target.session;
        };
        if (!target.session)
            deleteUnreadable(target.name, folder);
        else if (!target.run)
            target.session->remove();
        else if (std::ranges::none_of(targets, takesIt))
            target.session->remove(*target.run);
    }
}

/// Returns the names of all files that may be written.
std::vector<std::string> exportedNames(const RunSnapshot& run) {
    std::vector<std::string> names = runFileNames();
    for (const LaneInfo& lane : run.lanes())
        for (const LaneFile file :
             {LaneFile::StateDict, LaneFile::Onnx, LaneFile::CriticOnnx, LaneFile::Predictions})
            names.push_back(nameOf(file, lane.name));
    return names;
}

void exportRun(const LeftSession& session, const LeftRun& left, const std::string& out) {
    const RunSnapshot run = session.read(left)->snapshot();
    checkExport(out, run.info().recorded, exportedNames(run));
    const SavedFiles files = saveWithCheckpoint(run, out, session.nameOf(left), HALFSCOPE_VERSION);
    for (const Message& reason : {files.settingsError, files.picturesError})
        if (!reason.empty()) printNote(reason.english() + "\n");
    if (!files.checkpointError.empty()) {
        printNote(files.checkpointError.english() + "\n");
    } else if (run.checkpoint()) {
        exportNetworks(readCheckpoint(checkpointAt(out)), out);
    } else {
        printNote("This run has no checkpoint, so there are no weights to export.\n");
    }
    print("Files: " + pathText(out) + "\n");
}

/// Returns the folder that a run is exported to: beside others one that is named after it.
std::string exportFolder(const std::string& out, size_t runs, std::string name) {
    if (runs == 1) return out;
    std::ranges::replace(name, '/', '-');
    return (std::filesystem::path(out) / name).string();
}

/// Lists the saved runs in the folder that stands where an action may stand.
void listFolder(const RunsOptions& options) {
    if (!options.runs.empty())
        throw InputError(Message::data("runs: " + quotedText(options.runs.front()) +
                                       " is one argument too many behind a folder"));
    const bool sessions = !options.folder.empty();
    if (sessions || !options.out.empty())
        throw InputError(
            Message::data(std::string(sessions ? "runs: --sessions" : "runs: --out") +
                          " and a folder: give one of them; the folder's runs are saved already"));
    listSavedRuns(options.action, options.order);
}

} // namespace

int runs(const RunsOptions& options) {
    const std::string& action = options.action;
    const bool known = action.empty() || action == "list" || action == "show" ||
                       action == "export" || action == "delete";
    std::error_code ignored; // what cannot be examined is no folder, and no action either
    if (!known && std::filesystem::is_directory(action, ignored)) {
        listFolder(options);
        return 0;
    }
    if (known && !options.order.empty())
        throw InputError(Message::data("runs: --order is for a folder with saved runs: "
                                       "halfscope-cli runs FOLDER --order loss"));
    const bool isPath = action.find('/') != std::string::npos;
    if (!known && isPath && !std::filesystem::exists(action, ignored) && !ignored)
        throw InputError(Message::data("runs: there is no folder " + quotedText(action)));
    if (!known)
        throw InputError(
            Message::data("runs: " + quotedText(action) + " is not allowed: " + kActions));
    if (action == "export" && options.out.empty())
        throw InputError(Message::data("runs export: --out is missing, the folder to write into"));
    if (const std::string reason = homeObstacle(options.folder);
        !options.folder.empty() && !reason.empty())
        throw InputError(Message::data("runs: --sessions: " + reason));
    const std::string folder = options.folder.empty() ? usualFolder() : options.folder;
    int error = 0;
    (void)namesIn(folder, Entries::Files, &error);
    if (error != 0 && error != ENOENT)
        throw InputError(Message::data("runs: " + pathText(folder) +
                                       " cannot be read: " + std::strerror(error)));
    OtherSessions others;
    std::vector<LeftSession> sessions = leftSessions(folder, &others);
    if (action.empty() || action == "list") {
        list(std::move(sessions), others, folder);
        return 0;
    }
    const std::vector<Target> targets = targetsIn(std::move(sessions), others, options);
    if (action == "delete") {
        deleteAll(targets, folder);
        return 0;
    }
    for (const Target& target : targets) {
        action == "show" ? show(*target.session, *target.run)
                         : exportRun(*target.session, *target.run,
                                     exportFolder(options.out, targets.size(), target.name));
        if (!target.session->damage().empty()) printNote(target.session->damage().english() + "\n");
    }
    return 0;
}

} // namespace halfscope::cli
