// Implements the evaluate command: every lane computes in its own precision, with the same weights
// or with those that a run saved for it.
#include "app/cli_evaluate.h"

#include "app/cli_other_data.h"
#include "app/cli_output.h"
#include "app/cli_overwriting.h"
#include "app/cli_scores.h"
#include "app/cli_signals.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/class_sides.h"
#include "engine/data/dataset.h"
#include "engine/data/held_fault.h"
#include "engine/data/predicted_inputs.h"
#include "engine/data/text_table.h"
#include "engine/io/output_folder.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/train/experiment.h"
#include "engine/train/predicted_samples.h"
#include "engine/train/run_weights.h"
#include "engine/train/state_dict.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halfscope::cli {

namespace {

/// Returns the names of the data sets that can hold samples back.
std::string validatedSets() {
    std::string text;
    for (const DataSetInfo& info : dataSets())
        if (info.validates) text += std::string(text.empty() ? "" : ", ") + info.name;
    return text;
}

/// What is asked of an evaluation.
struct Asked {
    bool test = false;  ///< judge the samples of the test, not those to validate on
    bool keeps = false; ///< keep what is predicted of each sample
};

Judged judge(Experiment& experiment, int lane, const std::string& weights, Asked asked) {
    Judged judged;
    judged.lane = experiment.laneName(lane);
    judged.weights = weights;
    Trainer& trainer = experiment.lane(lane);
    const std::atomic<bool> stop{false};
    Predictions* const predictions = asked.keeps ? &judged.predictions : nullptr;
    const std::optional<Validation> found =
        trainer.evaluate(stop, predictions, asked.test ? JudgedOn::Test : JudgedOn::Validation);
    require(found.has_value(), "nobody asked the evaluation to stop");
    judged.validation = *found;
    judged.test = asked.test;
    const JudgedSamples samples = trainer.judged();
    judged.counts = samples.counts;
    judged.notFinite = samples.notFinite;
    if (experiment.hasClasses()) judged.classes = experiment.view().classes;
    judged.data = experiment.dataPrint();
    judged.leftOut = trainer.skippedSamples();
    judged.samples = trainer.judgedSamples() - static_cast<int64_t>(judged.leftOut.size());
    return judged;
}

/// Judges all lanes with the weights of the settings.
std::vector<Judged> judgeAll(const RunConfig& config, Asked asked) {
    Experiment experiment(config);
    std::vector<Judged> judged;
    for (int lane = 0; lane < experiment.lanes(); ++lane)
        judged.push_back(judge(experiment, lane, config.model.weights, asked));
    return judged;
}

/// Judges each lane with the weights that it came to in a saved run, one lane after the other.
std::vector<Judged> judgeEach(const RunConfig& config, const RunWeights& own, Asked asked) {
    std::vector<Judged> judged;
    const std::shared_ptr<Task> data = makeTask(config); // one reading for all of them
    for (size_t lane = 0; lane < own.lanes().size(); ++lane) {
        RunConfig alone = config;
        alone.lanes = {config.lanes[lane]};
        try {
            Experiment experiment(alone, {}, data);
            Trainer& trainer = experiment.lane(0);
            trainer.setWeights(own.of(lane, trainer.program().graph));
            judged.push_back(judge(experiment, 0, own.fileOf(lane), asked));
        } catch (const InputError& why) {
            throw misfitOf(config, own.dataRecord(), &data->dataset(), why);
        }
        judged.back().lane = own.lanes()[lane];
    }
    return judged;
}

/// Returns the note of checkFirstWeights().
Message checkedWeights(const RunConfig& config) {
    try {
        return checkFirstWeights(config);
    } catch (const InputError& why) {
        DataRecord trained;
        try {
            trained = dataRecordIn(config.model.weights);
        } catch (const InputError&) { // `why` says what is wrong with the file
        }
        throw misfitOf(config, trained, nullptr, why);
    }
}

/// Says which of a run's files has the weights, and after which step a lane had them; which lanes
/// have none; and whether no step was taken yet.
void tellSource(const RunWeights& own, bool best) {
    std::string files;
    for (size_t lane = 0; lane < own.lanes().size(); ++lane) {
        const std::string file = pathText(own.fileOf(lane));
        if (files.find(file) != std::string::npos) continue;
        files += (files.empty() ? "" : ", ") + file;
        if (best) files += " (after step " + own.stepOf(lane) + ")";
    }
    const std::optional<int64_t> step = own.checkpointStep();
    printNote("Weights: " + files +
              (step ? ", each lane's own after step " + std::to_string(*step) : std::string()) +
              "\n");
    for (const std::string& lane : own.lacking())
        printNote(lane + " is left out: it has no weights after a best validation\n");
    if (own.untrained()) printNote(untrainedNote(own.lanes().size()).english() + "\n");
}

void tellLeftOut(std::span<const Message> reasons) {
    constexpr size_t kMost = 10;
    for (const Message& why : reasons.first(std::min(kMost, reasons.size())))
        printNote(why.english() + ". It is left out.\n");
    if (reasons.size() > kMost)
        printNote("And " + std::to_string(reasons.size() - kMost) + " more are left out.\n");
}

/// Sets the task to predict the samples of `options.predict`, which have no targets. Throws
/// InputError for a file that data of this kind cannot have, and without --out.
void predictInstead(RunConfig& config, const EvaluateOptions& options) {
    const TaskKind kind = config.task.kind;
    config.task.predictFile = std::filesystem::absolute(options.predict).string();
    if (!canPredictFile(kind) && !predictsInputs(config.task))
        throw InputError(Message::data(
            std::string("evaluate: --predict takes an .npy, .npz or .safetensors file where "
                        "data.kind is ") +
            infoOf(kind).name + "; " + pathText(options.predict) + " is none by its name"));
    if (options.out.empty())
        throw InputError(Message::data(
            "evaluate: --predict needs --out, the folder that the predictions are written into"));
    if (!predictsPictures(kind) && std::filesystem::is_directory(options.predict))
        throw InputError(Message::data("evaluate: --predict takes a file where data.kind is " +
                                       std::string(infoOf(kind).name) + "; " +
                                       pathText(options.predict) + " is a folder"));
}

/// Returns the texts that were judged, where the samples are texts of a table.
std::vector<std::string> textsOf(const TaskConfig& task, const Judged& judged) {
    if (task.kind != TaskKind::TextClasses) return {};
    return textsAt(task, judged.predictions.numbers);
}

/// `own` are the weights of the run that was judged, if it was one.
void tellPredicted(const EvaluateOptions& options, const RunConfig& config,
                   const std::optional<RunWeights>& own, std::span<const Judged> lanes,
                   const TargetScores& scores) {
    const int64_t samples = lanes.front().samples;
    const bool untrained = own && own->untrained();
    const auto same = untrained ? std::nullopt : trainedOn(config.task, lanes.size());
    if (same) printNote(same->english() + "\n");
    for (const Message& note : notesOnPredicted(taskOf(config)))
        printNote("Data: " + note.english() + "\n");
    std::string text = std::to_string(samples) + (samples == 1 ? " sample" : " samples") + " of " +
                       pathText(options.predict) + " predicted";
    const bool told = scores.known || !scores.reason.empty();
    text += told ? "\n" : "; there are no scores, because the targets are not known\n";
    std::vector<LanePredictions> made;
    for (const Judged& lane : lanes)
        made.push_back({lane.lane, lane.predictions});
    for (const Message& note : predictionNotes(made, scores, LaneNamed::Yes))
        text += note.english() + "\n";
    print(text + "Files: " + pathText(options.out) + "\n");
}

void checkCanJudge(const RunConfig& config, const EvaluateOptions& options) {
    const DataSetInfo& info = infoOf(config.task.kind);
    if (!info.validates && !predictsInputs(config.task))
        throw InputError(
            Message::data(std::string("data.kind: ") + info.name +
                          " has no samples to judge by; these have: " + validatedSets()));
    if (factsOf(taskOf(config)).validation == 0)
        throw InputError(Message::data(std::string(validationSetting(config.task.kind)) +
                                       ": 0 is not allowed: there are no samples to judge by"));
    if (!options.test) return;
    if (!options.predict.empty())
        throw InputError(Message::data("evaluate: --test and --predict exclude each other"));
    if (factsOf(taskOf(config)).test == 0)
        throw InputError(
            Message::data("evaluate: --test: " + std::string(infoOf(config.task.kind).name) +
                          " keeps no samples for a test; data.test_share, now " +
                          numberText(config.task.testShare) +
                          ", sets the share of the samples to validate on that are kept for it"));
}

/// Throws InputError when a file that is read would be overwritten.
void checkOutput(const EvaluateOptions& options, const RunConfig& config,
                 std::span<const std::string> lanes) {
    if (options.out.empty()) return;
    CommandFiles files(options.experiment, config);
    files.addRead("--predict", options.predict);
    files.checkFolder(options.out, scoreFileNames(lanes));
    checkScores(options.out);
}

} // namespace

int evaluate(const EvaluateOptions& options) {
    RunConfig config = options.experiment.config();
    refuseRecorded(config);
    const std::string folder =
        options.experiment.givesWeights() ? std::string() : options.experiment.runFolder();
    std::optional<RunWeights> own;
    if (options.best && folder.empty())
        throw InputError(Message::data("evaluate: --best needs the folder of a run, without "
                                       "--weights; halfscope-cli run --keep-best writes the "
                                       "weights after the best validation into it"));
    const WeightsAt at = options.best ? WeightsAt::Best : WeightsAt::End;
    if (!folder.empty())
        config = own.emplace(folder, config, at).settings();
    else
        fitToJudge(config);
    config.forks.clear(); // nothing is trained
    config.edits.clear();
    config.model.partialWeights = false; // drawn weights have learnt nothing
    if (config.model.weights.empty() && !own)
        throw InputError(Message::data("evaluate: --weights is missing, the file of the weights to "
                                       "judge, or the folder of a run that has those of its "
                                       "lanes"));
    const bool predicts = !options.predict.empty();
    if (predicts) predictInstead(config, options);
    checkCanJudge(config, options);
    checkOutput(options, config, own ? own->lanes() : laneNames(config));
    const Message note = own ? Message() : checkedWeights(config);
    SignalWatch signals; // before the engine starts threads; ends the program while it judges
    const bool keeps = !options.out.empty();
    const Asked asked{options.test, keeps};
    const std::vector<Judged> lanes =
        own ? judgeEach(config, *own, asked) : judgeAll(config, asked);
    tellLeftOut(lanes.front().leftOut);
    if (!options.quiet) {
        if (own) {
            tellSource(*own, options.best);
            tellOtherData(config, own->dataRecord(), lanes.front(), {});
        } else {
            if (!note.empty()) printNote("Weights: " + note.english() + "\n");
            const std::string& weights = config.model.weights;
            tellOtherData(config, dataRecordIn(weights), lanes.front(), weights);
        }
    }
    signals.setStop([] {}); // what is being written is written to its end
    if (predicts) {
        const auto scores = writePredictions(OutputFolder(options.out), lanes, config.task);
        if (!options.quiet) tellPredicted(options, config, own, lanes, scores);
        return 0;
    }
    if (keeps) writeScores(OutputFolder(options.out), lanes, textsOf(config.task, lanes.front()));
    if (options.quiet) return 0;
    const int64_t samples = lanes.front().samples;
    print(std::to_string(samples) + (options.test ? " test sample" : " validation sample") +
          (samples == 1 ? "\n" : "s\n") + scoresTable(lanes));
    if (lanes.front().counts.classes() == 1) print(Message(kOneClass).english() + "\n");
    const auto isLost = [](const Judged& each) { return !std::isfinite(each.validation.loss); };
    const Message fault = knownTestFault(taskOf(config)); // only a test that was lost has one
    if (options.test && std::ranges::any_of(lanes, isLost) && !fault.empty())
        print(fault.english() + "\n");
    if (keeps) print("Files: " + pathText(options.out) + "\n");
    return 0;
}

} // namespace halfscope::cli
