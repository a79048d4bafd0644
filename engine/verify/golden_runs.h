// Recorded trainings: repeats them with the same settings, data and starting weights, and compares
// step by step.
#pragma once

#include "engine/train/trainer.h"
#include "engine/verify/suites.h"

namespace halfscope::recorded {

/// Bound for float32 losses against those of the float64 run, relative.
inline constexpr double kFloat32Bound = 2e-6;

/// Moves starting weights by up to `size`, relatively, at random by `seed`; a seed of 0 moves
/// nothing.
struct Perturbation {
    uint64_t seed = 0;
    float size = 0;
};

/// The results by which a run is compared.
struct TrainedRun {
    std::vector<float> losses;
    std::vector<float> scales, norms; ///< the scale used; L2 norm of the gradients before clipping
    std::vector<size_t> skipped;      ///< steps, counted from 0
    float nextScale = 0;              ///< after the last step
    Weights weights;                  ///< at the end; empty for classifiers
};

using MakeExecutor = std::function<std::unique_ptr<Executor>()>;
/// Trains all steps, or at most `most`. Throws InputError when the run's numbers do not fit
/// together.
TrainedRun trainRun(const Golden& run, const MakeExecutor&, const Perturbation& moved = {},
                    size_t most = SIZE_MAX);

enum class RunKind : uint8_t {
    Float64, ///< PyTorch in float64, ours in float32
    Float32, ///< both in float32
    Amp
};
RunKind kindOf(const Golden& run);
/// Returns a name such as "mlp_ce seed 1 float16 from scale 65536 clip".
std::string runName(const Golden& run);
/// Returns how far a loss may be from PyTorch's, relatively. In half precision the recorded runs
/// take tens of steps, which amplify the different order of sums on a GPU; onecycle's larger rates
/// and high first scales, with their skips, amplify it more.
double lossBound(const Golden& run);
/// Returns the steps in which PyTorch's scale fell.
std::vector<size_t> skippedSteps(const Golden& run);
/// Returns the number of steps before the loss scales differ.
size_t commonSteps(const Golden& run, const TrainedRun&);

/// Compares the losses of the steps before `end` within lossBound().
void compareLosses(CaseResult&, const Golden& run, const TrainedRun&, size_t end);
/// Compares the losses of every step (for pictures: while the scales agree). In half precision also
/// requires the same scales as PyTorch when the first scale is 2^16 or less, and otherwise as many
/// skips, give or take 2.
CaseResult compareRun(const Golden& run, const TrainedRun&);

} // namespace halfscope::recorded
