// Optimizers as nodes: each emits, for every parameter, the update by PyTorch's formulas and the
// next values of its states. A step that found inf or nan keeps every old value.
#pragma once

#include "engine/ops/builder.h"
#include "engine/settings/run_config.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace halfscope {

/// A parameter state and its unscaled gradient, F32, of the parameter's shape.
struct ParameterGradient {
    NodeId parameter = kNoNode;
    NodeId gradient = kNoNode;
    std::string name; ///< "0.weight"
};

struct OptimizerExtras {
    /// F32, rank 0: 1 - momentum (SGD, RMSprop) or 1 - beta1 (Adam) as a schedule sets it; kNoNode
    /// for the value in the settings.
    NodeId momentumComplement = kNoNode;
    double largestComplement = 1;   ///< upper bound of momentumComplement: below 0.5 a step needs
                                    ///< fewer nodes
    const char* name = "optimizer"; ///< the part of its state's name before ".step"
    /// If set, 16-bit parameters are rounded stochastically, by random numbers of this seed, and
    /// all arithmetic before that is in F32.
    std::optional<uint64_t> roundingSeed{};
};

/// Emits a cast of an F32 value to F16 or BF16 that rounds up with a probability of the value's
/// distance from the lower neighbour, in distances between the two: right on average. `counter`
/// (F32, rank 0) changes from step to step; with the seed it decides. Source: Gupta and others,
/// "Deep Learning with Limited Numerical Precision" (2015).
NodeId stochasticCast(Builder&, NodeId valueF32, DType to, NodeId counter, uint64_t seed);

/// Sets the next values of the parameters, of the moments ("0.weight.exp_avg", stored in the
/// parameter's dtype) and of "optimizer.step" (F32, the number of steps taken). All arithmetic is
/// in F32; where the parameter has 16 bits, each operation of PyTorch's foreach implementation
/// rounds its result to them. `learningRate` is F32, rank 0; `skip` is Bool, rank 0, or
/// kNoNode for an optimizer that always steps.
void emitOptimizer(Builder&, const OptimizerConfig&, std::span<const ParameterGradient>,
                   NodeId learningRate, NodeId skip, const OptimizerExtras& extras = {});

} // namespace halfscope
