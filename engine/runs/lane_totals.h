// What the steps of one lane add up to; rows are added one by one and not kept.
#pragma once

#include "engine/runs/best_value.h"
#include "engine/runs/events.h"
#include "engine/runs/overfitting.h"
#include "engine/runs/skips.h"
#include "engine/runs/step_row.h"
#include "engine/runs/validation.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace halfscope {

/// Underflow that comes back within so many updates is told once.
inline constexpr int64_t kUnderflowsApart = 100;

class LaneTotals {
public:
    /// See SkipTally.
    explicit LaneTotals(int64_t stepsPerUpdate = 1) : m_skips(stepsPerUpdate) {}

    void add(const StepRow&);
    /// Adds an event that belongsToLane(), before or after the row of its step.
    void add(const Event&);
    /// Adds a value of a step that came apart from its row.
    void add(int64_t step, MetricId, double value);
    /// Returns the same totals for a lane that so far has the rows of this one.
    LaneTotals ofLane(int32_t) const;
    /// See SkipTally. Underflow of the fork has events of its own.
    void fork(int64_t step, bool scalesAnew = false) {
        m_skips.fork(step, scalesAnew);
        m_looksAnew = true;
    }
    /// Lets a fork begin with what its parent adds up to once that has come to the step after which
    /// the fork goes on; does nothing at other times. Called before the next rows are added.
    void continueFrom(const LaneTotals& parent, int64_t forkStep, int32_t lane, bool scalesAnew);

    int64_t steps() const { return m_skips.steps(); }
    /// The newest row; step 0 when there is none.
    const StepRow& last() const { return m_last; }
    const SkipTally& skips() const { return m_skips; }
    /// Returns the sentence about the first overflow that no loss scale would have prevented, or
    /// else about the last one; empty when there was none.
    const Message& tellingOverflow() const { return m_overflow; }
    /// Returns the step at which underflow began; 0 when it never did. One for which a larger loss
    /// scale is no advice, see isUnderflowOfFault(), is told only where there was no other.
    int64_t underflowStep() const { return m_underflowStep; }
    /// Whether it was such a one; where there was none, whether it would be at the present loss
    /// scale, see FaultScale. Only a dynamic scale is brought down by faults.
    bool faultsExplainUnderflow() const;
    /// Returns how many clean updates had only gradients of zero because of underflow: those of the
    /// spells in which an event tells of it, see kUnderflowsApart.
    int64_t zeroUpdates() const { return lost().count; }
    /// Returns the updates that were added, skipped ones included.
    int64_t updates() const { return m_updates; }
    /// Returns the sentence about underflow, how often there was some, and whether the loss scale
    /// has overcome it; empty when there was none.
    Message underflowText() const;
    /// The loss scale that the last step left; last() has the one that it used.
    float scaleAfter() const { return m_last.step == m_scaleStep ? m_scaleAfter : m_last.scale(); }

    /// The median of the last losses, as trailingLoss() of run_score.h has it.
    double trailingLoss() const { return m_training.median(); }
    /// From the last validation; nothing when there was none.
    std::optional<double> validationLoss() const { return m_validationLoss; }
    std::optional<double> accuracy() const { return m_accuracy; }
    /// See Validation::error and perplexity.
    std::optional<double> validationError() const { return m_validationError; }
    std::optional<double> perplexity() const { return m_perplexity; }
    /// Of the test after the newest step; nothing when there was none.
    const std::optional<Validation>& test() const { return m_test; }
    /// The last value on the training batches; nothing when there was none.
    std::optional<double> trainingAccuracy() const { return m_trainingAccuracy; }
    /// The last values where weights were watched, see WeightChange and StepRecord::weightDistance.
    std::optional<double> unchangedWeights() const { return m_unchangedWeights; }
    std::optional<double> unchangedCopies() const { return m_unchangedCopies; }
    std::optional<double> weightDistance() const { return m_weightDistance; }
    /// The last value where it was measured, see StepRecord::gradientError.
    std::optional<double> gradientError() const { return m_gradientError; }
    using Best = BestValue;
    /// The highest accuracy so far, and the lowest validation loss that is finite.
    const std::optional<Best>& bestAccuracy() const { return m_bestAccuracy; }
    const std::optional<Best>& bestLoss() const { return m_bestLoss; }
    /// The best validation: by accuracy where there is one, else by loss.
    const std::optional<Best>& best() const { return m_bestAccuracy ? m_bestAccuracy : m_bestLoss; }
    JudgedBy judgedBy() const { return m_bestAccuracy ? JudgedBy::Accuracy : JudgedBy::Loss; }
    /// Whether the last validation is clearly worse than the best one, see isClearlyWorse().
    bool fellFromItsBest() const;
    /// Whether it is, its loss as well, although the training loss has fallen since the best one. A
    /// lane whose validation loss is inf or nan has diverged.
    bool overfits() const;

private:
    void addValue(int64_t step, MetricId, double value);
    void addUnderflow(const Event&);
    void addNorm(const StepRow&);
    /// Finds out whether the scale of a row was set by hand: it is not what the last step left.
    void addScale(const StepRow&);
    /// Does so for a row that came before the event with the scale that its last step left.
    void settleScale(const Event&);
    /// Updates whose gradients are all zero, none further than kUnderflowsApart from the next. A
    /// new spell begins where UnderflowWatch looks anew, so that events tell what each one was.
    struct ZeroSpell {
        int64_t first = 0, last = 0, count = 0;
        float scale = 0;   ///< the largest one
        bool isNew = true; ///< else it is the next part of the spell before
        void add(const ZeroSpell& later);
    };
    /// The scale of the row behind a step that changed the scale by a rule.
    struct LeftScale {
        int64_t step = 0;
        float next = 1;
    };
    /// Returns the updates that underflow has lost as if they were one spell.
    ZeroSpell lost() const;

    SkipTally m_skips;
    StepRow m_last;
    std::optional<double> m_validationLoss, m_accuracy, m_trainingAccuracy;
    int64_t m_validationStep = -1; ///< of the loss
    std::optional<Best> m_bestAccuracy, m_bestLoss;
    TrainingLevel m_training;
    double m_trainingAtAccuracy = 0, m_trainingAtLoss = 0; ///< its median at the best of each
    std::optional<double> m_validationError, m_perplexity;
    std::optional<Validation> m_test;
    std::optional<double> m_unchangedWeights, m_unchangedCopies, m_weightDistance, m_gradientError;
    Message m_overflow, m_underflow;
    bool m_isHelpless = false; ///< whether that is said of m_overflow
    int64_t m_underflowStep = 0;
    bool m_isUnderflowOfFault = false;
    int64_t m_updates = 0;
    std::vector<ZeroSpell> m_zeros;
    /// Steps whose events may still be to come; those of the first m_settled have come. Not a
    /// deque, which allocates when it is moved: a lane is added whole or not at all.
    std::vector<LeftScale> m_unsettled;
    std::ptrdiff_t m_settled = 0;
    bool m_looksAnew = false;          ///< the next zeros are another spell
    std::vector<int64_t> m_underflows; ///< steps of events, which may come before or after the rows
    int64_t m_scaleStep = 0;           ///< the last step after which the scale was another
    float m_scaleAfter = 1;            ///< then
};

/// Returns the median; of an even number of values, the larger one of the two in the middle; 0
/// without values.
double medianOf(std::vector<float>);

/// The latest 2^20 step times: a ring, so that a run of days needs only 4 MiB.
class RecentTimes {
public:
    static constexpr int64_t kMost = int64_t{1} << 20;
    void add(double seconds);
    double median() const { return medianOf(m_seconds); }

private:
    std::vector<float> m_seconds;
    size_t m_next = 0; ///< the oldest one, once the ring is full
};

} // namespace halfscope
