// State dicts: the weights of a network under PyTorch's names, as a safetensors file. Lanes can
// start from PyTorch's files, and PyTorch can open the weights of a lane.
#pragma once

#include "engine/io/safetensors.h"
#include "engine/train/trainer.h"

namespace halfscope {

/// Checks the file for the network of the settings before anything is built. Throws InputError as
/// readStateDict() does.
void checkStateDict(const std::string& path, const RunConfig&);

/// Reads the weights of a network from a file. Names and shapes must be those of the graph's
/// parameters and running statistics, in any floating dtype; the values become the nearest float32.
/// A lane that stores another dtype rounds once more. Batch norms' num_batches_tracked may be
/// missing. Throws InputError "model.weights: PATH: ...", which lists what is missing, unexpected
/// or of another shape, as load_state_dict() does; for a pickle it gives the line of Python that
/// converts the file, for a checkpoint it says what takes it.
Weights readStateDict(const std::string& path, const Graph& step);
/// Does the same for weights that a training begins with. Throws InputError, too, for an array that
/// holds inf or nan, or a number that float32 does not hold: no step could come back from there.
Weights readFirstWeights(const std::string& path, const Graph& step);

/// Returns the weights of a lane as a file: each in the dtype in which the lane stores it, and for
/// a batch norm num_batches_tracked, the steps of this run. `model` is PyTorch's text of the
/// network, or empty; the file has it as an expression in Python. `data` is
/// Experiment::dataPrint().
std::string stateDictBytes(Trainer& lane, const std::string& model, const std::string& program,
                           const std::string& data = {});
/// Returns the `data` that stateDictBytes() wrote into a file; empty when there is none.
std::string dataPrintIn(const std::string& path);
/// Returns the step after which the lane had these weights; empty when the file does not tell.
std::string stepIn(const std::string& path);

} // namespace halfscope
