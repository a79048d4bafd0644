// The values with which training starts. Moving them to a device is left to the trainer.
#pragma once

#include "engine/graph/graph.h"

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace halfscope {

/// Starting values by parameter name ("0.weight"), f32, row-major.
using Weights = std::map<std::string, std::vector<float>>;
/// How many batches each batch norm has seen, by the layer's name ("1").
using BatchCounts = std::map<std::string, int64_t>;

/// Returns whether a state is part of the network: a parameter or a running statistic.
bool isWeight(const StateInfo&);

/// Returns deterministic initial weights by each state's own rule, from the seed.
Weights initialWeights(const Graph&, uint64_t seed, const std::stop_token& stop = {});

/// Throws RunError when `stop` asks for it: weights of a wide network take seconds to draw and to
/// move.
void throwIfStopped(const std::stop_token& stop);

} // namespace halfscope
