// The description of an experiment that its run keeps.
#pragma once

#include "engine/runs/run.h"
#include "engine/train/experiment.h"

#include <string>

namespace halfscope {

/// Returns settings, device and memory as they are now. `program` is the program's version,
/// "0.1.0".
RunInfo runInfo(Experiment&, std::string program);
/// Returns the version of the compiler that built this program.
std::string compilerVersion();
/// Returns what the experiment measures in addition to the metrics that every run has.
std::vector<MetricId> extraMetrics(const Experiment&);

} // namespace halfscope
