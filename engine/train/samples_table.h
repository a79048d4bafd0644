// The table of samples that were judged: which one, what it should be, and what lanes predict.
#pragma once

#include "engine/train/predicted_samples.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

enum class WithTargets : uint8_t { Yes, No };

enum class TargetsAre : uint8_t { Classes, Numbers };

/// Whether the table has columns for what is predicted: a class, or at most 16 numbers of a sample.
bool fitsSamplesTable(int64_t outputs, TargetsAre);
/// Returns a line for each sample, or for each of its positions: the sample's number in the data,
/// its text if there are `texts`, its target and what each lane predicts. Where that does not fit,
/// only numbers and texts are left. There is at least one lane, and all have the same samples.
/// `classes` are the names of the classes; null where targets are numbers.
std::string samplesCsv(std::span<const LanePredictions>, const std::vector<std::string>* classes,
                       std::span<const std::string> texts, WithTargets);

} // namespace halfscope
