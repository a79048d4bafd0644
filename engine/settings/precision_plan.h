// What a lane's precision and its own settings come to: the plan that the step's graph is built by.
#pragma once

#include "engine/autocast/cast_policy.h"
#include "engine/settings/layers.h"
#include "engine/settings/precision.h"

namespace halfscope {

/// How a network keeps its parameters.
struct ParameterStorage {
    DType weights = DType::F32;
    DType norms = DType::F32; ///< affine parameters of norms
    /// Norms see their f32 master weights rounded to this.
    std::optional<DType> normsSeen{};

    ParameterStorage() = default;
    ParameterStorage(DType all) : weights(all), norms(all) {} // NOLINT: a dtype is a storage
    ParameterStorage(DType w, DType n, std::optional<DType> seen)
        : weights(w), norms(n), normsSeen(seen) {}
};

/// What a lane's settings come to.
struct PrecisionPlan {
    ParameterStorage storage;
    std::optional<CastPolicy> policy{};
    MathMode math = MathMode::F32;
    bool outputF32 = false;
};
/// Reads the policy file of a lane with precision "user"; InputError when it is not valid.
PrecisionPlan planOf(const LaneConfig&);

/// InputError unless the layers that the lane or its policy file names all stand in the graph, by
/// the labels of its forward.
void checkLayers(const CastPolicy&, const LaneConfig&, const Graph&);

} // namespace halfscope
