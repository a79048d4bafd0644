// The training steps that are timed by benches and used to compare executors: networks and batches
// by name, ready to run. Leaves timing and comparison to their callers.
#pragma once

#include "engine/train/step_runner.h"

#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

struct StepCase {
    std::string name;
    RunConfig config;    ///< the network and, without classes, the task
    Shape sample{};      ///< with classes: the shape of one x
    int64_t classes = 0; ///< above 0: random x and labels, with cross entropy instead of the task's
                         ///< loss
};

/// Returns the checkerboard's network 2-w-w-w-1 with batch norm on side x side pixels.
StepCase checkerboardCase(int64_t side, int64_t width);
/// Returns a network with one hidden layer and batches of 64: inputs-width-1 with squared errors.
/// classifierCase() is inputs-width-classes with cross entropy.
StepCase regressionCase();
StepCase classifierCase(int64_t inputs, int64_t width, int64_t classes);
/// Returns the network and the optimizer of a preset of digits, by its name, on random pictures.
StepCase digitsCase(std::string_view preset);
/// Returns a network with one depthwise separable convolution, as in MobileNet, of 32 channels with
/// 32 x 32 pixels.
StepCase separableCase();
/// Returns the shape of the case's batches.
BatchShape shapeOf(const StepCase&);
/// Returns the cases that `bench` knows: checkerboards of several sizes, two small networks and
/// three convolutional ones.
std::vector<StepCase> benchCases();

/// Builds and compiles the step, with the executor's compile options unless others are given, and
/// uploads its first batch.
std::unique_ptr<StepRunner> makeRunner(const StepCase&, const LaneConfig&,
                                       std::unique_ptr<Executor>,
                                       const std::optional<CompileOptions>& = {});

} // namespace halfscope
