// Lets a network that was trained to predict every character of a text write one: it continues a
// prompt, and each character is drawn at random by the network's scores. Pictures show the text.
#pragma once

#include "engine/train/probe.h"

#include <cstdint>
#include <span>

namespace halfscope {

/// Scores are divided by this before a character is drawn: below 1, likely characters are drawn
/// more often.
inline constexpr double kWritingTemperature = 0.8;

/// Returns the class at which the running sum of the probabilities passes `chance`, in [0, 1).
/// Lanes with nearly equal scores thus draw the same class from the same chance. A score of nan is
/// never drawn; returns scores.size() when no score is a number.
int32_t drawnClass(std::span<const float> scores, double chance);

class TextWriter {
public:
    /// `tensors` are those of a data set with a target at each position.
    TextWriter(const RunConfig&, const PrecisionPlan&, std::span<const TensorSpec> tensors,
               std::unique_ptr<Executor>);

    /// Writes `characters` characters behind `prompt`, which is as long as a sample. When one
    /// cannot be drawn, it and all that follow are the number of classes. The random numbers come
    /// from the run's seed, so all lanes draw by the same ones. `weights` is as in Probe::run().
    /// Returns nothing when it was stopped.
    std::optional<std::vector<int32_t>>
    write(std::span<const int32_t> prompt, size_t characters,
          const std::function<void(Executor&, const Graph&)>& weights);
    /// Returns the probe that writes, so that it can be asked to stop.
    Probe& probe() { return m_probe; }

private:
    const uint64_t m_seed;
    const size_t m_classes;
    Batch m_window; ///< one sample: the last characters
    Probe m_probe;
};

} // namespace halfscope
