// Makes the files of one lane by their kind.
#include "engine/train/lane_file.h"

#include "engine/core/error.h"
#include "engine/io/npy.h"
#include "engine/runs/run_folder.h"
#include "engine/step/model_shapes.h"
#include "engine/train/onnx_file.h"
#include "engine/train/predicted_samples.h"
#include "engine/train/state_dict.h"

namespace halfscope {

namespace {

std::optional<std::string> predictionBytes(Trainer& lane) {
    if (!lane.validates())
        throw InputError(phrase(
            "Training", "There is nothing to predict: this data set has no validation samples."));
    Predictions predictions;
    const std::atomic<bool> stop{false}; // never set: requestStop() reaches the lane
    if (!lane.evaluate(stop, &predictions)) return std::nullopt;
    return npyBytes(predictions.shape(), predictions.values);
}

} // namespace

std::string nameOf(LaneFile file, const std::string& lane) {
    switch (file) {
    case LaneFile::StateDict: return run_file::weights(lane);
    case LaneFile::Onnx: return "network_" + lane + ".onnx";
    case LaneFile::CriticOnnx: return "critic_" + lane + ".onnx";
    case LaneFile::Predictions: return "predictions_" + lane + ".npy";
    case LaneFile::Predicted: return "predicted_" + lane + ".csv";
    }
    failInvariant("unknown file of a lane");
}

std::optional<std::string> laneFileBytes(Experiment& experiment, LaneFile file, int lane,
                                         const std::string& program, const std::string& samples,
                                         const std::stop_token& stop) {
    Trainer& trainer = experiment.lane(lane);
    switch (file) {
    case LaneFile::StateDict:
        return stateDictBytes(trainer, modelShapes(experiment.config()).text, program);
    case LaneFile::Onnx: return onnxBytes(trainer, experiment.config(), program);
    case LaneFile::CriticOnnx: return criticOnnxBytes(trainer, experiment.config(), program);
    case LaneFile::Predictions: return predictionBytes(trainer);
    case LaneFile::Predicted: return predictedSamples(experiment, lane, samples, stop);
    }
    failInvariant("unknown file of a lane");
}

} // namespace halfscope
