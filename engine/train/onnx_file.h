// A trained network as an ONNX model, for ONNX Runtime and others: as it is judged, with running
// statistics and without dropout, in float32.
#pragma once

#include "engine/train/trainer.h"

#include <string>

namespace halfscope {

/// The file: input "x", the inputs of the data set as one sample has them, and output "prediction";
/// axis 0 of both counts samples and is open. A network that paints a picture as one image takes
/// images (samples, inputs, height, width). Metadata tell the model as PyTorch's text, and what
/// `about` adds. InputError as of checkOnnx().
std::string onnxBytes(const RunConfig&, const Weights&,
                      const std::map<std::string, std::string>& about, const std::string& program);
/// Of a lane as it is now; metadata name the lane and its step.
std::string onnxBytes(Trainer& lane, const RunConfig&, const std::string& program);
/// The same of the critic, where model.adversary has one: input "x", targets or predictions as rows
/// of numbers, and output "score", one number a row. InputError where there is no critic.
std::string criticOnnxBytes(const RunConfig&, const Weights&,
                            const std::map<std::string, std::string>& about,
                            const std::string& program);
std::string criticOnnxBytes(Trainer& lane, const RunConfig&, const std::string& program);

/// InputError where a layer, also of the critic, has no form in ONNX, and where the weights are
/// more than a file of 2 GiB holds, the most that its format allows.
void checkOnnx(const RunConfig&);

} // namespace halfscope
