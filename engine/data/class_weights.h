// The weights that cross entropy gives to classes: the setting task.class_weights, and what it
// means for the samples to train on.
#pragma once

#include "engine/data/task_spec.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace halfscope {

class Dataset;

inline constexpr std::string_view kClassWeightsState = "class_weights"; ///< (classes), of a step

struct ClassWeights {
    bool balanced = false;       ///< the setting is "balanced"
    std::vector<double> numbers; ///< by class; empty when none are set
};

/// Reads "1, 2.5, 10", "balanced" or an empty text. Throws InputError for anything else.
ClassWeights classWeightsOf(std::string_view text);
/// Throws InputError when there are numbers for more or fewer classes than the data have.
void checkClassWeights(const LossSpec&, int64_t classes);

/// Whether the loss is one that can weigh classes, and the settings ask for it.
bool weighsClasses(const LossSpec&);
/// Returns the weights by class for a data set; empty unless weighsClasses(). Balanced ones are
/// samples / (classes * samples of the class), counted over the samples to train on, and 1 for a
/// class without such samples. Throws InputError as checkClassWeights() does, and when a sample
/// that is counted cannot be read.
std::vector<float> weightsFor(const LossSpec&, const Dataset&);
/// Returns LossSpec::weights, or where no data set has given them, the setting's numbers; balanced
/// ones are all 1 then.
std::vector<float> weightsOf(const LossSpec&, int64_t classes);

} // namespace halfscope
