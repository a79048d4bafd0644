// Writes what a lane's network has become as a file of its own: for PyTorch, for ONNX Runtime, or
// as its predictions.
#pragma once

#include "engine/train/experiment.h"
#include "engine/train/run_weights.h"

#include <optional>
#include <stop_token>
#include <string>

namespace halfscope {

enum class LaneFile : uint8_t {
    StateDict,   ///< see stateDictBytes()
    Onnx,        ///< see onnxBytes()
    CriticOnnx,  ///< see criticOnnxBytes()
    Predictions, ///< see predictionsNpy(), (samples, outputs), for the validation samples
    Samples,     ///< see samplesCsv(), for the validation samples
    Predicted    ///< see predictedSamples()
};

/// Returns the file's name, such as "weights_fp32.safetensors".
std::string nameOf(LaneFile, const std::string& lane);

struct LaneFileBytes {
    std::string bytes;
    Message note{}; ///< whole sentences that users should know; mostly empty
};

/// Returns the file's bytes, or nothing when requestStop() came meanwhile. Throws InputError when
/// there can be no such file. `program` is the program's version; `samples` is the file whose
/// samples are Predicted, and `stop` ends that as requestStop() ends the others; only then, `lane`
/// may be kEveryLane (predicted_samples.h).
std::optional<LaneFileBytes> laneFileBytes(Experiment&, LaneFile, int lane,
                                           const std::string& program,
                                           const std::string& samples = {},
                                           const std::stop_token& stop = {});
/// Returns the same for a lane of a saved run, as it was when its weights were written, or for all
/// of them where the name is empty; its
/// weights are the file that the run has. Reads the training data again for all other files, and
/// builds a network of its own.
std::optional<LaneFileBytes> laneFileBytes(const RunWeights&, LaneFile, const std::string& lane,
                                           const std::string& program,
                                           const std::string& samples = {},
                                           const std::stop_token& stop = {});

} // namespace halfscope
