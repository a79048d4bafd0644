// What the ways to convolve share: operands as floats, results as they are stored, and the partial
// sums of a weight's gradient.
#pragma once

#include "engine/cpu/support.h"
#include "engine/cpu/tf32.h"

namespace halfscope {

inline bool isAsStored(const CpuCall& call, const CpuTensor& tensor) {
    return tensor.dtype == DType::F32 && call.node.math != MathMode::TF32;
}

/// Returns elements [first, first + n) of the operand as f32: in place, or widened or rounded into
/// `to`.
inline const float* widened(const CpuCall& call, const CpuTensor& tensor, int64_t first, int64_t n,
                            float* to) {
    const std::byte* const stored = elementAt(tensor.data, first, tensor.dtype);
    if (isAsStored(call, tensor)) return reinterpret_cast<const float*>(stored);
    loadAsFloat(tensor.dtype, stored, to, static_cast<size_t>(n));
    if (call.node.math == MathMode::TF32) roundToTf32(to, static_cast<size_t>(n));
    return to;
}

/// Returns the whole operand, widened by all threads.
inline const float* widened(const CpuCall& call, const CpuTensor& tensor, float* to) {
    if (isAsStored(call, tensor)) return static_cast<const float*>(tensor.data);
    constexpr int64_t kBlock = 1 << 15;
    const int64_t count = tensor.shape->elements();
    call.pool.run(ceilDiv(count, kBlock), [&](int64_t task, int) {
        const int64_t first = task * kBlock;
        widened(call, tensor, first, std::min(kBlock, count - first), to + first);
    });
    return to;
}

/// Stores rows of floats in the type of the result, from element `first` on and `stride` elements
/// apart.
inline void storeRows(const CpuCall& call, const float* from, int64_t rows, int64_t columns,
                      int64_t first, int64_t stride) {
    for (int64_t row = 0; row < rows; ++row) {
        storeFromFloat(call.node.dtype, from + row * columns,
                       elementAt(call.out, first + row * stride, call.node.dtype),
                       static_cast<size_t>(columns));
    }
}

inline constexpr int64_t kPartBlock =
    4096; ///< elements of a gradient whose partial sums a task adds

/// Adds the partial sums of a weight's gradient, `size` floats apart, into the first of them, in
/// order. done(first, count) is called for each block of `elements` that is complete.
template <class Done>
void addParts(const CpuCall& call, float* sums, int64_t parts, int64_t size, int64_t elements,
              const Done& done) {
    call.pool.run(ceilDiv(elements, kPartBlock), [&](int64_t task, int) {
        const int64_t first = task * kPartBlock, count = std::min(kPartBlock, elements - first);
        float* const sum = sums + first;
        for (int64_t part = 1; part < parts; ++part) {
            const float* const more = sum + part * size;
            for (int64_t i = 0; i < count; ++i)
                sum[i] += more[i];
        }
        done(first, count);
    });
}

} // namespace halfscope
