// Judges the other samples as those that were held back are judged.
#include "engine/train/predicted_samples.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/class_counts.h"
#include "engine/data/csv_columns.h"
#include "engine/data/csv_fields.h"
#include "engine/data/csv_samples.h"
#include "engine/data/data_print.h"
#include "engine/data/dataset.h"
#include "engine/data/new_pictures.h"
#include "engine/data/own_files.h"
#include "engine/data/predicted_inputs.h"
#include "engine/data/text_table.h"
#include "engine/io/npy.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/train/known_targets.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

namespace halfscope {

namespace {

/// A table's lines as they stand in its file.
struct TableText {
    std::optional<std::string> header{};
    std::vector<std::string> lines{};
    char separator = ',';
    bool commas = false; ///< a number has a decimal comma
};

/// Whether numbers of the table that was trained on have decimal commas.
bool trainedOnCommas(const TaskConfig& task) {
    try {
        CsvFile file = tableOf(task);
        file.readHeader();
        while (file.commas() && file.next())
            for (const std::string_view field : file.fields) {
                const NumberText number(trimmed(field), true);
                if (number.mark != 0 && number.isNumber()) return number.mark == ',';
            }
    } catch (const InputError&) { // it changed since; then these numbers alone tell
    }
    return false;
}

TableText readTable(const TaskConfig& task) {
    CsvFile file = predictedTableOf(task);
    file.readHeader();
    takeCommasOfTrained(task, file);
    TableText table{.separator = file.separator()};
    bool points = false;
    if (task.header) table.header = file.record();
    while (file.next()) {
        for (const std::string_view field : file.fields) {
            const NumberText number(trimmed(field), file.commas());
            table.commas = table.commas || (number.mark == ',' && number.isNumber());
            points = points || (number.mark == '.' && number.isNumber());
        }
        table.lines.emplace_back(file.record());
    }
    if (file.commas() && !table.commas && !points) table.commas = trainedOnCommas(task);
    return table;
}

std::string fieldText(const std::string& text, char separator) {
    const char special[] = {separator, '"', '\r', '\n', '\0'};
    if (text.find_first_of(special) == text.npos) return text;
    std::string field = "\"";
    for (const char c : text)
        field += c == '"' ? std::string("\"\"") : std::string(1, c);
    return field + '"';
}

/// Returns a field, or what stands for one that is empty: spaces alone make none.
std::string orNone(std::string field, const TableText& table) {
    return field.empty() && table.separator == ' ' ? "NA" : field;
}

/// Returns the fields of each predicted sample: its number, or its class and how probable that is.
std::vector<std::string> fieldsOf(const Predictions& all, const std::vector<std::string>* classes,
                                  const TableText& table) {
    const auto number = [&table](std::string text) {
        if (table.commas) std::replace(text.begin(), text.end(), '.', ',');
        return fieldText(text, table.separator);
    };
    std::vector<std::string> fields;
    if (classes) {
        for (const PredictedClass& each : predictedClasses(all, *classes))
            fields.push_back(orNone(fieldText(each.name, table.separator), table) +
                             table.separator + orNone(number(each.probability), table));
        return fields;
    }
    for (size_t i = 0; i < all.values.size(); ++i)
        fields.push_back(number(predictedText(all, all.value(i))));
    return fields;
}

/// Returns the end of the names of a lane's columns.
std::string endFor(std::span<const LanePredictions> lanes, const LanePredictions& lane) {
    return lanes.size() > 1 ? "_" + lane.lane : std::string();
}

std::string tableWith(TableText table, const std::string& name,
                      std::span<const LanePredictions> lanes,
                      const std::vector<std::string>* classes) {
    const std::string empty = orNone({}, table);
    const std::string none = classes ? empty + table.separator + empty : empty;
    for (const LanePredictions& lane : lanes) {
        const auto heading = [&](const char* what) {
            return table.separator + fieldText(name + what + endFor(lanes, lane), table.separator);
        };
        if (table.header) *table.header += heading("_predicted");
        if (table.header && classes) *table.header += heading("_probability");
        const std::vector<std::string> fields = fieldsOf(lane.all, classes, table);
        std::vector<std::string> behind(table.lines.size(), none);
        for (size_t i = 0; i < fields.size(); ++i)
            behind.at(static_cast<size_t>(lane.all.numbers[i])) = fields[i];
        for (size_t i = 0; i < behind.size(); ++i)
            table.lines[i] += table.separator + behind[i];
    }
    std::string text;
    if (table.header) text = *table.header + "\n";
    for (const std::string& line : table.lines)
        text += line + "\n";
    return text;
}

std::string pictureTable(const NewPictures& pictures, std::span<const LanePredictions> lanes,
                         std::span<const std::string> classes) {
    std::string text = "file";
    std::vector<std::vector<PredictedClass>> found;
    for (const LanePredictions& lane : lanes) {
        const std::string end = endFor(lanes, lane);
        text += ',' + fieldText("class_predicted" + end, ',') + ',' +
                fieldText("probability" + end, ',');
        found.push_back(predictedClasses(lane.all, classes));
        if (pictures.names.size() != found.back().size())
            throw InputError(phrase("Training", "pictures came or went while they were predicted"));
    }
    text += '\n';
    for (size_t i = 0; i < pictures.names.size(); ++i) {
        text += fieldText(pictures.names[i], ',');
        for (const std::vector<PredictedClass>& lane : found)
            text += ',' + fieldText(lane[i].name, ',') + ',' + lane[i].probability;
        text += '\n';
    }
    return text;
}

/// Names the first samples that could not be read.
void addLeftOut(const std::vector<Message>& leftOut, std::vector<Message>& notes) {
    constexpr size_t kMost = 3;
    const size_t named = std::min(kMost, leftOut.size());
    for (size_t i = 0; i < named; ++i)
        notes.emplace_back(phrase("Training", "%1. It has no prediction."), leftOut[i]);
    if (named < leftOut.size())
        notes.emplace_back(phrase("Training", "There are %1 more that cannot be read."),
                           leftOut.size() - named);
}

/// Whose predictions are wanted, and with which weights.
struct Asked {
    RunConfig config; ///< with all lanes of the run
    std::vector<size_t> lanes{};
    std::vector<std::string> names{}; ///< of those lanes
    std::string trained{};            ///< dataPrint() of the run
    bool untrained = false;           ///< no step was taken from weights that were drawn
    /// Returns the weights of a lane for the network of a step.
    std::function<Weights(size_t lane, const Graph& step)> weights{};
};

/// Sets the weights of a lane in a network of its own, `judge`.
void setWeights(const Asked& asked, size_t lane, Experiment& judge) {
    Trainer& trainer = judge.lane(0);
    std::optional<Weights> weights;
    try {
        weights = asked.weights(lane, trainer.program().graph);
    } catch (const InputError& why) {
        throw misfit(judge.config().task, asked.trained, judge.dataPrint(), why);
    }
    try {
        trainer.setWeights(*weights);
    } catch (const InputError&) { // its columns make another number of inputs, for example
        throw InputError(phrase("Training", "%1 holds other data than the training began with, "
                                            "which the network does not fit"),
                         shownPlaceOfData(judge.config().task));
    }
}

/// What the judge of a lane tells of all of them.
struct Judgement {
    std::vector<Message> notes{};
    std::optional<std::vector<std::string>> classes{};
};

/// Returns what a lane predicts; nothing when it was stopped. Fills `told` when it is empty.
std::optional<Predictions> predictionsOf(const Asked& asked, size_t lane,
                                         const std::shared_ptr<Task>& data,
                                         std::optional<Judgement>& told,
                                         const std::stop_token& stop) {
    RunConfig config = asked.config;
    config.lanes = {config.lanes.at(lane)};
    Experiment judge(config, stop, data);
    setWeights(asked, lane, judge);
    Predictions all;
    std::atomic<bool> stops{false};
    const std::stop_callback onStop(stop, [&] {
        stops = true;
        judge.requestStop();
    });
    if (!judge.lane(0).evaluate(stops, &all)) return std::nullopt;
    if (told) return all;
    told.emplace(Judgement{notesOnPredicted(taskOf(config))});
    if (auto changed = changedSince(config.task, asked.trained, judge.dataPrint()))
        told->notes.insert(told->notes.begin(), *std::move(changed));
    if (asked.untrained)
        told->notes.insert(told->notes.begin(), untrainedNote(asked.lanes.size()));
    else if (auto known = trainedOn(config.task, asked.lanes.size()))
        told->notes.insert(told->notes.begin(), *std::move(known));
    addLeftOut(judge.lane(0).skippedSamples(), told->notes);
    if (judge.hasClasses()) told->classes = judge.view().classes;
    return all;
}

/// Returns what the lanes compute, one after the other; nothing when it was stopped.
std::optional<PredictedSamples> predictedWith(const Asked& asked, const std::stop_token& stop) {
    std::optional<Judgement> told;
    const std::shared_ptr<Task> data = makeTask(asked.config); // one reading for all of them
    std::vector<Predictions> made;
    for (const size_t lane : asked.lanes) {
        std::optional<Predictions> all = predictionsOf(asked, lane, data, told, stop);
        if (!all) return std::nullopt;
        made.push_back(*std::move(all));
    }
    std::vector<LanePredictions> lanes;
    for (size_t i = 0; i < made.size(); ++i)
        lanes.push_back({asked.names[i], made[i]});
    const TaskConfig& task = asked.config.task;
    const auto* const classes = told->classes ? &*told->classes : nullptr;
    const bool several = asked.config.lanes.size() > 1; // one of them may have been chosen
    for (Message& note : predictionNotes(lanes, knownTargets(task, lanes, classes),
                                         several ? LaneNamed::Yes : LaneNamed::No))
        told->notes.push_back(std::move(note));
    return PredictedSamples{task.kind == TaskKind::Arrays ? predictionsNpy(made.front())
                                                          : predictedTable(task, lanes, classes),
                            std::move(told->notes)};
}

/// Does the same for the samples in a file.
std::optional<PredictedSamples> predictedBy(Asked asked, const std::string& samples,
                                            const std::stop_token& stop) {
    RunConfig& config = asked.config;
    if (!canPredictFile(config.task.kind))
        throw InputError(phrase("Training", "Other samples can be predicted only where the "
                                            "training data are a table, arrays or pictures."));
    require(asked.lanes.size() == 1 || predictsTables(config.task.kind),
            "predicted samples: an array is of one lane");
    config.forks.clear();
    config.edits.clear();
    config.model.weights.clear();
    config.task.predictFile = samples;
    fitToJudge(config);
    if (predictsInputs(config.task))
        throw InputError(phrase("Training",
                                "%1: where the training data are no arrays, an array of "
                                "samples is predicted only by halfscope-cli evaluate "
                                "--predict"),
                         pathText(samples));
    const Cancellable scope(stop); // covers reading the data
    try {
        return predictedWith(asked, stop);
    } catch (const Cancelled&) {
        return std::nullopt;
    } catch (const RunError&) { // the networks were not built, for example
        if (stop.stop_requested()) return std::nullopt;
        throw;
    }
}

/// Returns the lanes of a run to ask for: one of them, or all.
std::vector<size_t> lanesFor(std::optional<size_t> lane, size_t count) {
    if (lane) return {*lane};
    std::vector<size_t> all(count);
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
}

} // namespace

bool predictsPictures(TaskKind kind) {
    return kind == TaskKind::Pictures || kind == TaskKind::Shards || kind == TaskKind::Mnist ||
           kind == TaskKind::Cifar;
}

bool predictsTables(TaskKind kind) { return canPredictFile(kind) && kind != TaskKind::Arrays; }

void checkColumnsToPredict(const TaskConfig& task) {
    if (task.kind == TaskKind::Csv) checkNewColumns(task);
    if (task.kind == TaskKind::TextClasses) checkNewColumn(task, chosenColumns(task).text);
}

bool canPredictFile(TaskKind kind) {
    return kind == TaskKind::Csv || kind == TaskKind::TextClasses || kind == TaskKind::Arrays ||
           predictsPictures(kind);
}

std::optional<Message> changedSince(const TaskConfig& task, const std::string& trained,
                                    const std::string& now) {
    if (predictsOtherwise(trained, now))
        return Message(phrase("Training", "%1 holds other data than the training began with. "
                                          "Classes, words, means and deviations are taken from it "
                                          "as it is now, so predictions may be wrong."),
                       shownPlaceOfData(task));
    const Message others = task.predictFile.empty() ? changeSince(trained, now, task) : Message();
    if (others.empty()) return std::nullopt;
    return Message(phrase("Training", "%1. So the samples that are judged may not be those that "
                                      "the training held back."),
                   others);
}

InputError misfit(const TaskConfig& task, const std::string& trained, const std::string& now,
                  const InputError& why) {
    if (!predictsOtherwise(trained, now)) return why;
    return InputError(phrase("Training", "%1 holds other data than the training began with: %2"),
                      shownPlaceOfData(task), why.message());
}

Message untrainedNote(size_t networks) {
    return networks == 1 ? phrase("Training", "The network had not been trained yet.")
                         : phrase("Training", "The networks had not been trained yet.");
}

std::optional<Message> trainedOn(const TaskConfig& task, size_t networks) {
    const bool one = networks == 1;
    const bool arrays = task.kind == TaskKind::Arrays;
    const std::string& trained = arrays ? task.x : task.path;
    if (trained.empty() || !isSameFile(trained, task.predictFile)) return std::nullopt;
    const std::string shown = pathText(task.predictFile);
    if (arrays)
        return Message(
            one ? phrase("Training", "%1 has the samples that the network was trained on.")
                : phrase("Training", "%1 has the samples that the networks were trained on."),
            shown);
    if (predictsPictures(task.kind))
        return Message(
            one ? phrase("Training", "%1 has the pictures that the network was trained on.")
                : phrase("Training", "%1 has the pictures that the networks were trained on."),
            shown);
    return Message(one ? phrase("Training", "%1 is the table that the network was trained on.")
                       : phrase("Training", "%1 is the table that the networks were trained on."),
                   shown);
}

std::string predictionsNpy(const Predictions& all) {
    return all.exact() ? npyBytes(all.shape(), all.exactValues) : npyBytes(all.shape(), all.values);
}

std::string predictedText(const Predictions& all, double value) {
    return all.exact() ? numberText(value) : numberText(static_cast<float>(value));
}

std::vector<PredictedClass> predictedClasses(const Predictions& all,
                                             std::span<const std::string> classes) {
    constexpr double kSteps = 10'000; // four digits behind the point
    const auto outputs = static_cast<size_t>(all.outputs);
    const std::vector<int32_t> taken = highestClasses(all.values, outputs);
    const std::vector<float> sure = highestProbabilities(all.values, outputs);
    std::vector<PredictedClass> found(taken.size());
    for (size_t i = 0; i < taken.size(); ++i) {
        const auto best = static_cast<size_t>(taken[i]);
        if (best >= outputs) continue; // all scores are nan
        found[i].name = best < classes.size() ? classes[best] : std::to_string(best);
        if (std::isfinite(sure[i]))
            found[i].probability = numberText(std::round(double{sure[i]} * kSteps) / kSteps);
    }
    return found;
}

std::string predictedTable(const TaskConfig& task, std::span<const LanePredictions> lanes,
                           const std::vector<std::string>* classes) {
    if (predictsPictures(task.kind))
        return pictureTable(newPicturesAt(task.predictFile), lanes, *classes);
    return tableWith(readTable(task), targetName(task), lanes, classes);
}

std::string targetName(const TaskConfig& task) {
    return task.kind == TaskKind::TextClasses ? chosenColumns(task).target : targetColumn(task);
}

bool wasRead(const Predictions& all, size_t sample) {
    const size_t each = all.targets.size() / static_cast<size_t>(all.samples);
    return !std::isnan(all.targets.at(sample * each));
}

bool isFinitelyPredicted(const Predictions& all, size_t sample) {
    const size_t each = all.values.size() / static_cast<size_t>(all.samples);
    for (size_t i = sample * each; i < (sample + 1) * each; ++i)
        if (!std::isfinite(all.value(i))) return false;
    return true;
}

std::optional<Message> notFiniteNote(const LanePredictions& lane) {
    const Predictions& all = lane.all;
    const auto samples = static_cast<size_t>(all.samples);
    int64_t read = 0, odd = 0;
    for (size_t sample = 0; sample < samples; ++sample) {
        if (!wasRead(all, sample)) continue;
        ++read;
        odd += !isFinitelyPredicted(all, sample);
    }
    return notFiniteNote(lane.lane, odd, read);
}

std::optional<Message> notFiniteNote(const std::string& lane, int64_t odd, int64_t samples) {
    if (odd == 0) return std::nullopt;
    return Message(phrase("Training", "%1: inf or nan is predicted for %2 of %3 samples."), lane,
                   odd, samples);
}

std::vector<Message> notesOnPredicted(const TaskConfig& task) {
    const std::vector<Message> told = factsOf(trainedOnly(task)).notes;
    std::vector<Message> notes = factsOf(task).notes;
    std::erase_if(notes, [&told](const Message& note) {
        return std::find(told.begin(), told.end(), note) != told.end();
    });
    return notes;
}

std::optional<PredictedSamples> predictedSamples(Experiment& experiment, int lane,
                                                 const std::string& samples,
                                                 const std::stop_token& stop) {
    Asked asked{experiment.config()};
    const std::optional<size_t> one =
        lane == kEveryLane ? std::nullopt : std::optional(static_cast<size_t>(lane));
    asked.lanes = lanesFor(one, asked.config.lanes.size());
    for (const size_t i : asked.lanes)
        asked.names.push_back(experiment.laneName(static_cast<int>(i)));
    asked.trained = experiment.dataPrint();
    asked.untrained = experiment.step() == 0 && asked.config.model.weights.empty();
    asked.weights = [&](size_t i, const Graph&) {
        return experiment.lane(static_cast<int>(i)).weights();
    };
    return predictedBy(std::move(asked), samples, stop);
}

std::optional<PredictedSamples> predictedSamples(const RunWeights& run, const std::string& lane,
                                                 const std::string& samples,
                                                 const std::stop_token& stop) {
    Asked asked{run.settings()};
    const std::optional<size_t> one =
        lane.empty() ? std::nullopt : std::optional(run.indexOf(lane));
    asked.lanes = lanesFor(one, run.lanes().size());
    for (const size_t i : asked.lanes)
        asked.names.push_back(run.lanes()[i]);
    asked.trained = run.dataPrint();
    asked.untrained = run.untrained();
    asked.weights = [&](size_t i, const Graph& step) { return run.of(i, step); };
    return predictedBy(std::move(asked), samples, stop);
}

} // namespace halfscope
