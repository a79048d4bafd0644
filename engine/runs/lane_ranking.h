// Decides which lane of a run did best, by the fairest criterion that there is.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

/// The last losses of a lane; the loss of a single step may be far off.
class LatestLosses {
public:
    static constexpr size_t kMost = 25;
    void add(double loss);
    /// Returns the median; nan when there are no losses or most of them are nan.
    double median() const;

private:
    std::deque<double> m_losses;
};

struct LaneScore {
    std::optional<double> accuracy, validationLoss; ///< of the last validation
    double loss = 0;                                ///< LatestLosses::median()
    int64_t skipped = 0;                            ///< skipped steps

    /// Whether no loss is inf or nan, see areFinite() in best_value.h.
    bool isFinite() const;
};

/// What decides which lane is the best.
enum class Criterion : uint8_t { Accuracy, ValidationLoss, Loss };
/// Returns the first one that any of the scores has.
Criterion criterionOf(std::span<const LaneScore>);

/// Returns the lanes from the best to the worst: first those whose losses are finite, then by
/// accuracy when there are classes, then by the validation loss, then by the loss of the last
/// steps, then by the number of skipped steps, fewest first. A value that is nan or missing ranks
/// last; equal lanes keep their order.
std::vector<size_t> ranked(std::span<const LaneScore>);

} // namespace halfscope
