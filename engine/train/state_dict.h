// State dicts: the weights of a network under PyTorch's names, as a safetensors file. Lanes can
// start from PyTorch's files, and PyTorch can open the weights of a lane.
#pragma once

#include "engine/io/safetensors.h"
#include "engine/train/data_record.h"
#include "engine/train/state_dict_fit.h"
#include "engine/train/trainer.h"

#include <optional>

namespace halfscope {

/// Compares the file with the network of the settings before anything is built. Throws InputError
/// for a file that is no state dict.
StateDictFit stateDictFit(const std::string& path, const RunConfig&);
/// Reads what the file says of its arrays. Throws likewise.
SafetensorsInfo stateDictHeader(const std::string& path);
/// Compares the file of this header; returns nothing when it does not fit as a whole. Looks at the
/// data of the settings only where the file has as many weights as the network.
std::optional<StateDictFit> wholeFit(const std::string& path, const SafetensorsInfo& header,
                                     const RunConfig&);
/// Compares likewise, and throws InputError as readStateDict() does when it does not fit as a
/// whole.
void checkStateDict(const std::string& path, const RunConfig&);

/// Reads the weights of a network from a file. Names and shapes must be those of the graph's
/// parameters and running statistics, but for ones at the end of the shapes of weights, in any
/// floating dtype; the values become the nearest float32.
/// A lane that stores another dtype rounds once more. num_batches_tracked of norms may be missing.
/// Throws InputError "model.weights: PATH: ...", which lists what is missing, unexpected
/// or of another shape, as load_state_dict() does; for a pickle it gives the line of Python that
/// converts the file, for the same shapes under other names how the network gets them, for a
/// checkpoint it says what takes it.
Weights readStateDict(const std::string& path, const Graph& step);

/// What a training begins with.
struct FirstWeights {
    Weights weights;
    BatchCounts batches{}; ///< num_batches_tracked, where the file has it
    /// Which group of the file they are, which of them are drawn, what is ignored, which names of
    /// the file stand for others, and which shapes differ by ones; empty when names and shapes are
    /// the network's.
    Message note{};
};
/// Does the same for the weights that a training begins with, in the file that model.weights names.
/// They are those of a group, see groupOf(), and under other names those of StateDictFit::pairs.
/// With model.partial_weights, those that it lacks are drawn as without a file, what is unexpected
/// is ignored, and an InputError says when nothing fits. Throws InputError, too, for an array that
/// holds inf or nan, or a number that float32 does not hold: no step could come back from there.
FirstWeights readFirstWeights(const RunConfig&, const Graph& step,
                              const std::stop_token& stop = {});

/// Returns the names in the file that model.weights names, of the tensors that are taken, by the
/// network's; empty where load_state_dict() takes the file as it is, and where there is none that
/// fits.
WeightPairs namesInFile(const RunConfig&);

/// Throws before anything is built what readFirstWeights() would throw of names and shapes, and
/// returns its note. Takes the file as a whole.
Message checkFirstWeights(const RunConfig&);

/// Returns the weights of a lane as a file: each in the dtype in which the lane stores it, and for
/// norms with running statistics num_batches_tracked: the batches `before` this run, to which only
/// batch norms add its steps, as in PyTorch. `model` is PyTorch's text of the network, or empty;
/// the file has it as an expression in Python. `data` is Experiment::dataRecord(), and `before`
/// Experiment::batchesBefore().
std::string stateDictBytes(Trainer& lane, const std::string& model, const std::string& program,
                           const DataRecord& data = {}, const BatchCounts& before = {});
/// Returns the `data` that stateDictBytes() wrote into a file; empty parts when there are none.
DataRecord dataRecordIn(const std::string& path);
/// Returns the step after which the lane had these weights; empty when the file does not tell.
std::string stepIn(const std::string& path);

} // namespace halfscope
