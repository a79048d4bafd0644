// How a lane's gradients were spread over the powers of two, step by step, in bounded memory. Does
// not know widgets.
#pragma once

#include "engine/runs/gradient_counts.h"
#include "engine/runs/step_record.h"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace halfscope {

/// The shares of a step's scaled gradients in each power of two; they add up to 1, or are all 0.
struct GradientShares {
    std::array<float, MagnitudeCounts::kBuckets> buckets{}; ///< as in MagnitudeCounts
    float zeros = 0;
    float notFinite = 0;

    /// Returns the shares of outputs and weights together.
    static GradientShares of(const GradientRange&);
    void add(const GradientShares&, double weight);
    double total() const;
    /// Returns the share of 2^from <= |x| < 2^to.
    double between(int from, int to) const;
    /// Returns the shares as if the loss scale were 2^octaves times as large. With `half`, they are
    /// as fp16 holds them: a value may become zero or inf. What is zero or inf already stays so.
    GradientShares scaled(double octaves, bool half) const;
};

/// A stretch of steps.
struct GradientColumn {
    int64_t from = 0, to = 0; ///< the steps from <= step < to
    int64_t counted = 0;      ///< the step whose gradients were counted, when there is only one
    bool merged = false;      ///< the shares are the mean of several counts, weighted by steps
    GradientShares shares;
};

/// Gradients are counted for some steps only. In between, the last counts stand, moved by what is
/// known of every step: its loss scale, and whether it was skipped. Counts with inf cannot be
/// moved; those before them are moved instead, or nothing stands. When there are too many columns,
/// neighbours are merged.
class GradientHistory {
public:
    static constexpr size_t kMostColumns = 2048; ///< 0.6 MiB
    static constexpr size_t kMostSaved = 65536;  ///< columns of a saved run; 19 MiB
    static constexpr size_t kSkipBins = 4096;

    /// Adds the gradients of a step whose row may come later; they take effect when it does. A
    /// second count of the same step replaces the first.
    void add(const GradientRange&);
    /// Takes the row of a finished step; rows come in order.
    void stepDone(const StepRow&);
    void stepDone(const StepRecord& record) { stepDone(rowOf(record)); }
    /// From here on nothing is known until gradients are counted again.
    void interrupt();
    void clear() { *this = GradientHistory(); }

    /// Returns the history of a saved run, which addSaved() fills before the rows come. Its columns
    /// stay as they were saved; gradients that are counted later, of networks built like its own,
    /// tell only the type.
    static GradientHistory ofSavedRun();
    /// Adds a column; columns come in order of steps.
    void addSaved(const GradientColumn&);
    /// Returns the history as it was after a step, with which a fork from there begins.
    GradientHistory upTo(int64_t step) const;
    /// Lets the history of a saved run take in what is counted from now on, like any other.
    void goOn();
    /// Returns the same columns and type as the history of a saved run, without rows.
    GradientHistory asSaved() const;
    bool isSaved() const { return m_saved; }

    bool empty() const { return m_columns.empty() && !m_current; }
    /// Returns the columns in order of steps; the last one reaches to the last finished step.
    std::vector<GradientColumn> columns() const;
    /// Returns the column of a step, or the newest one; of a saved run, the newest column that
    /// there is.
    std::optional<GradientColumn> at(std::optional<int64_t> step) const;
    /// Returns the mean over [from, to) in steps, where 3.5 is the end of step 3, or nothing where
    /// nothing is known.
    std::optional<GradientShares> mean(double from, double to) const;
    /// Whether a step in [from, to) was skipped. In long runs steps are grouped, and a group holds
    /// up to 2/kSkipBins of all steps.
    bool skipped(double from, double to) const;
    /// Returns the narrowest type in which the gradients are stored; nothing when it is not known.
    std::optional<DType> type() const { return m_type; }
    int64_t lastStep() const { return m_lastStep; }
    /// Returns the heap bytes that the history holds.
    size_t bytes() const {
        return m_waiting.size() * sizeof(Count) + m_columns.capacity() * sizeof(GradientColumn) +
               m_skips.capacity() * sizeof(uint32_t);
    }

private:
    void begin(int64_t step, const GradientShares&, int64_t counted);
    void follow(const StepRow&);
    void countSkip(const StepRow&);
    void close(int64_t at);
    void keep(const GradientColumn&);
    void keepBounds();
    void coarsen();
    GradientColumn current() const;

    struct Count {
        int64_t step = 0;
        double scale = 1;
        DType type = DType::F32;
        GradientShares shares;
    };
    std::deque<Count> m_waiting;           ///< wait for the rows of their steps
    std::vector<GradientColumn> m_columns; ///< closed ones
    std::optional<GradientColumn> m_current;
    std::optional<Count> m_source; ///< the last finite count, which a new scale moves
    double m_scale = 1;            ///< of the current column
    bool m_infSkips = false;       ///< a step whose gradients hold inf is skipped
    std::optional<DType> m_type;
    bool m_saved = false;
    int64_t m_lastStep = 0;
    int64_t m_grain = 1; ///< the least steps of a column, once there were too many columns
    int64_t m_skipGrain = 1;
    std::vector<uint32_t> m_skips; ///< the number of skipped steps in each m_skipGrain steps
};

} // namespace halfscope
