// Combines a lane's precision with its other settings into the plan for the graph of its step.
#pragma once

#include "engine/autocast/cast_policy.h"
#include "engine/models/layer_context.h"
#include "engine/settings/layers.h"
#include "engine/settings/precision.h"

namespace halfscope {

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
