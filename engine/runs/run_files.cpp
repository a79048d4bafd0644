// Implements the files of a run. How a file becomes visible in one piece is in io/atomic_file.
#include "engine/runs/run_files.h"

#include "engine/core/text.h"
#include "engine/settings/lane_titles.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <numeric>

namespace halfscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kGradientsFile = "gradients.csv";
constexpr double kSlowStepSeconds = 0.05; // reading the pictures back costs little beside it

/// As RFC 4180 quotes a field of a csv file.
std::string csvText(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string laneText(int32_t lane, std::span<const std::string> lanes) {
    return lane < 0 ? "all" : csvText(lanes[static_cast<size_t>(lane)]);
}

/// The fields of a line, with commas between them.
std::string csvLine(std::initializer_list<std::string> fields) {
    std::string line;
    for (const std::string& field : fields) {
        if (&field != fields.begin()) line += ',';
        line += field;
    }
    return line += '\n';
}

/// JSON has no nan and no inf: they become the words of the csv files.
Json jsonNumber(double x) { return std::isfinite(x) ? Json(x) : Json(numberText(x)); }
/// A float32 as the shortest decimal that reads back as it, not with a double's digits.
Json jsonNumber(float x) {
    return std::isfinite(x) ? Json::parse(numberText(x)) : Json(numberText(x));
}

/// A relative picture path starts at the experiment file; the folder of a run is another one.
RunConfig portable(RunConfig config) {
    if (!config.task.image.empty()) {
        config.task.image =
            std::filesystem::absolute(config.task.image).lexically_normal().string();
    }
    const auto place = [](LaneConfig& lane) {
        if (lane.policyFile.empty()) return;
        lane.policyFile = std::filesystem::absolute(lane.policyFile).lexically_normal().string();
    };
    for (LaneConfig& lane : config.lanes)
        place(lane);
    for (LaneFork& fork : config.forks)
        place(fork.lane);
    checkConfig(config); // the folder's name may be none that JSON can hold
    return config;
}

Json memoryJson(const MemoryUse& memory) {
    Json causes;
    for (int i = 0; i < kMemoryCauses; ++i) {
        const auto cause = static_cast<MemoryCause>(i);
        causes[std::string(nameOf(cause))] = memory.peakByCause[static_cast<size_t>(i)];
    }
    return causes;
}

Json laneJson(const std::string& name, const std::string& title, const LaneConfig& config,
              const LaneTotals& totals, const RecentTimes& times, const MemoryUse& memory) {
    const StepRow& last = totals.last();
    Json lane;
    lane["name"] = name;
    lane["title"] = title;
    lane["precision"] = nameOf(config.precision);
    lane["steps"] = totals.steps();
    lane["final_loss"] = totals.steps() > 0 ? jsonNumber(last.loss()) : Json();
    lane["final_scale"] = totals.steps() > 0 ? jsonNumber(totals.scaleAfter()) : Json();
    lane["skipped_steps"] = last.skippedSoFar();
    lane["median_device_seconds"] = jsonNumber(times.median());
    lane["peak_bytes"] = memory.peakBytes;
    lane["peak_bytes_by_cause"] = memoryJson(memory);
    return lane;
}

std::string pictureName(const std::string& lane) { return "output_" + lane + ".png"; }

/// What an earlier run left in the folder must not pass for this one's where this one is killed,
/// nor the picture of a lane that it does not have.
void removeEarlierRun(const std::string& folder) {
    const auto remove = [&folder](const std::string& name) {
        const std::filesystem::path path = folder + "/" + name;
        std::error_code ignored;
        if (std::filesystem::is_symlink(path, ignored)) return; // written through, as it was
        if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
    };
    for (const char* name :
         {"summary.json", "steps.csv", "events.csv", "timing.csv", kGradientsFile})
        remove(name);
    for (const PrecisionPreset& preset : precisionPresets())
        for (int number = 1; number <= static_cast<int>(kMaxLanes); ++number)
            remove(pictureName(laneName(preset.precision, number)));
}

} // namespace

const char* const kStepHeader = "step,lane,loss,scale,growth_tracker,learning_rate,gradient_norm,"
                                "skipped,grew,backed_off,loss_not_finite,skipped_so_far\n";
const char* const kEventHeader = "step,lane,kind,scale_before,scale_after,tensor,text\n";
const char* const kTimingHeader = "step,lane,device_seconds,wall_seconds\n";

std::string stepLine(const StepRecord& record, std::span<const std::string> lanes) {
    const auto flag = [&](StepFlag each) { return (record.flags & each) != 0 ? "1" : "0"; };
    return csvLine({numberText(record.step), laneText(record.lane, lanes), numberText(record.loss),
                    numberText(record.scale), numberText(int64_t{record.growthTracker}),
                    numberText(record.learningRate), numberText(record.gradientNorm),
                    flag(kSkipped), flag(kGrew), flag(kBackedOff), flag(kLossNotFinite),
                    numberText(record.skippedSoFar)});
}

std::string eventLine(const Event& event, std::span<const std::string> lanes) {
    return csvLine({numberText(event.step), laneText(event.lane, lanes), nameOf(event.kind),
                    numberText(event.scaleBefore), numberText(event.scaleAfter),
                    csvText(event.tensor), csvText(event.text)});
}

std::string timingLine(const StepRecord& record, std::span<const std::string> lanes) {
    return csvLine({numberText(record.step), laneText(record.lane, lanes),
                    numberText(record.deviceSeconds), numberText(record.wallSeconds)});
}

std::string gradientHeader() {
    std::string line = "lane,first_step,last_step,counted_step,zero";
    for (int i = 0; i < MagnitudeCounts::kBuckets; ++i)
        line += ",2^" + std::to_string(MagnitudeCounts::kLowest + i);
    return line + ",not_finite\n";
}

std::string gradientLine(const GradientRange& range, const std::string& lane) {
    const auto total = static_cast<double>(std::max<int64_t>(1, range.total()));
    const auto share = [total](int64_t count) {
        return ',' + numberText(static_cast<float>(static_cast<double>(count) / total));
    };
    const std::string step = ',' + numberText(range.step);
    std::string line = csvText(lane) + step + step + step + share(range.zeros());
    for (size_t i = 0; i < range.outputs.buckets.size(); ++i)
        line += share(range.outputs.buckets[i] + range.weights.buckets[i]);
    return line + share(range.notFinite()) + '\n';
}

RunFiles::RunFiles(std::string folder, const Experiment& experiment)
    : m_folder((makeOutputFolder(folder), std::move(folder))), m_lock(m_folder),
      m_lanes(laneNames(experiment.config())), m_totals(m_lanes.size()), m_times(m_lanes.size()),
      m_steps(pathTo("steps.csv")), m_events(pathTo("events.csv")), m_timing(pathTo("timing.csv")) {
    const std::string text = configText(portable(experiment.recorded()));
    writePng(experiment.target(), pathTo("target.png"));
    writeFileAtomically(pathTo("experiment.json"), text); // last of what can fail: see run_files.h
    removeEarlierRun(m_folder);
    m_steps.append(kStepHeader);
    m_events.append(kEventHeader);
    m_timing.append(kTimingHeader);
}

void RunFiles::append(Experiment& experiment, std::span<const StepRecord> records,
                      std::span<const Event> events) {
    m_lanes = laneNames(experiment.config()); // a fork adds one
    m_totals.resize(m_lanes.size());
    m_times.resize(m_lanes.size());
    std::string steps;
    std::string timing;
    for (const StepRecord& record : records) {
        steps += stepLine(record, m_lanes);
        timing += timingLine(record, m_lanes);
        m_totals[static_cast<size_t>(record.lane)].add(rowOf(record));
        m_times[static_cast<size_t>(record.lane)].add(record.deviceSeconds);
    }
    m_steps.append(steps);
    m_timing.append(timing);
    for (const Event& event : events) {
        m_events.append(eventLine(event, m_lanes));
        if (event.lane >= 0) m_totals[static_cast<size_t>(event.lane)].add(event);
    }
    const double seconds =
        std::transform_reduce(records.begin(), records.end(), 0.0, std::plus<>(),
                              [](const StepRecord& record) { return record.deviceSeconds; });
    if (seconds >= kSlowStepSeconds) m_pictures = experiment.snapshot();
}

void RunFiles::append(std::span<const GradientRange> ranges) {
    std::string lines;
    for (size_t i = 0; i < ranges.size(); ++i)
        lines += gradientLine(ranges[i], m_lanes[i]);
    if (!m_gradients) {
        m_gradients.emplace(pathTo(kGradientsFile));
        m_gradients->append(gradientHeader());
    }
    m_gradients->append(lines);
}

void RunFiles::finish(Experiment& experiment, RunOutcome outcome, std::string_view programVersion) {
    m_steps.finish();
    m_events.finish();
    m_timing.finish();
    if (m_gradients) m_gradients->finish();
    // with the forks and edits since the start
    writeFileAtomically(pathTo("experiment.json"), configText(portable(experiment.recorded())));
    if (experiment.step() > 0) {
        const bool kept = m_pictures && m_pictures->step == experiment.step() &&
                          m_pictures->outputs.size() == m_lanes.size();
        if (!kept) m_pictures = experiment.snapshot();
        for (size_t i = 0; i < m_lanes.size(); ++i) {
            writePng(m_pictures->outputs[i], pathTo(pictureName(m_lanes[i])));
        }
    }
    const double seconds = m_totals.front().last().wallSeconds();
    const DeviceInfo& device = experiment.device();
    Json summary;
    summary["version"] = 1;
    summary["outcome"] = nameOf(outcome);
    summary["steps"] = experiment.step();
    summary["wall_seconds"] = jsonNumber(seconds);
    summary["steps_per_second"] =
        jsonNumber(seconds > 0 ? static_cast<double>(experiment.step()) / seconds : 0.0);
    summary["device"] = {{"name", device.name},
                         {"kind", device.kind},
                         {"libraries", device.libraries},
                         {"memory_bytes", device.memoryBytes}};
    summary["versions"] = {{"halfscope", programVersion}, {"compiler", __VERSION__}};
    const std::vector<LaneTitle> titles = laneTitleParts(experiment.config());
    Json& lanes = summary["lanes"] = Json::array();
    for (size_t i = 0; i < m_lanes.size(); ++i) {
        lanes.push_back(laneJson(m_lanes[i], titleText(titles[i]), experiment.config().lanes[i],
                                 m_totals[i], m_times[i],
                                 experiment.lane(static_cast<int>(i)).memory()));
    }
    writeFileAtomically(pathTo("summary.json"),
                        summary.dump(4, ' ', false, Json::error_handler_t::replace) + "\n");
}

} // namespace halfscope
