// Puts one run after the other into the same folder, and makes paths that lead out of it absolute.
#include "engine/runs/run_folder.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace halfscope {
namespace {

/// Returns the names of all lanes that a run without forks can have.
std::vector<std::string> allLanes() {
    std::vector<std::string> lanes;
    for (const PrecisionPreset& preset : precisionPresets())
        for (int number = 1; number <= static_cast<int>(kMaxLanes); ++number)
            lanes.push_back(laneName(preset.precision, number));
    return lanes;
}

/// Returns the names of a run's result files. The first ones tell that a run is whole, because a
/// part of a run must not pass for all of it. The pictures are those of all lanes that a run
/// without forks can have.
std::vector<std::string> resultNames() {
    std::vector<std::string> names{run_file::kManifest, run_file::kSummary, run_file::kSteps,
                                   run_file::kEvents,   run_file::kTiming,  run_file::kGradients,
                                   run_file::kTarget,   run_file::kSamples, run_file::kPlots};
    for (const std::string& lane : allLanes()) {
        names.push_back(run_file::output(lane));
        names.push_back(run_file::classes(lane));
        names.push_back(run_file::samples(lane));
        names.push_back(run_file::mistakes(lane));
        names.push_back(run_file::weights(lane));
    }
    return names;
}

/// Swaps the files of an earlier run for those of a new one, and undoes this unless it is finished.
class Swap {
public:
    explicit Swap(const OutputFolder& folder) : m_folder(folder) {}
    ~Swap() {
        for (const GrowingFile* file : m_placed)
            if (file) ::unlinkat(m_folder.number(), file->name().c_str(), 0);
        for (const auto& [name, hidden] : m_aside)
            giveBack(name, hidden);
    }
    Swap(const Swap&) = delete;
    Swap& operator=(const Swap&) = delete;

    bool tookAny() const { return !m_aside.empty(); }
    /// Hides a file or a link if there is one.
    void take(const std::string& name) {
        if (!m_folder.hasFile(name)) return;
        m_aside.emplace_back(name, temporaryNameFor(name)); // may throw, so before it is hidden
        if (rename(name, m_aside.back().second) == 0) return;
        const int error = errno;
        m_aside.pop_back();
        failFile(m_folder.pathOf(name),
                 phrase("Files", "%1: cannot set aside the earlier run's file: %2"), error);
    }
    /// Does the same, but the file keeps its name until another file gets it.
    void keep(const std::string& name) {
        if (!m_folder.hasFile(name)) return;
        m_aside.emplace_back(name, temporaryNameFor(name));
        const int folder = m_folder.number();
        const std::string& hidden = m_aside.back().second;
        if (::linkat(folder, name.c_str(), folder, hidden.c_str(), 0) == 0) return;
        m_aside.pop_back();
        take(name); // for file systems that allow only one name per file
    }
    void place(GrowingFile& file) {
        m_placed.push_back(nullptr);
        file.place();
        m_placed.back() = &file;
    }
    /// Removes the hidden files. Those that cannot be removed go when the next run begins.
    void finish() noexcept {
        for (const auto& [name, hidden] : m_aside)
            ::unlinkat(m_folder.number(), hidden.c_str(), 0);
        m_aside.clear();
        m_placed.clear();
    }

private:
    /// Gives a file its name back; if it cannot be renamed, by a second name and removing the
    /// first.
    void giveBack(const std::string& name, const std::string& hidden) const {
        const int folder = m_folder.number();
        if (rename(hidden, name) == 0 ||
            ::linkat(folder, hidden.c_str(), folder, name.c_str(), 0) == 0 || errno == EEXIST)
            ::unlinkat(folder, hidden.c_str(), 0); // two names of one file are not renamed
    }
    int rename(const std::string& from, const std::string& to) const {
        return ::renameat(m_folder.number(), from.c_str(), m_folder.number(), to.c_str());
    }
    const OutputFolder& m_folder;
    std::vector<std::pair<std::string, std::string>> m_aside; ///< their own and their hidden names
    std::vector<const GrowingFile*> m_placed;
};

/// Returns "path" from the root; `key` names the setting in the error.
std::string absolutePath(const std::string& key, const std::string& path) {
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(path, error);
    if (error)
        throw InputError(phrase("Files", "%1: %2 is not allowed: the current folder, from which it "
                                         "leads, is gone (%3); an absolute path is"),
                         key, quotedText(path), error.message());
    return whole.lexically_normal().string();
}

} // namespace

std::vector<std::string> runFileNames() {
    std::vector<std::string> names{run_file::kExperiment};
    for (std::string& name : resultNames())
        names.push_back(std::move(name));
    for (std::string& name : checkpointNames())
        names.push_back(std::move(name));
    return names;
}

std::vector<std::string> checkpointNames() {
    std::vector<std::string> names{run_file::kCheckpoint, run_file::kEarlierCheckpoint};
    for (const std::string& lane : allLanes())
        names.push_back(run_file::best(lane));
    return names;
}

bool isPredictions(const std::string& name) {
    return name.starts_with("predictions_") && name.ends_with(".npy");
}

bool isEvaluationFile(const std::string& name) {
    return name == run_file::kScores || name == run_file::kScoredSamples || isPredictions(name);
}

std::vector<std::string> evaluationFilesIn(const std::string& folder) {
    const auto has = [&folder](const std::string& name) {
        std::error_code ignored;
        return std::filesystem::exists(
            std::filesystem::symlink_status(std::filesystem::path(folder) / name, ignored));
    };
    std::vector<std::string> names;
    for (const std::string& lane : allLanes())
        if (std::string name = run_file::predictions(lane); has(name))
            names.push_back(std::move(name));
    if (names.empty()) return names;
    for (const char* name : {run_file::kScoredSamples, run_file::kScores})
        if (has(name)) names.emplace_back(name);
    return names;
}

std::vector<std::string> galleryNames(std::span<const std::string> lanes) {
    std::vector<std::string> names;
    for (const std::string& lane : lanes)
        names.push_back(run_file::samples(lane));
    names.push_back(run_file::kSamples);
    return names;
}

std::vector<std::string> mistakeNames(std::span<const std::string> lanes) {
    std::vector<std::string> names;
    for (const std::string& lane : lanes)
        names.push_back(run_file::mistakes(lane));
    return names;
}

void replaceRun(const OutputFolder& folder, std::span<GrowingFile* const> files,
                Checkpoints checkpoints, std::span<const std::string> kept) {
    const auto isNew = [files](const std::string& name) {
        return std::any_of(files.begin(), files.end(),
                           [&name](const GrowingFile* file) { return file->name() == name; });
    };
    const auto stays = [kept](const std::string& name) {
        return std::ranges::find(kept, name) != kept.end();
    };
    const bool goesOn = checkpoints == Checkpoints::Keep;
    Swap swap(folder);
    for (const std::string& name : resultNames())
        if (!stays(name)) (goesOn && isNew(name)) ? swap.keep(name) : swap.take(name);
    if (!goesOn)
        for (const std::string& name : checkpointNames())
            if (!stays(name)) swap.take(name);
    isNew(run_file::kExperiment) ? swap.keep(run_file::kExperiment)
                                 : swap.take(run_file::kExperiment);
    if (swap.tookAny()) folder.sync();
    for (GrowingFile* const file : files)
        swap.place(*file);
    folder.sync();
    swap.finish();
}

RunConfig portableConfig(RunConfig config) {
    for (const Field& field : fieldTable()) {
        if (field.kind != FieldKind::Path || field.scope != FieldScope::Run) continue;
        const auto path = std::get<std::string>(field.get(config, -1));
        if (!path.empty()) field.set(config, -1, absolutePath(field.key, path));
    }
    const auto place = [](LaneConfig& lane) {
        if (!lane.policyFile.empty())
            lane.policyFile = absolutePath("precision.policy", lane.policyFile);
    };
    for (LaneConfig& lane : config.lanes)
        place(lane);
    for (LaneFork& fork : config.forks)
        place(fork.lane);
    checkSettings(config); // the folder's name may be one that JSON cannot hold
    return config;
}

} // namespace halfscope
