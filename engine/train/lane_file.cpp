// Makes the files of one lane by their kind.
#include "engine/train/lane_file.h"

#include "engine/core/error.h"
#include "engine/io/npy.h"
#include "engine/runs/run_folder.h"
#include "engine/step/model_shapes.h"
#include "engine/train/onnx_file.h"
#include "engine/train/predicted_samples.h"
#include "engine/train/state_dict.h"

#include <utility>

namespace halfscope {

namespace {

std::optional<LaneFileBytes> predictionBytes(Trainer& lane) {
    if (!lane.validates())
        throw InputError(phrase(
            "Training", "There is nothing to predict: this data set has no validation samples."));
    Predictions predictions;
    const std::atomic<bool> stop{false}; // never set: requestStop() reaches the lane
    if (!lane.evaluate(stop, &predictions)) return std::nullopt;
    return LaneFileBytes{npyBytes(predictions.shape(), predictions.values)};
}

std::optional<LaneFileBytes> predictedBytes(Experiment& experiment, int lane,
                                            const std::string& samples,
                                            const std::stop_token& stop) {
    auto predicted = predictedSamples(experiment, lane, samples, stop);
    if (!predicted) return std::nullopt;
    return LaneFileBytes{std::move(predicted->bytes),
                         listed(predicted->notes, phrase("Training", "%1 %2"))};
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

std::optional<LaneFileBytes> laneFileBytes(Experiment& experiment, LaneFile file, int lane,
                                           const std::string& program, const std::string& samples,
                                           const std::stop_token& stop) {
    Trainer& trainer = experiment.lane(lane);
    switch (file) {
    case LaneFile::StateDict:
        return LaneFileBytes{stateDictBytes(trainer, modelShapes(experiment.config()).text, program,
                                            experiment.dataPrint())};
    case LaneFile::Onnx: return LaneFileBytes{onnxBytes(experiment, lane, program)};
    case LaneFile::CriticOnnx: return LaneFileBytes{criticOnnxBytes(experiment, lane, program)};
    case LaneFile::Predictions: return predictionBytes(trainer);
    case LaneFile::Predicted: return predictedBytes(experiment, lane, samples, stop);
    }
    failInvariant("unknown file of a lane");
}

} // namespace halfscope
