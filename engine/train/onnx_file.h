// A trained network as an ONNX model, for ONNX Runtime and others: in the form in which it is
// judged, with running statistics and without dropout, in float32.
#pragma once

#include "engine/core/message.h"
#include "engine/train/experiment.h"

#include <map>
#include <string>

namespace halfscope {

/// Returns the file. Its input "x" has the shape of one sample's inputs, and its output is
/// "prediction"; axis 0 of both counts samples and is open. A network that paints a picture as one
/// image takes images (samples, inputs, height, width). The metadata hold the model as PyTorch's
/// text and the entries of `about`. Throws InputError as checkOnnx() does.
std::string onnxBytes(const RunConfig&, const Weights&,
                      const std::map<std::string, std::string>& about, const std::string& program);
/// Returns the file of a lane as it is now; the metadata name the lane, its step, and the classes
/// of a network that tells them apart. Entries of `known` take the place of these; empty ones are
/// left out.
std::string onnxBytes(Experiment&, int lane, const std::string& program,
                      const std::map<std::string, std::string>& known = {});
/// Returns the same for the critic, where model.adversary has one: input "x", targets or
/// predictions as rows of numbers, and output "score", one number a row. Throws InputError when
/// there is no critic.
std::string criticOnnxBytes(const RunConfig&, const Weights&,
                            const std::map<std::string, std::string>& about,
                            const std::string& program);
std::string criticOnnxBytes(Experiment&, int lane, const std::string& program,
                            const std::map<std::string, std::string>& known = {});

/// Returns sentences that name the inputs and the targets of which the file's float32 holds much
/// less than the data do, and in what steps; empty when there are none. May read the samples.
Message onnxRoundingNote(const RunConfig&);

/// Throws InputError when a layer, also of the critic, has no form in ONNX, and when the weights
/// exceed 2 GiB, the most that the format allows in a file.
void checkOnnx(const RunConfig&);

} // namespace halfscope
