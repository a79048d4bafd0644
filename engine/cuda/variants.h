// The ways to run a step of which a device may like any best.
#pragma once

#include "engine/cuda/codegen/step_source.h"

#include <string>
#include <string_view>
#include <vector>

namespace halfscope::cuda {

struct Variant {
    std::string name;
    SourceOptions options;
};

/// What the name of a way ends with when its launches overlap (overlap.h).
inline constexpr std::string_view kOverlappedEnding = ", overlapped";

/// Those that a device of that compute capability (10 * major + minor) may have: the given one
/// first, as "usual". Some may give the same text for a program. HALFSCOPE_CUDA_VARIANT=NAME leaves
/// that one alone; EngineError where it names none.
std::vector<Variant> variantsOf(const SourceOptions&, int capability);

} // namespace halfscope::cuda
