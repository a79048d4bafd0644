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
enum class Criterion : uint8_t { Accuracy, ValidationLoss, Loss, Skipped };
/// Returns the first one that any of the scores has; never Skipped, which only parts equal ones.
Criterion criterionOf(std::span<const LaneScore>);

/// Returns the lanes from the best to the worst: first those whose losses are finite, then by
/// accuracy when there are classes, then by the validation loss, then by the loss of the last
/// steps, then by the number of skipped steps, fewest first. A value that is nan or missing ranks
/// last; equal lanes keep their order.
std::vector<size_t> ranked(std::span<const LaneScore>);

/// What sets the best of several scores apart from the others.
struct Win {
    std::optional<Criterion> by{};    ///< nothing: others equal it in everything, and it came first
    std::vector<Criterion> equal{};   ///< those before, which did not decide
    std::vector<size_t> contenders{}; ///< the scores that equal the best in these, with itself
};
/// Tells it of the first one of ranked(), whose losses are finite.
Win winOf(std::span<const LaneScore>);

} // namespace halfscope
