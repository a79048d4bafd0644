// Trusts a summary as long as the files beside it are those that the manifest names.
#include "engine/runs/run_figures.h"

#include "engine/core/error.h"
#include "engine/io/input_file.h"
#include "engine/io/strict_json.h"
#include "engine/runs/metrics.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_manifest.h"
#include "engine/runs/run_score.h"
#include "engine/runs/run_summary.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halfscope {
namespace {

namespace fs = std::filesystem;

/// Whether `file` was written after `other`.
bool isNewer(const struct stat& file, const struct stat& other) {
    return std::tie(file.st_mtim.tv_sec, file.st_mtim.tv_nsec) >
           std::tie(other.st_mtim.tv_sec, other.st_mtim.tv_nsec);
}

/// Whether a run has ended and its files are as it left them: of the size that the manifest tells,
/// which was written last, and no newer than that.
bool isAsWritten(const fs::path& folder) {
    const std::string path = (folder / run_file::kManifest).string();
    struct stat manifestFile = {};
    if (::stat(path.c_str(), &manifestFile) != 0) return false;
    const RunManifest manifest = readManifest(path);
    if (!manifest.whole) return false;
    for (const auto& [name, bytes] : manifest.files) {
        const std::string file = (folder / name).string();
        struct stat found = {};
        const bool is = ::stat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
                        found.st_size == bytes && !isNewer(found, manifestFile) &&
                        ::faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) == 0;
        if (!is) return false;
    }
    const auto isKnown = [&](const char* name) {
        std::error_code ignored;
        return manifest.files.contains(name) || !fs::exists(folder / name, ignored);
    };
    return manifest.files.contains(run_file::kSteps) &&
           manifest.files.contains(run_file::kExperiment) &&
           manifest.files.contains(run_file::kSummary) && isKnown(run_file::kTiming) &&
           isKnown(run_file::kEvents) && isKnown(run_file::kGradients);
}

/// Returns a number as jsonNumber() writes it; nothing when there is none.
std::optional<double> numberIn(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return std::nullopt;
    if (found->is_number()) return found->get<double>();
    constexpr double kInf = std::numeric_limits<double>::infinity();
    if (isText(*found, "nan")) return std::numeric_limits<double>::quiet_NaN();
    if (isText(*found, "inf")) return kInf;
    if (isText(*found, "-inf")) return -kInf;
    return std::nullopt;
}

LaneFigures laneOf(const Json& lane, const std::string& name) {
    LaneFigures figures{name, numberIn(lane, "trailing_loss"), numberIn(lane, "final_loss"),
                        numberIn(lane, "validation_loss"), numberIn(lane, "accuracy")};
    // the file has the shortest decimal of a float32
    if (figures.lastLoss) figures.lastLoss = double{static_cast<float>(*figures.lastLoss)};
    // "nan" stands for an accuracy of 0 among outputs that are nan, see toldAccuracy()
    if (figures.accuracy && std::isnan(*figures.accuracy)) figures.accuracy = 0;
    return figures;
}

/// Returns the figures that a summary has; nothing when it lacks one.
std::optional<RunFigures> figuresInText(const std::string& text, const std::string& path,
                                        const RunConfig& config) {
    const JsonTree summary = parseStrictJson(text, {.bytes = kMostSummaryBytes});
    const Json& root = summary.root();
    const auto lanes = root.find("lanes"), steps = root.find("steps");
    if (lanes == root.end() || !lanes->is_array() || steps == root.end() ||
        !steps->is_number_integer())
        return std::nullopt;
    std::vector<std::string> names;
    for (const LaneInfo& lane : lanesOf(config)) // forks may not have begun
        if (names.size() < lanes->size()) names.push_back(lane.name);
    RunFigures figures;
    figures.steps = steps->get<int64_t>();
    figures.outcome = trainedOnOf(text, path, names, figures.steps).outcome;
    for (size_t i = 0; i < names.size(); ++i) {
        figures.lanes.push_back(laneOf((*lanes)[i], names[i]));
        if (!figures.lanes.back().loss || !figures.lanes.back().lastLoss) return std::nullopt;
    }
    return figures;
}

} // namespace

RunFigures figuresOf(const RunSnapshot& run) {
    RunFigures figures{run.step(), {}, run.info().outcome, true};
    figures.ended = std::ranges::none_of(run.info().missing, [](const MissingPart& part) {
        return part.kind == MissingPart::Kind::RunEnd;
    });
    for (int lane = 0; lane < run.laneCount(); ++lane) {
        const LaneTotals& totals = run.totals(lane);
        LaneFigures each{run.lanes()[static_cast<size_t>(lane)].name,
                         {},
                         {},
                         totals.validationLoss(),
                         totals.accuracy()};
        if (const Column& losses = run.column(lane, metric::Loss); !losses.empty()) {
            each.loss = trailingLoss(run, lane);
            each.lastLoss = losses.lastValue();
        }
        figures.lanes.push_back(std::move(each));
    }
    return figures;
}

std::optional<RunFigures> figuresIn(const std::string& folder) {
    const fs::path path(folder);
    const std::string summary = (path / run_file::kSummary).string();
    try {
        if (!isAsWritten(path)) return std::nullopt;
        return figuresInText(readFile(summary, kMostSummaryBytes), summary,
                             readConfig((path / run_file::kExperiment).string()));
    } catch (const InputError&) { // what reads the whole run says which file it is
        return std::nullopt;
    }
}

} // namespace halfscope
