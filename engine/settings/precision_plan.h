// Combines a lane's precision with its other settings into the plan for the graph of its step.
#pragma once

#include "engine/autocast/cast_policy.h"
#include "engine/models/layer_context.h"
#include "engine/settings/layers.h"
#include "engine/settings/precision.h"

namespace halfscope {

/// What the settings of a lane add up to.
struct PrecisionPlan {
    ParameterStorage storage;
    std::optional<CastPolicy> policy{};
    MathMode math = MathMode::F32;
    bool outputF32 = false;
};
/// Returns the plan; reads the policy file of a lane with precision "user". Throws InputError when
/// that file is not valid.
PrecisionPlan planOf(const LaneConfig&);

/// Throws InputError unless the graph has all layers that the lane or its policy file names, by the
/// labels of its forward pass.
void checkLayers(const CastPolicy&, const LaneConfig&, const Graph&);

} // namespace halfscope
