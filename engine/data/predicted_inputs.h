// Samples to predict that come as an array of what the network takes, whatever it was trained on.
#pragma once

#include "engine/data/dataset.h"

#include <memory>

namespace halfscope {

/// Whether task.predictFile is, by its name, an array although the training data are none.
bool predictsInputs(const TaskConfig&);
/// Whether task.predictFile is an array, of such data or of arrays.
bool predictsArray(const TaskConfig&);

/// Returns the settings of the training data alone.
TaskConfig trainedOnly(const TaskConfig&);
/// Returns the facts of the training data with the samples of the array to judge. Reads the header
/// of the array. Throws InputError when it does not fit.
DataFacts predictedInputFacts(const TaskConfig&);
/// Makes the samples of the array the only ones to validate on, in the place of those of `trained`,
/// the training data. Their values get the means and deviations of these; their targets are
/// unknown. Throws InputError when the array does not fit. Cancellable.
std::unique_ptr<Dataset> withPredictedInputs(std::unique_ptr<Dataset> trained, const TaskConfig&);

} // namespace halfscope
