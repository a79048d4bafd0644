// Writes the experiment as a program for PyTorch, for people to read, run and take along.
#pragma once

#include "engine/settings/run_config.h"

#include <map>
#include <string>

namespace halfscope {

/// Returns a Python program that trains the lanes one after the other from the same weights: data,
/// network, autocast, GradScaler, clipping, penalty, schedule and loop as PyTorch's documentation
/// writes them. `python3 FILE WEIGHTS.safetensors SAMPLES.safetensors` starts from those weights,
/// trains on those batches and judges on those samples (writeStepSamples()); without the second
/// file, random data and orders are PyTorch's own. Lanes and rules that PyTorch lacks are named in
/// a comment and left out. A recorded run has its last length. `names` are those of the weights in
/// the file that model.weights names, by the network's; empty where they are the same.
///
/// Throws InputError when PyTorch has none of the lanes, and as checkConfig() and fittingModel()
/// do.
std::string pytorchScript(const RunConfig&, const std::map<std::string, std::string>& names = {});

} // namespace halfscope
