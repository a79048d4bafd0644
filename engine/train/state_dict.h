// State dicts: the weights of a network under PyTorch's names, as a safetensors file. A file of
// PyTorch's starts lanes, and PyTorch opens what a lane has become.
#pragma once

#include "engine/io/safetensors.h"
#include "engine/train/trainer.h"

namespace halfscope {

/// Before anything is built: InputError as of readStateDict(), for the network of the settings.
void checkStateDict(const std::string& path, const RunConfig&);

/// The weights of a network from a file: names and shapes must be those of the graph's parameters
/// and running statistics, in any floating dtype; the values become the nearest float32. A lane
/// that stores another dtype rounds once more. Batch norms' num_batches_tracked may be there or
/// not. InputError "model.weights: PATH: ...", which lists what is missing, unexpected or of
/// another shape, as load_state_dict() does; for a pickle, the line of Python that converts it.
Weights readStateDict(const std::string& path, const Graph& step);

/// The weights of a lane as a file: each in the dtype in which the lane stores it, and for a batch
/// norm num_batches_tracked, the steps of this run. `model` is PyTorch's text of the network.
std::string stateDictBytes(Trainer& lane, const std::string& model, const std::string& program);

} // namespace halfscope
