// What a lane's network has become, as a file of its own: for PyTorch, for ONNX Runtime, or what it
// predicts.
#pragma once

#include "engine/train/experiment.h"

#include <optional>
#include <string>

namespace halfscope {

enum class LaneFile : uint8_t {
    StateDict,  ///< see stateDictBytes()
    Onnx,       ///< see onnxBytes()
    CriticOnnx, ///< see criticOnnxBytes()
    Predictions ///< .npy of float32, (samples, outputs), of the samples to validate on
};

/// "weights_fp32.safetensors".
std::string nameOf(LaneFile, const std::string& lane);

/// Its bytes; nothing where requestStop() came meanwhile. InputError where there can be none.
/// `program`: the program's version.
std::optional<std::string> laneFileBytes(Experiment&, LaneFile, int lane,
                                         const std::string& program);

} // namespace halfscope
