// Writes summary.json, and reads from it, value by value, what the tables do not have.
#include "engine/runs/run_summary.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/io/json_text.h"
#include "engine/runs/best_value.h"
#include "engine/settings/precision.h"
#include "engine/settings/run_length.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace halfscope {
namespace {

constexpr int64_t kVersion = 1;
constexpr size_t kMostTextBytes = 200;

JsonText memoryJson(const MemoryUse& memory) {
    JsonText causes;
    for (int i = 0; i < kMemoryCauses; ++i) {
        const auto cause = static_cast<MemoryCause>(i);
        causes[std::string(nameOf(cause))] = memory.peakByCause[static_cast<size_t>(i)];
    }
    return causes;
}

void addPicture(JsonText& lane, const PictureError& error) {
    if (!error.comparable || error.notFinite > 0) return; // such a mean would flatter the lane
    lane["mae"] = jsonNumber(error.meanAbsolute);
    lane["psnr"] = jsonNumber(error.psnr());
}

JsonText laneJson(const LaneInfo& info, const LaneTotals& totals, double medianSeconds,
                  const MemoryUse& memory, const PictureError& error) {
    const StepRow& last = totals.last();
    JsonText lane;
    lane["name"] = info.name;
    lane["title"] = info.title;
    lane["precision"] = nameOf(info.config.precision);
    lane["steps"] = last.step;
    lane["final_loss"] =
        last.measured(metric::Loss) ? jsonNumber(last.loss()) : JsonText(); // it may be lost
    if (last.measured(metric::Loss)) lane["trailing_loss"] = jsonNumber(totals.trailingLoss());
    if (last.measured(metric::GeneratorLoss))
        lane["final_generator_loss"] = jsonNumber(static_cast<float>(last[metric::GeneratorLoss]));
    if (const auto loss = totals.validationLoss()) lane["validation_loss"] = jsonNumber(*loss);
    if (const auto& best = totals.bestLoss()) {
        lane["best_validation_loss"] = jsonNumber(best->value);
        lane["best_validation_loss_step"] = best->step;
    }
    if (const auto mae = totals.validationError()) lane["validation_mae"] = jsonNumber(*mae);
    if (const auto perplexity = totals.perplexity()) lane["perplexity"] = jsonNumber(*perplexity);
    if (const auto accuracy = totals.accuracy()) {
        lane["accuracy"] = jsonNumber(toldAccuracy(*accuracy, totals.validationLoss()));
        if (const auto& best = totals.bestAccuracy()) {
            lane["best_accuracy"] = jsonNumber(best->value);
            lane["best_accuracy_step"] = best->step;
        }
    }
    if (const auto& test = totals.test()) {
        lane["test_loss"] = jsonNumber(test->loss);
        if (test->error) lane["test_mae"] = jsonNumber(*test->error);
        if (test->perplexity) lane["test_perplexity"] = jsonNumber(*test->perplexity);
        if (test->accuracy)
            lane["test_accuracy"] = jsonNumber(toldAccuracy(*test->accuracy, test->loss));
    }
    if (const auto training = totals.trainingAccuracy()) { // of the epoch: its start may be sound
        const bool isNan = last.measured(metric::Loss) && std::isnan(last.loss());
        lane["training_accuracy"] = isNan ? JsonText("nan") : jsonNumber(*training);
    }
    if (const auto unchanged = totals.unchangedWeights())
        lane["unchanged_weights"] = jsonNumber(*unchanged);
    if (const auto copies = totals.unchangedCopies())
        lane["unchanged_copies"] = jsonNumber(*copies);
    if (const auto distance = totals.weightDistance())
        lane["weight_distance"] = jsonNumber(*distance);
    if (const auto gradient = totals.gradientError())
        lane["gradient_error"] = jsonNumber(*gradient);
    addPicture(lane, error);
    lane["final_scale"] = last.step > 0 ? jsonNumber(totals.scaleAfter()) : JsonText();
    lane["skipped_steps"] = last.skippedSoFar();
    if (totals.underflowStep() > 0) lane["underflow_step"] = totals.underflowStep();
    lane["median_device_seconds"] = jsonNumber(medianSeconds);
    lane["peak_bytes"] = memory.peakBytes;
    lane["peak_bytes_by_cause"] = memoryJson(memory);
    return lane;
}

[[noreturn]] void refuse(const std::string& key, const Json& value, const Message& allowed) {
    throw InputError(phrase("Files", "%1: %2 is not allowed: %3"), key, shown(value), allowed);
}

/// Returns a value by its key, never null; `path` is where the object stands, with a dot at its
/// end.
const Json* valueOf(const Json& object, const std::string& path, const std::string& key,
                    const Message& allowed) {
    const auto found = object.find(key);
    if (found == object.end())
        throw InputError(phrase("Files", "%1%2: missing; it must be %3"), path, key, allowed);
    return &*found;
}

const Json* objectOf(const Json& object, const std::string& key, const Message& allowed) {
    const Json& value = *valueOf(object, {}, key, allowed);
    if (!value.is_object()) refuse(key, value, allowed);
    return &value;
}

std::string textOf(const Json& object, const std::string& path, const std::string& key,
                   size_t least) {
    const Message allowed(phrase("Files", "one line of text, %1 to %2 bytes"), least,
                          kMostTextBytes);
    const Json& value = *valueOf(object, path, key, allowed);
    if (!value.is_string()) refuse(path + key, value, allowed);
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() < least || text.size() > kMostTextBytes || !isPlainText(text))
        refuse(path + key, value, allowed);
    return text;
}

/// Checks that a value is the word that is wanted.
void checkWord(const Json& object, const std::string& path, const std::string& key,
               const std::string& wanted, const Message& allowed) {
    const Json& value = *valueOf(object, path, key, allowed);
    if (value != wanted) refuse(path + key, value, allowed);
}

int64_t wholeOf(const Json& object, const std::string& path, const std::string& key, int64_t least,
                int64_t most, const Message& allowed) {
    const Json& value = *valueOf(object, path, key, allowed);
    const bool fits = value.is_number_integer() &&
                      !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX});
    if (!fits || value.get<int64_t>() < least || value.get<int64_t>() > most)
        refuse(path + key, value, allowed);
    return value.get<int64_t>();
}

size_t bytesOf(const Json& object, const std::string& path, const std::string& key) {
    return static_cast<size_t>(wholeOf(object, path, key, 0, std::numeric_limits<int64_t>::max(),
                                       phrase("Files", "a whole number of bytes from 0")));
}

DeviceInfo deviceOf(const Json& root) {
    const std::string path = "device.";
    const Json& json = *objectOf(
        root, "device", phrase("Files", "an object with name, kind, libraries and memory_bytes"));
    DeviceInfo device;
    device.name = textOf(json, path, "name", 1);
    device.kind = textOf(json, path, "kind", 1);
    if (device.kind != "cpu" && device.kind != "cuda")
        refuse(path + "kind", json["kind"], phrase("Files", "cpu or cuda"));
    device.libraries = textOf(json, path, "libraries", 0);
    device.memoryBytes = bytesOf(json, path, "memory_bytes");
    return device;
}

/// Returns the memory of a lane; nothing when the file does not tell the causes.
MemoryUse memoryOf(const Json& lane, const std::string& path) {
    MemoryUse memory;
    memory.peakBytes = bytesOf(lane, path, "peak_bytes");
    const auto causes = lane.find("peak_bytes_by_cause");
    if (causes == lane.end()) return memory;
    if (!causes->is_object())
        refuse(path + "peak_bytes_by_cause", *causes,
               phrase("Files", "an object of bytes by cause"));
    for (int i = 0; i < kMemoryCauses; ++i) {
        const std::string name(nameOf(static_cast<MemoryCause>(i)));
        if (causes->contains(name))
            memory.peakByCause[static_cast<size_t>(i)] =
                bytesOf(*causes, path + "peak_bytes_by_cause.", name);
    }
    return memory;
}

std::vector<MemoryUse> memoryOf(const Json& root, std::span<const std::string> lanes) {
    const Message wanted(phrase("Files", "a list of %1 lanes, as in experiment.json"),
                         lanes.size());
    const Json& list = *valueOf(root, {}, "lanes", wanted);
    if (!list.is_array()) refuse("lanes", list, wanted);
    if (list.size() != lanes.size())
        throw InputError(phrase("Files", "lanes: %1 lanes are not allowed: %2"), list.size(),
                         wanted);
    std::vector<MemoryUse> memory;
    for (size_t i = 0; i < lanes.size(); ++i) {
        const std::string path = "lanes." + std::to_string(i);
        if (!list[i].is_object())
            refuse(path, list[i], phrase("Files", "an object with name and peak_bytes"));
        checkWord(list[i], path + ".", "name", lanes[i],
                  {phrase("Files", "%1, as in experiment.json"), lanes[i]});
        memory.push_back(memoryOf(list[i], path + "."));
    }
    return memory;
}

/// Returns the text, or an empty one when there is none.
std::string textIn(const Json& object, const char* key) {
    const auto found = object.find(key); // in a value that is no object it finds nothing
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

TrainedOn readRoot(const Json& root, std::span<const std::string> lanes, int64_t steps,
                   Phrase counted) {
    if (!root.is_object())
        throw InputError(
            phrase(
                "Files",
                "%1 is not a summary: it must be an object with version, steps, device and lanes"),
            shown(root));
    wholeOf(root, {}, "version", kVersion, kVersion,
            {phrase("Files", "%1, the version that this program reads"), kVersion});
    wholeOf(root, {}, "steps", steps, steps, {counted, steps});
    TrainedOn trained;
    trained.device = deviceOf(root);
    trained.memory = memoryOf(root, lanes);
    for (const RunOutcome outcome : {RunOutcome::Finished, RunOutcome::Interrupted,
                                     RunOutcome::Stopped, RunOutcome::OutOfPatience})
        if (textIn(root, "outcome") == nameOf(outcome)) trained.outcome = outcome;
    const auto version = [&root](const char* of) {
        const auto all = root.find("versions");
        return all == root.end() ? std::string() : textIn(*all, of);
    };
    trained.program = version("halfscope");
    trained.compiler = version("compiler");
    return trained;
}

} // namespace

std::vector<PictureError> pictureErrors(const RunInfo& info, const LanePictures& pictures,
                                        const Picture& target) {
    if (viewKindOf(info.config.task) != ViewKind::Painted || pictures.fromFiles) return {};
    std::vector<PictureError> errors;
    for (const Picture& each : pictures.outputs)
        errors.push_back(errorBetween(each, target));
    return errors;
}

std::string summaryText(const RunInfo& info, std::span<const LaneInfo> lanes,
                        std::span<const LaneTotals> totals,
                        std::span<const double> medianDeviceSeconds,
                        std::span<const PictureError> errors, const LostSamples& lost) {
    int64_t steps = totals.empty() ? 0 : std::numeric_limits<int64_t>::max();
    for (const LaneTotals& each : totals)
        steps = std::min(steps, each.last().step);
    const double seconds = totals.empty() ? 0 : totals.front().last().wallSeconds();
    const DeviceInfo device = info.device.value_or(DeviceInfo{});
    JsonText summary;
    summary["version"] = kVersion;
    summary["outcome"] = nameOf(info.outcome.value_or(RunOutcome::Interrupted));
    summary["steps"] = steps;
    if (!totals.empty() && totals.front().last().measured(metric::Epoch)) {
        const int64_t perEpoch = epochPlanOf(info.config).stepsPerEpoch();
        summary["steps_per_epoch"] = perEpoch;
        summary["epochs"] = jsonNumber(static_cast<double>(steps) / static_cast<double>(perEpoch));
    }
    summary["wall_seconds"] = jsonNumber(seconds);
    summary["steps_per_second"] =
        jsonNumber(seconds > 0 ? static_cast<double>(steps) / seconds : 0.0);
    if (lost.all() > 0) {
        summary["lost_samples"] = lost.all();
        summary["lost_validation_samples"] = lost.judged;
        summary["lost_test_samples"] = lost.tested;
    }
    JsonText& on = summary["device"];
    on["name"] = device.name;
    on["kind"] = device.kind;
    on["libraries"] = device.libraries;
    on["memory_bytes"] = device.memoryBytes;
    JsonText& versions = summary["versions"];
    versions["halfscope"] = info.program;
    versions["compiler"] = info.compiler;
    JsonText list = JsonText::list();
    for (size_t i = 0; i < lanes.size(); ++i)
        list.push_back(laneJson(lanes[i], totals[i], medianDeviceSeconds[i],
                                i < info.memory.size() ? info.memory[i] : MemoryUse{},
                                i < errors.size() ? errors[i] : PictureError{}));
    summary["lanes"] = std::move(list);
    return summary.text();
}

TrainedOn trainedOnOf(std::string_view text, const std::string& path,
                      std::span<const std::string> lanes, int64_t steps, Phrase counted) {
    try {
        return readRoot(parseStrictJson(text, {.bytes = kMostSummaryBytes}).root(), lanes, steps,
                        counted);
    } catch (const InputError& error) {
        throw InputError(within(pathText(path), error.message()));
    }
}

} // namespace halfscope
