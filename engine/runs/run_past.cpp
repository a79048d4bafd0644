// Takes the rows of a saved run up to a step.
#include "engine/runs/run_past.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/input_file.h"
#include "engine/runs/gradient_file.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_manifest.h"
#include "engine/runs/run_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace halfscope {

namespace {

/// Whether anything has this path; also when that cannot be found out.
bool isThere(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::symlink_status(path, ignored).type() !=
           std::filesystem::file_type::not_found;
}

/// Returns the lines "lane,first_step,..." of the counts up to a step.
std::string gradientLines(const std::string& path, int64_t step) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return {};
    const std::string text = readFile(path);
    const std::string header = gradientHeader();
    std::string lines;
    if (!text.starts_with(header)) return lines;
    for (size_t at = header.size(); at < text.size();) {
        const size_t end = text.find('\n', at), comma = text.find(',', at);
        if (end == std::string::npos || comma == std::string::npos || comma > end)
            break; // a kill cut it off
        int64_t counted = 0;
        std::from_chars(text.data() + comma + 1, text.data() + end, counted);
        if (counted > 0 && counted <= step) lines += text.substr(at, end + 1 - at);
        at = end + 1;
    }
    return lines;
}

/// Whether an event came with the rows of a step or earlier, or was reported together with them.
bool isOf(const Event& event, int64_t step) {
    return event.step <= (event.kind == EventKind::Edit ? step + 1 : step);
}

/// The last step whose events a run that goes on takes: a recorded edit or fork that acts first on
/// the step after the checkpoint is told already.
int64_t lastTold(const RunConfig& recorded, int64_t step) {
    const auto isNext = [step](const auto& each) { return each.step == step + 1; };
    const bool next = std::any_of(recorded.edits.begin(), recorded.edits.end(), isNext) ||
                      std::any_of(recorded.forks.begin(), recorded.forks.end(), isNext);
    return next ? step + 1 : step;
}

/// Whether the damage is behind the step: what the run goes on to write replaces it.
bool isBehind(const MissingPart& damage, const RunConfig& recorded, int64_t step) {
    if (damage.kind == MissingPart::Kind::Rows) return damage.step >= step;
    return damage.kind == MissingPart::Kind::Rest && damage.name == run_file::kEvents &&
           damage.step >= lastTold(recorded, step);
}

} // namespace

void RunPast::forEach(const std::function<void(const RunBatch&)>& take) const {
    if (!rows) return;
    const RunSnapshot& from = rows->now();
    const std::vector<Event> events = eventsUpTo(from, recorded, step);
    auto event = events.begin();
    const int64_t before = after();
    for (int64_t at = 0; at <= step; ++at) {
        RunBatch batch;
        for (int32_t lane = 0; at > before && lane < from.laneCount(); ++lane)
            if (at > from.lanes()[static_cast<size_t>(lane)].forkStep)
                batch.rows.push_back(from.row(lane, at));
        for (; event != events.end() && isOf(*event, at); ++event)
            batch.events.push_back(*event);
        if (!batch.empty()) take(batch);
    }
}

std::shared_ptr<Run> RunPast::begun() const { return Run::goingOn(recorded, rows->now(), step); }

RunPast readPast(const std::string& folder, const std::string& run, int64_t step,
                 const RunConfig& recorded) {
    const std::filesystem::path place(folder);
    const std::string manifest = (place / run_file::kManifest).string();
    if (!isThere(manifest) && isThere(place / run_file::kSteps))
        throw InputError(phrase("Files", "%1: there are rows of a run, but no manifest.json, which "
                                         "tells whose they are; the checkpoint's run can go on in "
                                         "another folder, without them"),
                         pathText(folder));
    if (readManifest(manifest).run != run)
        throw InputError(phrase("Files", "%1: another run has begun in this folder since the "
                                         "checkpoint was written"),
                         pathText(folder));
    RunPast past{run, folder, step, recorded, readRun(folder)};
    for (const MissingPart& part : past.rows->info().missing)
        if (!part.reason.empty() && !isBehind(part, recorded, step))
            throw InputError(part.reason); // its rows would be lost
    if (past.rows->step() < step)
        throw InputError(phrase("Files", "%1: its rows end after step %2, before the checkpoint's "
                                         "step %3"),
                         pathText((place / run_file::kSteps).string()), past.rows->step(), step);
    past.gradients = gradientLines((place / run_file::kGradients).string(), step);
    return past;
}

bool holdsPast(const std::string& folder, const std::string& run, int64_t step) {
    const std::filesystem::path place(folder);
    const bool rows = isThere(place / run_file::kSteps);
    if (!isThere(place / run_file::kManifest)) return rows;
    try {
        const RunManifest manifest = readManifest((place / run_file::kManifest).string());
        return manifest.run != run || (rows && manifest.after < step);
    } catch (const InputError&) {
        return true;
    }
}

} // namespace halfscope
