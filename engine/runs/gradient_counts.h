// How large a step's gradients are: counts by power of two.
#pragma once

#include "engine/core/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halfscope {

/// Of many values, how many lie where.
struct MagnitudeCounts {
    /// 2^-40: smaller ones count as that.
    static constexpr int kLowest = -40;
    static constexpr int kBuckets = 64;

    /// [i]: 2^(kLowest + i) <= |x| < 2^(kLowest + i + 1); the last one holds all larger ones too.
    std::array<int64_t, kBuckets> buckets{};
    int64_t zeros = 0;
    int64_t notFinite = 0;  ///< inf and nan
    int64_t subnormals = 0; ///< of the buckets' values, those below their type's smallest normal

    /// Values in storage form.
    void add(DType, std::span<const std::byte>);
    int64_t total() const; ///< zeros and what is not finite included
};

/// The gradients of one step of a lane, times its loss scale.
struct GradientRange {
    int64_t step = 0;        ///< that has them; 0: there are none
    float scale = 1;         ///< of the loss, in that step
    DType type = DType::F32; ///< the narrowest that any of them is stored in
    MagnitudeCounts outputs; ///< of the layers' outputs, as their backward products take them
    MagnitudeCounts weights; ///< of the weights and biases, as they are first stored

    int64_t zeros() const { return outputs.zeros + weights.zeros; }
    int64_t notFinite() const { return outputs.notFinite + weights.notFinite; }
    int64_t subnormals() const { return outputs.subnormals + weights.subnormals; }
    int64_t total() const { return outputs.total() + weights.total(); }
};

} // namespace halfscope
