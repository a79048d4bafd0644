// Lets a network write a text that was trained to predict every character of one: it goes on from a
// prompt, and each character is drawn by the scores that the network gives. Pictures show the text.
#pragma once

#include "engine/train/probe.h"

#include <cstdint>
#include <span>

namespace halfscope {

/// Scores are divided by it before a character is drawn: below 1, the likely ones come more often.
inline constexpr double kWritingTemperature = 0.8;

/// Returns the class at which the running sum of the probabilities passes `chance`, in [0, 1).
/// Lanes with nearly the same scores so draw the same class from the same chance. A score of nan is
/// never drawn; where no score is a number, returns scores.size().
int32_t drawnClass(std::span<const float> scores, double chance);

class TextWriter {
public:
    /// `tensors` are those of the data set, which has a target at each position.
    TextWriter(const RunConfig&, const PrecisionPlan&, std::span<const TensorSpec> tensors,
               std::unique_ptr<Executor>);

    /// Writes so many characters behind `prompt`, which is as long as a sample. From the first one
    /// that cannot be drawn on, all are the number of classes. The chances come from the run's
    /// seed, so all lanes have the same ones. `weights` are as in Probe::run(). Returns nothing
    /// when it was stopped.
    std::optional<std::vector<int32_t>>
    write(std::span<const int32_t> prompt, size_t characters,
          const std::function<void(Executor&, const Graph&)>& weights);
    /// Returns the probe that writes, for requests to stop.
    Probe& probe() { return m_probe; }

private:
    const uint64_t m_seed;
    const size_t m_classes;
    Batch m_window; ///< one sample: the last characters
    Probe m_probe;
};

} // namespace halfscope
