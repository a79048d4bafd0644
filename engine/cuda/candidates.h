// Chooses among several algorithms of a library the fastest of those that give the same bits, so
// that the choice, which depends on timing, never shows in a number.
#pragma once

#include "engine/core/error.h"
#include "engine/cuda/cache.h"
#include "engine/cuda/device.h"

#include <functional>

namespace halfscope::cuda {

/// Candidates in the library's own order, which is the same in every run.
struct Trial {
    std::string what; ///< "matmul 'layer 1'", for errors
    std::string key;  ///< of the cache: library, device, sizes, dtypes
    int count = 0;
    /// Enqueues a candidate; false when the library refuses it.
    std::function<bool(int candidate)> run;
    /// What it reads; filled with numbers before the first run.
    struct Operand {
        CUdeviceptr data = 0;
        size_t bytes = 0;
        DType dtype = DType::F32;
    };
    std::vector<Operand> operands;
    CUdeviceptr result = 0;
    size_t resultBytes = 0;
};

/// Returns the chosen candidate, or -1 when the library refuses all. Overwrites operands and
/// result. When one run takes long, later candidates are not tried: a step of many large products
/// must not take a minute to load.
int chooseCandidate(const Device&, const FileCache&, const Trial&);

} // namespace halfscope::cuda
