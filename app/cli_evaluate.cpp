// Implements the evaluate command: every lane computes the same weights in its own precision.
#include "app/cli_evaluate.h"

#include "app/cli_output.h"
#include "app/cli_signals.h"

#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/io/json_text.h"
#include "engine/io/npy.h"
#include "engine/io/output_folder.h"
#include "engine/train/experiment.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <vector>

namespace halfscope::cli {

namespace {

struct Judged {
    std::string lane;
    Validation validation;
    Predictions predictions;
};

/// The data sets that can hold samples back, in words.
std::string validatedSets() {
    std::string text;
    for (const DataSetInfo& info : dataSets())
        if (info.validates) text += std::string(text.empty() ? "" : ", ") + info.name;
    return text;
}

Judged judge(Experiment& experiment, int lane, bool keepsPredictions) {
    Judged judged;
    judged.lane = experiment.laneName(lane);
    const std::atomic<bool> stop{false};
    const std::optional<Validation> found =
        experiment.lane(lane).evaluate(stop, keepsPredictions ? &judged.predictions : nullptr);
    require(found.has_value(), "nobody asked the evaluation to stop");
    judged.validation = *found;
    return judged;
}

std::string tableText(std::span<const Judged> lanes) {
    size_t width = 4; // "lane"
    for (const Judged& each : lanes)
        width = std::max(width, each.lane.size());
    const bool classes = lanes.front().validation.accuracy.has_value();
    std::string text =
        padded("lane", width) + "  loss" + (classes ? "        accuracy" : "") + "\n";
    for (const Judged& each : lanes) {
        const std::string loss = shortNumber(each.validation.loss, 6);
        text += padded(each.lane, width) + "  " + (classes ? padded(loss, 12) : loss);
        if (classes) text += shortNumber(100 * *each.validation.accuracy, 4) + " %";
        text += "\n";
    }
    return text;
}

/// `samples`: that were judged; `leftOut`: that could not be read.
std::string scoresText(const std::string& weights, std::span<const Judged> lanes, int64_t samples,
                       size_t leftOut) {
    JsonText json;
    json["weights"] = weights;
    json["samples"] = samples;
    if (leftOut > 0) json["left_out"] = leftOut;
    JsonText list = JsonText::list();
    for (const Judged& each : lanes) {
        JsonText lane;
        lane["name"] = each.lane;
        lane["loss"] = each.validation.loss;
        if (each.validation.accuracy) lane["accuracy"] = *each.validation.accuracy;
        list.push_back(std::move(lane));
    }
    json["lanes"] = std::move(list);
    return json.text();
}

void tellLeftOut(std::span<const Message> reasons) {
    constexpr size_t kMost = 10;
    for (const Message& why : reasons.first(std::min(kMost, reasons.size())))
        printNote(why.english() + ". It is left out.\n");
    if (reasons.size() > kMost)
        printNote("And " + std::to_string(reasons.size() - kMost) + " more are left out.\n");
}

} // namespace

int evaluate(const EvaluateOptions& options) {
    RunConfig config = options.experiment.config();
    config.forks.clear(); // nothing is trained
    config.edits.clear();
    if (config.model.weights.empty())
        throw InputError(
            Message::data("evaluate: --weights is missing, the file of the weights to judge"));
    if (!infoOf(config.task.kind).validates)
        throw InputError(
            Message::data(std::string("data.kind: ") + infoOf(config.task.kind).name +
                          " has no samples to judge by; these have: " + validatedSets()));
    SignalWatch signals; // before the engine starts threads; ends the program while it judges
    Experiment experiment(config);
    if (!experiment.validates())
        throw InputError(
            Message::data("data.validation: 0 is not allowed: there are no samples to judge by"));
    std::vector<Judged> lanes;
    for (int lane = 0; lane < experiment.lanes(); ++lane)
        lanes.push_back(judge(experiment, lane, !options.out.empty()));
    const std::vector<Message>& leftOut = experiment.lane(0).skippedSamples();
    const int64_t samples =
        experiment.lane(0).validationSamples() - static_cast<int64_t>(leftOut.size());
    tellLeftOut(leftOut);
    signals.setStop([] {}); // what is being written is written to its end
    if (!options.out.empty()) {
        const OutputFolder folder(options.out);
        for (const Judged& each : lanes) {
            const int64_t shape[] = {each.predictions.samples, each.predictions.outputs};
            folder.write("predictions_" + each.lane + ".npy",
                         npyBytes(shape, each.predictions.values));
        }
        folder.write("scores.json",
                     scoresText(config.model.weights, lanes, samples, leftOut.size()));
    }
    if (options.quiet) return 0;
    print(std::to_string(samples) + " validation samples\n" + tableText(lanes));
    if (!options.out.empty()) print("Files: " + options.out + "\n");
    return 0;
}

} // namespace halfscope::cli
