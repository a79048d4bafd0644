// How large the gradients of a step are: counts by power of two.
#pragma once

#include "engine/core/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halfscope {

/// Counts many values by their magnitude.
struct MagnitudeCounts {
    /// The first bucket is that of 2^-40; smaller values count there, too.
    static constexpr int kLowest = -40;
    static constexpr int kBuckets = 64;

    /// Bucket i counts 2^(kLowest + i) <= |x| < 2^(kLowest + i + 1); the last one counts all larger
    /// values, too.
    std::array<int64_t, kBuckets> buckets{};
    int64_t zeros = 0;
    int64_t notFinite = 0;  ///< inf and nan
    int64_t subnormals = 0; ///< values in the buckets below their type's smallest normal

    /// Counts values given in their storage form.
    void add(DType, std::span<const std::byte>);
    int64_t total() const; ///< zeros and non-finite values included
};

/// The gradients of one step of a lane, times its loss scale.
struct GradientRange {
    int64_t step = 0;        ///< the step whose gradients they are; 0 when there are none
    float scale = 1;         ///< the loss scale of that step
    DType type = DType::F32; ///< the narrowest that any of them is stored in
    MagnitudeCounts outputs; ///< of the layers' outputs, as the backward products take them
    MagnitudeCounts weights; ///< of the weights and biases, as they are first stored

    int64_t zeros() const { return outputs.zeros + weights.zeros; }
    int64_t notFinite() const { return outputs.notFinite + weights.notFinite; }
    int64_t subnormals() const { return outputs.subnormals + weights.subnormals; }
    int64_t total() const { return outputs.total() + weights.total(); }
};

} // namespace halfscope
