// The gradients that were counted during a run, as a csv file next to steps.csv.
#pragma once

#include "engine/runs/gradient_history.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Returns the text of the file: a line for each stretch of steps with the same shares, lane by
/// lane:
///   lane,first_step,last_step,counted_step,zero,2^-40,...,2^23,not_finite
/// counted_step is the step whose gradients were counted; it is empty where the shares are the mean
/// of several. The other steps of the stretch have the shares that their loss scale moves there.
/// 2^e is the share of scaled gradients with 2^e <= |x| < 2^(e+1); the first and the last one also
/// hold what lies beyond. Empty when nothing was counted.
std::string gradientText(std::span<const GradientHistory* const> lanes,
                         std::span<const std::string> names);
std::string gradientText(std::span<const GradientHistory> lanes,
                         std::span<const std::string> names);

/// The parts of the file as it grows: its first line, and the line of one count, whose three steps
/// are the same.
std::string gradientHeader();
std::string gradientLine(const GradientRange&, const std::string& lane);

/// Reads a file that gradientText() or `halfscope-cli run --gradients` wrote for a run of `steps`
/// steps. Returns one history per lane, like that of a saved run, see GradientHistory; when there
/// are more columns than it keeps, neighbours are merged. The file does not tell types. `goesOn` is
/// called now and then with the share that is read, 0 to 1; when it returns false, there is no
/// result. Throws InputError like readRun(), also when shares do not add up to 1; where `damage` is
/// given, such a line ends the reading instead, and the error is put there. `cutOff`, where it is
/// given, becomes whether the last line is not whole and was left out.
std::optional<std::vector<GradientHistory>>
readGradients(const std::string& path, std::span<const std::string> names, int64_t steps,
              const std::function<bool(double)>& goesOn = {}, Message* damage = nullptr,
              bool* cutOff = nullptr);

} // namespace halfscope
