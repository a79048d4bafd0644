// Which of several algorithms of a library to take: the fastest of those that give the same bits,
// so that the choice, which timing makes, never shows in a number.
#pragma once

#include "engine/core/error.h"
#include "engine/cuda/cache.h"
#include "engine/cuda/device.h"

#include <functional>

namespace halfscope::cuda {

/// Candidates in the library's own order, which is the same on every run.
struct Trial {
    std::string what; ///< "matmul 'layer 1'", for errors
    std::string key;  ///< of the cache: library, device, sizes, dtypes
    int count = 0;
    /// Enqueues a candidate; false: the library refuses it.
    std::function<bool(int candidate)> run;
    /// What it reads: filled with numbers before the first run.
    struct Operand {
        CUdeviceptr data = 0;
        size_t bytes = 0;
        DType dtype = DType::F32;
    };
    std::vector<Operand> operands;
    CUdeviceptr result = 0;
    size_t resultBytes = 0;
};

/// -1 when the library refuses all. Overwrites operands and result. Where one run takes long, the
/// later candidates are not tried: a step of many large products must not take a minute to load.
int chooseCandidate(const Device&, const FileCache&, const Trial&);

} // namespace halfscope::cuda
