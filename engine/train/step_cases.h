// The training steps that benches time and that executors are compared by: networks and batches by
// name, ready to run. Leaves timing and comparison to their callers.
#pragma once

#include "engine/train/step_runner.h"

#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

struct StepCase {
    std::string name;
    RunConfig config;    ///< the network and, without classes, the task
    Shape sample{};      ///< with classes: of one x
    int64_t classes = 0; ///< above 0: random x and labels, and cross entropy for the task's loss
};

/// The checkerboard's network 2-w-w-w-1 with batch norm on side x side pixels.
StepCase checkerboardCase(int64_t side, int64_t width);
/// inputs-width-1 on squared errors, or inputs-width-classes on cross entropy, batches of 64.
StepCase regressionCase();
StepCase classifierCase(int64_t inputs, int64_t width, int64_t classes);
/// The network and the optimizer of a preset of digits, by its name, on random pictures.
StepCase digitsCase(std::string_view preset);
/// Of its batches.
BatchShape shapeOf(const StepCase&);
/// What `bench` knows: checkerboards of several sizes, two small networks and two convolutional
/// ones.
std::vector<StepCase> benchCases();

/// Builds and compiles the step, as the executor wants it unless told, and uploads its first batch.
std::unique_ptr<StepRunner> makeRunner(const StepCase&, const LaneConfig&,
                                       std::unique_ptr<Executor>,
                                       const std::optional<CompileOptions>& = {});

} // namespace halfscope
