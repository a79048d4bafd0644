// How large the gradients of a step are: counts by power of two, of all and of each layer.
#pragma once

#include "engine/core/dtype.h"
#include "engine/core/message.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Counts many values by their magnitude.
struct MagnitudeCounts {
    /// The first bucket is that of 2^-40; smaller values count there, too.
    static constexpr int kLowest = -40;
    static constexpr int kBuckets = 64;

    /// Bucket i counts 2^(kLowest + i) <= |x| < 2^(kLowest + i + 1); the last one counts all larger
    /// values, too.
    std::array<int64_t, kBuckets> buckets{};
    std::array<int64_t, kBuckets> negative{}; ///< how many in each bucket are below zero
    int64_t zeros = 0;
    int64_t notFinite = 0;  ///< inf and nan
    int64_t subnormals = 0; ///< values in the buckets below their type's smallest normal

    /// Counts values given in their storage form.
    void add(DType, std::span<const std::byte>);
    void add(const MagnitudeCounts&);
    int64_t total() const; ///< zeros and non-finite values included
    /// Returns the exponent e of the largest finite values, which are below 2^(e + 1); nothing
    /// where there are only zeros.
    std::optional<int> highest() const;
    /// Returns how many values that are not zero are smaller than 2^exponent.
    int64_t below(int exponent) const;
};

/// The gradients of one layer in a step of a lane, times its loss scale.
struct LayerGradients {
    std::string layer;       ///< as events name it, "Linear 0"
    DType type = DType::F32; ///< the narrowest of them
    bool fp8 = false;        ///< those of outputs are rounded to E5M2, also where no device stores
                             ///< them
    MagnitudeCounts outputs; ///< as in GradientRange; empty where no product takes them, and where
                             ///< the device does not store them
    MagnitudeCounts weights; ///< empty where it has none, and where they are not stored
    /// How far those of its weights are from float32's, see GradientError; nothing where that was
    /// not measured.
    std::optional<double> error{};
    /// The parameters that the layer is the first to compute with, as PyTorch's state dict and the
    /// events name them: "0.weight".
    std::vector<std::string> parameters{};

    int64_t total() const { return outputs.total() + weights.total(); }
    int64_t zeros() const { return outputs.zeros + weights.zeros; }
    int64_t notFinite() const { return outputs.notFinite + weights.notFinite; }
    bool allZero() const { return total() > 0 && zeros() == total(); }
    /// Returns how many are not zero, but below the smallest number for which fp16 has all digits.
    int64_t small() const;
    /// Whether they have the exponents of fp16, so that a larger loss scale brings inf. Wider types
    /// hold far larger numbers.
    bool inHalfRange() const { return type == DType::F16 || fp8; }
    /// Returns how often the loss scale can double before one of them reaches inf in fp16, below 0
    /// where fp16 has no room for them as it is; nothing where all are zero or inHalfRange() is
    /// false.
    std::optional<int> room() const;
};

/// The gradients of one step of a lane, times its loss scale.
struct GradientRange {
    int64_t step = 0;        ///< the step whose gradients they are; 0 when there are none
    float scale = 1;         ///< the loss scale of that step
    DType type = DType::F32; ///< the narrowest of them
    MagnitudeCounts outputs; ///< of the layers' outputs, as the backward products take them
    MagnitudeCounts weights; ///< of the weights and biases, as the step rounds them
    /// The same by layer, in the order of the forward pass; empty where that is not known. What
    /// belongs to no layer is left out.
    std::vector<LayerGradients> layers{};
    std::optional<double> error{}; ///< of all parameters together, like those of layers
    Message noErrors{}; ///< why there are no errors although they were asked for; usually empty

    int64_t zeros() const { return outputs.zeros + weights.zeros; }
    int64_t notFinite() const { return outputs.notFinite + weights.notFinite; }
    int64_t subnormals() const { return outputs.subnormals + weights.subnormals; }
    int64_t total() const { return outputs.total() + weights.total(); }
};

/// Where the gradients of a layer stand, in lists by lane.
struct LayerRow {
    std::string layer;
    int lane = 0;
    size_t at = 0; ///< in its lane's layers
    bool operator==(const LayerRow&) const = default;
};
/// Returns the layers of all lanes in their order, the lanes of each one after the other. A lane
/// may lack a layer that others have: one without any gradient is left out.
std::vector<LayerRow> layerRows(std::span<const GradientRange>);

} // namespace halfscope
