// Which lane of a run did best, by what judges it most fairly.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

/// The last losses of a lane: a single step may be far off.
class LatestLosses {
public:
    static constexpr size_t kMost = 25;
    void add(double loss);
    /// The middle one; nan without losses, and where most of them are nan.
    double median() const;

private:
    std::deque<double> m_losses;
};

struct LaneScore {
    std::optional<double> accuracy, validationLoss; ///< of the last validation
    double loss = 0;                                ///< LatestLosses::median()
    int64_t skipped = 0;                            ///< steps
};

/// The lanes from the best to the worst: by accuracy where there are classes, then by the loss of
/// the validation, then by that of the last steps, then by the fewest skipped steps. What is nan or
/// missing comes last; lanes that are alike keep their order.
std::vector<size_t> ranked(std::span<const LaneScore>);

} // namespace halfscope
