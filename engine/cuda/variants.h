// The ways to run a step, any of which may be the best on a device.
#pragma once

#include "engine/cuda/codegen/step_source.h"

#include <string>
#include <vector>

namespace halfscope::cuda {

struct Variant {
    std::string name;
    SourceOptions options;
    /// Compiled and tried only where no other one works: on no device that was measured is it the
    /// fastest, and every way costs seconds until the first step runs.
    bool lastResort = false;
};

/// Returns the variants for a device of that compute capability (10 * major + minor), those of last
/// resort behind the others; where the options allow no choice, them alone, as "usual". Some may
/// give the same text for a program. HALFSCOPE_CUDA_VARIANT=NAME leaves only that one; throws
/// EngineError when it names none.
std::vector<Variant> variantsOf(const SourceOptions&, int capability);

} // namespace halfscope::cuda
