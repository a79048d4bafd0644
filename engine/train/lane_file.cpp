// Makes the files of one lane by their kind.
#include "engine/train/lane_file.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/data_print.h"
#include "engine/data/text_table.h"
#include "engine/io/input_file.h"
#include "engine/runs/run_folder.h"
#include "engine/settings/run_task.h"
#include "engine/step/model_shapes.h"
#include "engine/train/onnx_file.h"
#include "engine/train/predicted_samples.h"
#include "engine/train/samples_table.h"
#include "engine/train/state_dict.h"

#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

/// Returns the texts of samples; none where samples are no texts of a table, and where the table is
/// no longer there as it was read, which a note tells.
std::vector<std::string> textsOf(const Experiment& experiment, std::span<const int64_t> numbers,
                                 Message& note) {
    const RunConfig& config = experiment.config();
    if (config.task.kind != TaskKind::TextClasses) return {};
    try { // makeDataset() would replace what knownFacts() has of the table that was trained on
        const auto data = infoOf(config.task.kind).make(config.task, config.seed);
        const std::string now = dataPrint(config.task, *data);
        if (changeSince(experiment.dataPrint(), now, config.task).empty())
            return textsAt(config.task, numbers);
    } catch (const InputError&) { // it was moved or deleted, or is no such table any more
    }
    note = Message(phrase("Training", "%1 changed after it was read, so there are no texts beside "
                                      "the predictions."),
                   shownPlaceOfData(config.task));
    return {};
}

/// Refuses a table before the samples are judged, which may take long.
void checkTableFits(const Experiment& experiment) {
    const auto targets = experiment.hasClasses() ? TargetsAre::Classes : TargetsAre::Numbers;
    if (!fitsSamplesTable(experiment.outputs(), targets))
        throw InputError(phrase("Training", "A table has no room for the %1 numbers of each sample "
                                            "that this network predicts: save them as .npy."),
                         experiment.outputs());
}

/// Returns the table of what a lane predicts, which is called `name`.
LaneFileBytes samplesTable(const Experiment& experiment, const Predictions& all,
                           const std::string& name) {
    LaneFileBytes made;
    const std::vector<std::string> texts = textsOf(experiment, all.numbers, made.note);
    const LanePredictions lane{name, all};
    made.bytes = samplesCsv(std::span(&lane, 1),
                            experiment.hasClasses() ? &experiment.view().classes : nullptr, texts,
                            WithTargets::Yes);
    return made;
}

/// Returns what a lane, which is called `name`, predicts for the validation samples.
std::optional<LaneFileBytes> predictionBytes(Experiment& experiment, LaneFile file, int index,
                                             const std::string& name) {
    Trainer& lane = experiment.lane(index);
    if (!lane.validates())
        throw InputError(phrase(
            "Training", "There is nothing to predict: this data set has no validation samples."));
    if (file == LaneFile::Samples) checkTableFits(experiment);
    Predictions predictions;
    const std::atomic<bool> stop{false}; // never set: requestStop() reaches the lane
    if (!lane.evaluate(stop, &predictions)) return std::nullopt;
    if (file == LaneFile::Samples) return samplesTable(experiment, predictions, name);
    return LaneFileBytes{predictionsNpy(predictions)};
}

/// Returns the sentences as one text.
Message joined(std::span<const Message> notes) {
    return listed(notes, phrase("Training", "%1 %2"));
}

std::optional<LaneFileBytes> predictedBytes(std::optional<PredictedSamples> predicted) {
    if (!predicted) return std::nullopt;
    return LaneFileBytes{std::move(predicted->bytes), joined(predicted->notes)};
}

/// Returns the file of weights that a saved run has of its lane, if it is what it should be.
std::string weightsFile(const RunWeights& run, size_t lane) {
    const std::string path = run.fileOf(lane);
    if (run.checkpointStep())
        throw InputError(phrase("Files", "%1: only this checkpoint has the weights of this run; "
                                         "open it, and File > Save weights saves them"),
                         pathText(path));
    checkStateDict(path, run.settings());
    return readFile(path, std::numeric_limits<size_t>::max());
}

/// Returns a lane of a saved run with its weights.
std::unique_ptr<Experiment> experimentWith(const RunWeights& run, size_t lane,
                                           const std::stop_token& stop) {
    RunConfig config = run.settings();
    config.lanes = {config.lanes.at(lane)};
    const std::shared_ptr<Task> data = makeTask(config);
    try {
        auto made = std::make_unique<Experiment>(config, stop, data);
        Trainer& trainer = made->lane(0);
        trainer.setWeights(run.of(lane, trainer.program().graph));
        return made;
    } catch (const InputError& why) {
        throw misfit(config.task, run.dataPrint(), dataPrint(config.task, data->dataset()), why);
    }
}

/// Makes what a lane of a saved run has beside its weights, with a network that has them.
std::optional<LaneFileBytes> savedLaneBytes(const RunWeights& run, LaneFile file, size_t lane,
                                            const std::string& program,
                                            const std::stop_token& stop) {
    const std::unique_ptr<Experiment> judge = experimentWith(run, lane, stop);
    Experiment& experiment = *judge;
    if (file == LaneFile::Predictions || file == LaneFile::Samples) {
        const std::stop_callback onStop(stop, [&experiment] { experiment.requestStop(); });
        std::optional<LaneFileBytes> made = predictionBytes(experiment, file, 0, run.lanes()[lane]);
        if (auto changed =
                changedSince(experiment.config().task, run.dataPrint(), experiment.dataPrint());
            made && changed) {
            std::vector<Message> notes{*std::move(changed)};
            if (!made->note.empty()) notes.push_back(std::move(made->note));
            made->note = joined(notes);
        }
        return made;
    }
    const std::map<std::string, std::string> known{{"lane", run.lanes()[lane]},
                                                   {"step", run.stepOf(lane)}};
    if (file == LaneFile::CriticOnnx)
        return LaneFileBytes{criticOnnxBytes(experiment, 0, program, known)};
    return LaneFileBytes{onnxBytes(experiment, 0, program, known),
                         onnxRoundingNote(experiment.config())};
}

} // namespace

std::string nameOf(LaneFile file, const std::string& lane) {
    switch (file) {
    case LaneFile::StateDict: return run_file::weights(lane);
    case LaneFile::Onnx: return "network_" + lane + ".onnx";
    case LaneFile::CriticOnnx: return "critic_" + lane + ".onnx";
    case LaneFile::Predictions: return run_file::predictions(lane);
    case LaneFile::Samples: return "predictions_" + lane + ".csv";
    case LaneFile::Predicted: return "predicted_" + lane + ".csv";
    }
    failInvariant("unknown file of a lane");
}

std::optional<LaneFileBytes> laneFileBytes(Experiment& experiment, LaneFile file, int lane,
                                           const std::string& program, const std::string& samples,
                                           const std::stop_token& stop) {
    if (file == LaneFile::Predicted)
        return predictedBytes(predictedSamples(experiment, lane, samples, stop));
    Trainer& trainer = experiment.lane(lane);
    switch (file) {
    case LaneFile::StateDict:
        return LaneFileBytes{stateDictBytes(trainer, modelShapes(experiment.config()).text, program,
                                            experiment.dataRecord(), experiment.batchesBefore())};
    case LaneFile::Onnx:
        return LaneFileBytes{onnxBytes(experiment, lane, program),
                             onnxRoundingNote(experiment.config())};
    case LaneFile::CriticOnnx: return LaneFileBytes{criticOnnxBytes(experiment, lane, program)};
    case LaneFile::Predictions:
    case LaneFile::Samples:
        return predictionBytes(experiment, file, lane, experiment.laneName(lane));
    case LaneFile::Predicted: break;
    }
    failInvariant("unknown file of a lane");
}

std::optional<LaneFileBytes> laneFileBytes(const RunWeights& run, LaneFile file,
                                           const std::string& lane, const std::string& program,
                                           const std::string& samples,
                                           const std::stop_token& stop) {
    const Cancellable scope(stop); // covers reading the data
    if (file == LaneFile::Predicted)
        return predictedBytes(predictedSamples(run, lane, samples, stop));
    const size_t index = run.indexOf(lane);
    if (file == LaneFile::StateDict) return LaneFileBytes{weightsFile(run, index)};
    return savedLaneBytes(run, file, index, program, stop);
}

} // namespace halfscope
