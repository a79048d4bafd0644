// Implements what evaluate prints and writes.
#include "app/cli_scores.h"

#include "app/cli_output.h"
#include "app/cli_ranking.h"

#include "engine/core/text.h"
#include "engine/data/predicted_inputs.h"
#include "engine/io/json_text.h"
#include "engine/runs/best_value.h"
#include "engine/runs/run_folder.h"
#include "engine/train/predicted_samples.h"
#include "engine/train/samples_table.h"

#include <algorithm>
#include <cmath>

namespace halfscope::cli {

namespace {

constexpr size_t kMostPrinted = 12;   // classes: so many fit into 80 columns
constexpr size_t kMostWritten = 1000; // classes: ClassCounts has a row for each

std::string classOf(const Judged& judged, size_t index) {
    return index < judged.classes.size() ? judged.classes[index] : std::to_string(index);
}

/// Returns the first characters of a text in UTF-8.
std::string beginningOf(std::string text, size_t characters) {
    while (charactersIn(text) > characters)
        text.pop_back(); // the last byte that is left ends a character: none is cut
    return text;
}

/// Returns a table: rows are true classes, columns what the lane took them for, the last one for
/// none where all scores of a sample are nan.
std::string confusionText(const Judged& judged) {
    constexpr size_t kWidest = 12, kLeast = 5; // characters of a name and of a column
    const ClassCounts& counts = judged.counts;
    std::vector<std::string> names;
    size_t width = 4; // "true"
    for (size_t i = 0; i < counts.classes(); ++i) {
        names.push_back(beginningOf(pathText(classOf(judged, i)), kWidest));
        width = std::max(width, charactersIn(names.back()));
    }
    std::string text =
        "\n" + judged.lane + ", what each class was taken for:\n" + padded("true", width);
    for (const std::string& name : names)
        text += "  " + paddedLeft(name, kLeast);
    bool hasNone = false;
    for (size_t row = 0; row < counts.classes(); ++row)
        hasNone = hasNone || counts.count(row, counts.rows()) > 0;
    if (hasNone) text += "  " + paddedLeft("none", kLeast);
    for (size_t row = 0; row < counts.classes(); ++row) {
        text += "\n" + padded(names[row], width);
        for (size_t taken = 0; taken < counts.classes(); ++taken) {
            const size_t column = std::max(kLeast, charactersIn(names[taken]));
            text += "  " + paddedLeft(std::to_string(counts.count(row, taken)), column);
        }
        if (hasNone)
            text += "  " + paddedLeft(std::to_string(counts.count(row, counts.rows())), kLeast);
    }
    if (hasNone)
        text +=
            "\nnone, the last column: samples whose scores are all nan, so that no class has the "
            "highest one";
    return text + "\n";
}

JsonText confusionJson(const ClassCounts& counts) {
    JsonText rows = JsonText::list();
    for (size_t row = 0; row < counts.rows(); ++row) {
        JsonText taken = JsonText::list();
        for (size_t column = 0; column < counts.rows(); ++column)
            taken.push_back(counts.count(row, column));
        rows.push_back(std::move(taken));
    }
    return rows;
}

std::string scoresJson(std::span<const Judged> lanes) {
    const Judged& first = lanes.front();
    const bool hasClasses = first.counts.classes() > 0 && first.counts.classes() <= kMostWritten;
    JsonText json;
    const auto sameWeights = [&](const Judged& each) { return each.weights == first.weights; };
    const bool shared = std::all_of(lanes.begin(), lanes.end(), sameWeights);
    if (shared) json["weights"] = first.weights;
    json["samples"] = first.samples;
    if (first.test) json["test"] = true;
    if (!first.leftOut.empty()) json["left_out"] = first.leftOut.size();
    if (hasClasses) {
        JsonText names = JsonText::list();
        for (size_t i = 0; i < first.counts.classes(); ++i)
            names.push_back(classOf(first, i));
        json["classes"] = std::move(names);
    }
    JsonText list = JsonText::list();
    for (const Judged& each : lanes) {
        JsonText lane;
        lane["name"] = each.lane;
        if (!shared) lane["weights"] = each.weights;
        const Validation& found = each.validation;
        lane["loss"] = jsonNumber(found.loss);
        if (found.accuracy)
            lane["accuracy"] = jsonNumber(toldAccuracy(*found.accuracy, found.loss));
        if (found.error) lane["mae"] = jsonNumber(*found.error);
        if (found.perplexity) lane["perplexity"] = jsonNumber(*found.perplexity);
        if (each.notFinite > 0) lane["not_finite"] = each.notFinite;
        if (hasClasses) lane["confusion"] = confusionJson(each.counts);
        list.push_back(std::move(lane));
    }
    json["lanes"] = std::move(list);
    return json.text();
}

/// Returns what is known of samples that were predicted.
std::string scoresJson(const KnownTargets& known, std::span<const Judged> lanes) {
    JsonText json, list = JsonText::list();
    json["samples"] = known.samples;
    for (size_t i = 0; i < lanes.size(); ++i) {
        JsonText lane;
        lane["name"] = lanes[i].lane;
        if (known.classes) {
            lane["accuracy"] =
                static_cast<double>(known.right[i]) / static_cast<double>(known.samples);
        } else {
            if (i < known.right.size())
                lane["accuracy"] =
                    static_cast<double>(known.right[i]) / static_cast<double>(known.values);
            if (known.finite[i] < known.samples)
                lane["not_finite"] = known.samples - known.finite[i];
            if (known.finite[i] > 0) lane["mae"] = known.error[i];
            if (!std::isnan(known.determination[i])) lane["r2"] = known.determination[i];
        }
        list.push_back(std::move(lane));
    }
    json["lanes"] = std::move(list);
    return json.text();
}

std::vector<LanePredictions> predictionsOf(std::span<const Judged> lanes) {
    std::vector<LanePredictions> made;
    for (const Judged& each : lanes)
        made.push_back({each.lane, each.predictions});
    return made;
}

/// Returns the names of the classes; null where targets are numbers, also those of two classes.
const std::vector<std::string>* classesOf(std::span<const Judged> lanes) {
    return lanes.front().classes.empty() ? nullptr : &lanes.front().classes;
}

void writeArrays(const OutputFolder& folder, std::span<const Judged> lanes) {
    for (const Judged& each : lanes)
        folder.write(run_file::predictions(each.lane), predictionsNpy(each.predictions));
}

} // namespace

std::vector<std::string> scoreFileNames(std::span<const std::string> lanes) {
    std::vector<std::string> names{run_file::kScoredSamples, run_file::kScores};
    for (const std::string& lane : lanes)
        names.push_back(run_file::predictions(lane));
    return names;
}

void checkScores(const std::string& folder) {
    for (const std::string& name : namesIn(folder, Entries::Files))
        if (isPredictions(name)) return;
    for (const char* name : {run_file::kScoredSamples, run_file::kScores}) {
        const std::filesystem::path file = std::filesystem::path(folder) / name;
        if (std::filesystem::is_regular_file(std::filesystem::symlink_status(file)))
            throw InputError(Message::data("--out: " + pathText(file.string()) +
                                           " is not of an evaluation, which would replace or "
                                           "remove it; move it away, or choose another folder"));
    }
}

std::string scoresTable(std::span<const Judged> lanes) {
    size_t width = 4; // "lane"
    for (const Judged& each : lanes)
        width = std::max(width, each.lane.size());
    constexpr size_t kColumn = 12;
    const bool classes = lanes.front().validation.accuracy.has_value();
    const bool perplexes = lanes.front().validation.perplexity.has_value();
    const bool errs = lanes.front().validation.error.has_value();
    const auto lossColumn = [&](const std::string& word) {
        return classes || errs ? padded(word, kColumn) : word;
    };
    std::string text = padded("lane", width) + "  " + lossColumn("loss");
    if (perplexes) text += padded("perplexity", kColumn);
    if (errs) text += "mean absolute error";
    text += classes ? "accuracy\n" : "\n";
    for (const Judged& each : lanes) {
        text += padded(each.lane, width) + "  " + lossColumn(shortNumber(each.validation.loss, 6));
        if (each.validation.perplexity)
            text += padded(shortNumber(*each.validation.perplexity, 4), kColumn);
        if (classes) text += accuracyText(*each.validation.accuracy, each.validation.loss);
        if (each.validation.error) text += shortNumber(*each.validation.error, 6);
        text += "\n";
    }
    if (classes && lanes.front().counts.classes() <= kMostPrinted)
        for (const Judged& each : lanes)
            text += confusionText(each);
    for (const Judged& each : lanes)
        if (const auto note = notFiniteNote(each.lane, each.notFinite, each.samples))
            text += note->english() + "\n";
    return text;
}

TargetScores writePredictions(const OutputFolder& folder, std::span<const Judged> lanes,
                              const TaskConfig& task) {
    const std::vector<LanePredictions> made = predictionsOf(lanes);
    const auto* const classes = classesOf(lanes);
    const std::string table = predictsArray(task) ? samplesCsv(made, classes, {}, WithTargets::No)
                                                  : predictedTable(task, made, classes);
    writeArrays(folder, lanes);
    folder.write(run_file::kScoredSamples, table);
    TargetScores scores = knownTargets(task, made, classes);
    if (scores.known)
        folder.write(run_file::kScores, scoresJson(*scores.known, lanes));
    else
        folder.remove(run_file::kScores); // of other samples
    return scores;
}

void writeScores(const OutputFolder& folder, std::span<const Judged> lanes,
                 std::span<const std::string> texts) {
    writeArrays(folder, lanes);
    folder.write(run_file::kScoredSamples,
                 samplesCsv(predictionsOf(lanes), classesOf(lanes), texts, WithTargets::Yes));
    folder.write(run_file::kScores, scoresJson(lanes));
}

} // namespace halfscope::cli
