// Goes by the files that paths lead to, not by how the paths are written.
#include "engine/runs/overwriting.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/own_files.h"
#include "engine/io/growing_file.h"
#include "engine/io/input_file.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_manifest.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace halfscope {

namespace {

namespace fs = std::filesystem;

bool isThere(const fs::path& path) {
    std::error_code ignored; // what cannot be examined is not replaced without an error either
    return fs::exists(path, ignored);
}

/// Whether a file lies in a folder or in one of those in it.
bool liesIn(const std::string& file, const std::string& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) return false;
    const fs::path whole = fs::canonical(file, error), above = fs::canonical(folder, error);
    if (whole.empty() || above.empty()) return false;
    return std::mismatch(above.begin(), above.end(), whole.begin(), whole.end()).first ==
           above.end();
}

/// Whether a file, or what a link of another name leads to, is one that a run in a folder reads.
/// The folder is asked only where the name fits, whatever its case: it may be on a dead network.
bool isOfRun(const std::string& file, const fs::path& folder) {
    std::error_code error;
    const std::string written = lowerCase(fs::canonical(file, error).filename().string());
    return std::ranges::any_of(runFileNames(), [&](const std::string& name) {
        return lowerCase(name) == written && isSameFile((folder / name).string(), file);
    });
}

void refuseRead(std::span<const ReadPath> all, const std::string& file) {
    for (const ReadPath& each : all)
        if (each.isRun ? isOfRun(file, each.path) : isSameFile(each.path, file))
            throw InputError(phrase("Files", "%1 is the file of %2 and would be overwritten; "
                                             "choose another folder or name"),
                             pathText(file), each.name);
}

void addPolicy(std::vector<ReadPath>& all, const LaneConfig& lane) {
    if (lane.precision == Precision::User && !lane.policyFile.empty())
        all.push_back({"precision.policy", lane.policyFile});
}

/// Whether the folder has a manifest that a run has written.
bool hasManifest(const fs::path& folder) {
    const fs::path file = folder / run_file::kManifest;
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return false;
    const auto size = fs::file_size(file, error);
    if (error || size > kMostManifestBytes) return false;
    const std::string text = readFile(file.string(), kMostManifestBytes);
    try {
        (void)manifestOf(text);
        return true;
    } catch (const InputError&) {
        return false; // it is another program's
    }
}

/// Whether the folder has a run without a manifest, as earlier versions wrote them: settings and a
/// table of steps.
bool hasEarlierRun(const fs::path& folder) {
    constexpr std::string_view kBegin = "step,lane";
    const fs::path settings = folder / run_file::kExperiment, steps = folder / run_file::kSteps;
    if (!isThere(settings) || !isThere(steps)) return false;
    try {
        (void)readConfig(settings.string());
        std::array<char, kBegin.size()> first{};
        const size_t count = InputFile(steps.string()).read(first);
        return count == 0 || std::string_view(first.data(), count) == kBegin;
    } catch (const InputError&) {
        return false;
    }
}

/// Whether a run was killed in the folder before all its files had their names.
bool hasRemains(const std::string& folder) {
    const std::vector<std::string> all = namesIn(folder, Entries::Files), names = runFileNames();
    return std::ranges::any_of(all, [&names](const std::string& each) {
        return isTemporaryName(each) && std::ranges::any_of(names, [&each](const auto& name) {
                   return each.starts_with("." + name + ".");
               });
    });
}

} // namespace

std::vector<ReadPath> readPathsOf(const RunConfig& config) {
    std::vector<ReadPath> all;
    for (const Field& field : fieldTable()) {
        if (field.kind != FieldKind::Path || field.scope != FieldScope::Run) continue;
        if (field.applies && !field.applies(config, -1)) continue;
        auto path = std::get<std::string>(field.get(config, -1));
        if (!path.empty()) all.push_back({field.key, std::move(path)});
    }
    for (const LaneConfig& lane : config.lanes)
        addPolicy(all, lane);
    for (const LaneFork& fork : config.forks)
        addPolicy(all, fork.lane);
    return all;
}

void keepRead(std::span<const ReadPath> all, const std::string& folder,
              std::span<const std::string> names) {
    for (const std::string& name : names)
        if (const fs::path file = fs::path(folder) / name; isThere(file))
            refuseRead(all, file.string());
}

void keepRead(std::span<const ReadPath> all, const std::string& file) {
    if (!isThere(file)) return;
    refuseRead(all, file);
    const std::string ending = lowerCase(fs::path(file).extension().string());
    if (ending == ".onnx" || ending == ".csv") return;
    for (const ReadPath& each : all)
        if (!each.isRun && liesIn(file, each.path))
            throw InputError(phrase("Files", "%1 lies in the folder of %2 and would be "
                                             "overwritten; choose another folder or name"),
                             pathText(file), each.name);
}

bool holdsRun(const std::string& folder) {
    return hasManifest(folder) || hasEarlierRun(folder) || hasRemains(folder);
}

bool isRecorded(const std::string& folder) {
    const std::string settings = (fs::path(folder) / run_file::kExperiment).string();
    try {
        return isThere(settings) && readConfig(settings).task.kind == TaskKind::Recorded;
    } catch (const InputError&) {
        return false; // it is another program's, or damaged
    }
}

void keepRecorded(const std::string& folder) {
    if (!isRecorded(folder)) return;
    throw InputError(phrase("Files", "the training in %1 was recorded in PyTorch, and cannot be "
                                     "trained again here; choose another folder"),
                     pathText(folder));
}

void keepForeign(const std::string& folder, std::span<const std::string> but) {
    const std::vector<std::string> names = runFileNames();
    const auto found = std::ranges::find_if(names, [&](const std::string& name) {
        std::error_code ignored;
        return std::ranges::find(but, name) == but.end() &&
               fs::symlink_status(fs::path(folder) / name, ignored).type() ==
                   fs::file_type::regular;
    });
    if (found == names.end() || holdsRun(folder)) return;
    throw InputError(phrase("Files", "%1 is not the file of a run, and a run would replace or "
                                     "remove it; move it away, or choose another folder"),
                     pathText((fs::path(folder) / *found).string()));
}

} // namespace halfscope
