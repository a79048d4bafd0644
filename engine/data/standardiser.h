// Moves and scales numbers to mean 0 and standard deviation 1 over the samples to train on, and
// back. Used for the inputs and the targets of tables and arrays.
#pragma once

#include "engine/core/shape.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Numbers of this size and above round to inf as float32.
inline constexpr double kFloatEnds = 0x1.ffffffp127;

/// The mean and the standard deviation of a column of numbers.
struct Spread {
    double mean = 0;
    double deviation = 0; ///< 0 when all numbers are equal
};

class Standardiser {
public:
    /// Leaves all values as they are.
    Standardiser() = default;

    /// Fills `values` with those of a stored sample, as they are before any rounding to float32.
    using Read = std::function<void(int32_t stored, std::span<double> values)>;
    /// Measures the samples `train` of the shape `sample`: of a list of numbers each one by itself,
    /// of pictures (channels, height, width) each channel, of other shapes all numbers together.
    /// Values that are inf or nan do not count. Cancellable.
    static Standardiser of(const Shape& sample, std::span<const int32_t> train, const Read&);

    bool active() const { return !m_spreads.empty(); }
    /// The spreads of the columns or channels; a single one where all numbers go together; none
    /// where values stay as they are.
    std::span<const Spread> spreads() const { return m_spreads; }
    /// Returns the spread of a value, given its index among the values of its sample. Active only.
    const Spread& spreadAt(size_t index) const { return m_spreads[columnOf(index)]; }
    /// Whether some column is so far from mean 0 and deviation 1 that a network with PyTorch's
    /// initial weights learns it slowly or not at all.
    bool isFarOff() const;
    /// Returns the indices in spreads() of those whose numbers, as they are, float32 rounds by too
    /// much: near the mean, it holds numbers more than a hundredth of the deviation apart.
    std::vector<size_t> roundedOff() const;
    /// Returns by how much the numbers that float32 holds near the mean of one of spreads() differ.
    double float32Step(size_t spread) const;

    /// Standardises a value, given its index among the values of its sample. Equal values become 0.
    double standardised(size_t index, double value) const {
        return active() ? (value - m_spreads[columnOf(index)].mean) * m_factors[columnOf(index)]
                        : value;
    }
    /// Standardises whole samples that follow one another, and rounds the results to float32.
    void standardise(std::span<const double> samples, std::span<float> into) const;
    /// Undoes it, for example for a prediction. float32 may hold less of the result.
    double restored(size_t index, double value) const {
        return active() ? value * spreadAt(index).deviation + spreadAt(index).mean : value;
    }

private:
    size_t columnOf(size_t index) const { return index / m_together % m_spreads.size(); }

    std::vector<Spread> m_spreads;
    std::vector<double> m_factors; ///< 1 / deviation; 0 for equal values
    size_t m_together = 1;         ///< values of a sample that follow one another in a column
};

/// Returns lines of Python that standardise the tensor `name`, whose axis 0 counts samples of the
/// shape, as Standardiser does, over the samples `train`. They set `mean` and `deviation`.
std::string standardisePython(const std::string& name, const Shape& sample);

} // namespace halfscope
