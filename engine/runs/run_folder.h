// The names of a run's files, for its writer and its reader.
#pragma once

#include <string>

namespace halfscope {

namespace run_file {
inline constexpr const char* kExperiment = "experiment.json";
inline constexpr const char* kSteps = "steps.csv";
inline constexpr const char* kEvents = "events.csv";
inline constexpr const char* kTiming = "timing.csv";
inline constexpr const char* kGradients = "gradients.csv";
inline constexpr const char* kSummary = "summary.json";
inline constexpr const char* kTarget = "target.png";
/// "output_amp-fp16.png".
inline std::string output(const std::string& lane) { return "output_" + lane + ".png"; }
} // namespace run_file

} // namespace halfscope
