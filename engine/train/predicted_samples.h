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

/// A sentence about the file of the training data, %1.
inline constexpr Phrase kChangedSince =
    phrase("Training", "%1 changed after the training. Words, means and deviations are taken from "
                       "it as it is now, so predictions may be wrong.");

struct PredictedSamples {
    std::string bytes; ///< of the file
    /// What users should know about the samples, in whole sentences: words that the training data
    /// lack, for example, or that the training data changed.
    std::vector<Message> notes{};
};

/// Returns the lines of the table `samples` as they stand there, with the lane's predictions behind
/// them; a line that lacks a value has none, unless data.missing is mean. Of arrays, .npy of
/// float32, (samples, outputs). Reads the training data, too: words, means and deviations are
/// theirs. Builds a network of its own, so nothing of the training changes. Returns nothing when
/// `stop` asks for it. Throws InputError when the file does not fit.
std::optional<PredictedSamples> predictedSamples(Experiment&, int lane, const std::string& samples,
                                                 const std::stop_token& stop = {});

} // namespace halfscope
