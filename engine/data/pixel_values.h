// What the settings data.mean, data.std, data.flip and data.crop make of the bytes of pictures: the
// floats of a batch, and the same in Python.
#pragma once

#include "engine/core/shape.h"
#include "engine/data/dataset.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Turns a picture's bytes, plane by plane of its channels, into (byte / 255 - mean) / deviation,
/// and mirrors and moves the samples to train on at random.
class PixelValues {
public:
    PixelValues() = default;
    /// `picture` is the shape of a sample, (1 or 3, height, width). Throws InputError for a mean or
    /// a deviation that is none.
    PixelValues(const TaskConfig&, uint64_t seed, const Shape& picture);

    /// Whether samples to train on differ from epoch to epoch.
    bool varies() const { return m_flip || m_crop > 0; }
    /// Whether the mean or the deviation is set.
    bool normalises() const { return m_normalises; }
    std::vector<ChannelScale> scales() const;

    /// Whether the mean or the deviation is "auto": the samples of measuredAmong() are then to be
    /// measured, those that can be read, before the first fill().
    bool measures() const { return m_measuresMean || m_measuresDeviation; }
    /// Returns places that are spread evenly over so many samples to train on, at most 1,000.
    static std::vector<size_t> measuredAmong(size_t samples);
    void measure(std::span<const uint8_t> planes);
    /// Ends measuring. Throws InputError when none of the samples was measured; `asked` is how many
    /// there were.
    void endMeasuring(size_t asked);

    /// Writes a sample as it is in this epoch; in epoch 0 it is as it is stored. Any thread may
    /// call it.
    void fill(std::span<float> to, std::span<const uint8_t> planes, int64_t stored,
              int64_t epoch) const;

private:
    /// What chance makes of a sample in an epoch.
    struct Chance {
        bool flip = false;
        int64_t right = 0, down = 0; ///< pixels by which it is moved
    };
    Chance chanceOf(int64_t stored, int64_t epoch) const;
    void fillMoved(std::span<float> to, std::span<const uint8_t> planes, Chance) const;
    void setTables();

    uint64_t m_seed = 0;
    bool m_flip = false, m_normalises = false;
    int64_t m_crop = 0;
    size_t m_channels = 1, m_height = 0, m_width = 0;
    bool m_measuresMean = false, m_measuresDeviation = false;
    uint64_t m_measured = 0; ///< pixels of a channel
    std::array<uint64_t, 3> m_sums{}, m_squares{};
    std::array<float, 3> m_mean{0, 0, 0}, m_deviation{1, 1, 1}; ///< by channel
    std::array<std::array<float, 256>, 3> m_values{};           ///< of each byte, by channel
};

/// Throws InputError when data.mean or data.std has a number for each channel, but of another
/// number of channels.
void checkChannelCounts(const TaskConfig&, int64_t channels);

/// Whether the mean or the deviation is set.
bool normalises(const TaskConfig&);
/// Returns the Python function normalised(train, x), which measures "auto" on train; empty unless
/// the task normalises.
std::string normalisedPython(const TaskConfig&);
/// Returns PythonData::varied, which uses normalisedPython()'s BLACK and names of the pictures'
/// height and width; empty unless samples differ from epoch to epoch.
std::string variedPython(const TaskConfig&, const char* height, const char* width);

} // namespace halfscope
