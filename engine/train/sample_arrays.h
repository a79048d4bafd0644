// Samples as the arrays of a file of step_samples.h.
#pragma once

#include "engine/data/dataset.h"
#include "engine/io/safetensors.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Holds x and target of some samples, one after the other: numbers in float32, indices and classes
/// in PyTorch's type for them, int64.
class SampleArrays {
public:
    /// Takes the specs of x, of the target, and of others, which it leaves out.
    explicit SampleArrays(std::span<const TensorSpec>);
    /// Returns the bytes that a sample takes.
    static int64_t bytesOfOne(std::span<const TensorSpec>);

    void reserve(int64_t samples);
    /// Adds the samples of a batch, but for some.
    void add(const Batch&, std::span<const Unread> without = {});
    /// Returns views of this object's values; their names begin with `prefix`.
    std::vector<ArrayView> views(const std::string& prefix) const;

private:
    static constexpr size_t kArrays = 2;
    struct Values {
        Shape sample;
        bool numbers = true;
        std::vector<std::byte> bytes;
    };

    int64_t m_samples = 0;
    std::array<Values, kArrays> m_values;
};

} // namespace halfscope
