// Overfitting: a lane that gets worse on the samples it is validated on while it gets better on
// those that it trains on. Both programs tell it in these words.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/best_value.h"

#include <array>
#include <cstddef>

namespace halfscope {

/// The last training losses of a lane, of which a single one may be far off. Moving it allocates
/// nothing.
class TrainingLevel {
public:
    static constexpr size_t kMost = 25;
    void add(double loss);
    /// Returns the median; nan without losses, or where most of them are nan.
    double median() const;

private:
    std::array<double, kMost> m_losses{};
    size_t m_added = 0;
};

/// Whether training losses are clearly lower than they were before.
bool fellMeanwhile(double before, double now);

/// Says that lanes overfit, as a sentence that begins with their names, `by` which they are judged.
Message overfittingText(const Message& names, size_t lanes, JudgedBy by);

} // namespace halfscope
