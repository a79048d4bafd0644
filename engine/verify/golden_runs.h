// Recorded trainings: the same settings, data and starting weights as ours, the training, and the
// comparison step by step.
#pragma once

#include "engine/train/trainer.h"
#include "engine/verify/suites.h"

namespace halfscope::recorded {

/// Float32 losses against those of the float64 run, relatively.
inline constexpr double kFloat32Bound = 2e-6;

/// Starting weights moved by up to `size`, relatively, in a way that `seed` tells; 0 moves nothing.
struct Perturbation {
    uint64_t seed = 0;
    float size = 0;
};

/// What a run is compared by.
struct TrainedRun {
    std::vector<float> losses;
    std::vector<float> scales, norms; ///< the scale used; L2 of the gradients before clipping
    std::vector<size_t> skipped;      ///< steps, from 0
    float nextScale = 0;              ///< after the last step
    Weights weights;                  ///< at the end; not of classifiers
};

using MakeExecutor = std::function<std::unique_ptr<Executor>()>;
/// All steps, or `most` at most. InputError where the run's numbers do not fit together.
TrainedRun trainRun(const Golden& run, const MakeExecutor&, const Perturbation& moved = {},
                    size_t most = SIZE_MAX);

enum class RunKind : uint8_t {
    Float64, ///< PyTorch in float64, ours in float32
    Float32, ///< both in float32
    Amp
};
RunKind kindOf(const Golden& run);
/// "mlp_ce seed 1 float16 from scale 65536 clip".
std::string runName(const Golden& run);
/// How far a loss may be from PyTorch's, relatively. Half precision: the recorded runs pass through
/// tens of steps, which blow up the different order of sums on a GPU; onecycle's larger rates and
/// high first scales, with their skips, do so more.
double lossBound(const Golden& run);
/// The steps in which PyTorch's scale fell.
std::vector<size_t> skippedSteps(const Golden& run);
/// Steps before the loss scales part.
size_t commonSteps(const Golden& run, const TrainedRun&);

/// Losses of the steps before `end` within lossBound().
void compareLosses(CaseResult&, const Golden& run, const TrainedRun&, size_t end);
/// Losses of every step (pictures: while the scales agree). Half precision also: the same scales as
/// PyTorch from a start of 2^16 or less, else as many skips, give or take 2.
CaseResult compareRun(const Golden& run, const TrainedRun&);

} // namespace halfscope::recorded
