// Saves a run's checkpoint under the id that the run has in its new folder.
#include "engine/train/saved_run.h"

#include "engine/core/error.h"
#include "engine/runs/run_manifest.h"
#include "engine/train/checkpoint.h"

#include <filesystem>
#include <new>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

/// A run that was opened reads its checkpoint from a file, which saving may just have replaced:
/// from now on it reads the new file. Returns why it cannot.
Message readFrom(const std::string& file, const RunCheckpoint& kept) {
    if (kept.lies() != RunCheckpoint::Lies::InFile) return {};
    try {
        kept.setMoved([now = checkpointInFile(file, kept.step())] { return now->bytes(); });
        return {};
    } catch (const ReportedError& error) {
        return {phrase("Files", "Saved, but its checkpoint cannot be read again: %1"),
                error.message()};
    }
}

} // namespace

SavedFiles saveWithCheckpoint(const RunSnapshot& run, const std::string& folder,
                              const std::string& name, const std::string& program,
                              std::span<const MadeFile> made) {
    std::vector<MadeFile> files(made.begin(), made.end());
    const std::string id = newRunId();
    Message problem;
    if (run.checkpoint()) {
        try {
            ExperimentState state = readKept(*run.checkpoint(), name);
            state.run = id;
            files.push_back({run_file::kCheckpoint, checkpointBytes(state, program)});
        } catch (const ReportedError& error) { // the other files are saved all the same
            problem = error.message();
        } catch (const std::bad_alloc&) { // the checkpoint is larger than all the rest
            problem = phrase("Files", "there is no memory for it");
        }
    }
    const bool unread = !problem.empty();
    SavedFiles saved =
        saveRun(run, folder, files, id,
                unread ? EarlierCheckpoint::StaysWithItsSteps : EarlierCheckpoint::Goes);
    if (unread)
        problem = {saved.keptCheckpoint
                       ? phrase("Files", "Saved, but without the run's checkpoint. The one that "
                                         "was saved earlier stays in the folder: %1")
                       : phrase("Files", "Saved without a checkpoint: %1"),
                   problem};
    else if (run.checkpoint())
        problem = readFrom((std::filesystem::path(folder) / run_file::kCheckpoint).string(),
                           *run.checkpoint());
    saved.checkpointError = std::move(problem);
    return saved;
}

} // namespace halfscope
