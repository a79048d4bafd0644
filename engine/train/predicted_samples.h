// What a lane predicts for samples of another file, as a file of the same kind: a table with one
// more column, or an array.
#pragma once

#include "engine/train/experiment.h"

#include <optional>
#include <stop_token>
#include <string>

namespace halfscope {

/// Whether the samples of another file can be predicted: those of tables and arrays.
bool canPredictFile(TaskKind);

/// Returns the lines of the table `samples` as they stand there, with the lane's predictions behind
/// them; a line that data.missing leaves out has none. Of arrays, .npy of float32, (samples,
/// outputs). Reads the training data, too: words, means and deviations are theirs. Builds a network
/// of its own, so nothing of the training changes. Returns nothing when `stop` asks for it. Throws
/// InputError when the file does not fit.
std::optional<std::string> predictedSamples(Experiment&, int lane, const std::string& samples,
                                            const std::stop_token& stop = {});

} // namespace halfscope
