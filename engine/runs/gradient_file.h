// The gradients that were counted during a run, as a csv file next to steps.csv.
#pragma once

#include "engine/runs/gradient_history.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// A line for each stretch of steps with the same shares, lane by lane:
///   lane,first_step,last_step,counted_step,zero,2^-40,...,2^23,not_finite
/// counted_step is the step whose gradients were counted, empty where the shares are the mean of
/// several; other steps of the stretch have them as its loss scale moves them. 2^e is the share of
/// 2^e <= |x| < 2^(e+1), of scaled gradients; the first and the last one hold what lies beyond.
/// Empty where nothing was counted.
std::string gradientText(std::span<const GradientHistory* const> lanes,
                         std::span<const std::string> names);
std::string gradientText(std::span<const GradientHistory> lanes,
                         std::span<const std::string> names);

/// The file as it grows: its first line, and the line of one count, whose three steps are the same.
std::string gradientHeader();
std::string gradientLine(const GradientRange&, const std::string& lane);

/// What that wrote, or `halfscope-cli run --gradients`, of a run of so many steps: by lane, as of a
/// saved run, see GradientHistory; of more columns than that keeps neighbours become one. The file
/// has no types. `goesOn` hears now and then how much is read, 0 to 1; when it says no, there is no
/// result. InputError as of readRun(), also where shares do not add up to 1.
std::optional<std::vector<GradientHistory>>
readGradients(const std::string& path, std::span<const std::string> names, int64_t steps,
              const std::function<bool(double)>& goesOn = {});

} // namespace halfscope
