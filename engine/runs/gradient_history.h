// How a lane's gradients were spread over the powers of two, step by step, in bounded memory. Knows
// no widgets.
#pragma once

#include "engine/runs/gradient_counts.h"
#include "engine/runs/step_record.h"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace halfscope {

/// Of a step's scaled gradients, which share lies where; the shares add up to 1, or are all 0.
struct GradientShares {
    std::array<float, MagnitudeCounts::kBuckets> buckets{}; ///< as MagnitudeCounts has them
    float zeros = 0;
    float notFinite = 0;

    /// Of outputs and weights together.
    static GradientShares of(const GradientRange&);
    void add(const GradientShares&, double weight);
    double total() const;
    /// The share of 2^from <= |x| < 2^to.
    double between(int from, int to) const;
    /// As if the loss scale were 2^octaves times as large. `half`: as fp16 holds it, where a value
    /// may become zero or inf. What is zero or inf already stays.
    GradientShares scaled(double octaves, bool half) const;
};

/// A stretch of steps.
struct GradientColumn {
    int64_t from = 0, to = 0; ///< up to, but not with, the step `to`
    int64_t counted = 0;      ///< the step whose gradients were counted, of a single one
    bool merged = false;      ///< of several counts; the shares are their mean, by steps
    GradientShares shares;
};

/// Counted gradients come for some steps alone. Between them the last ones stand, moved by what is
/// known of every step: its loss scale, and whether it was skipped. Counts that hold inf cannot be
/// moved; those before them are, or nothing stands. Too many columns: neighbours become one.
class GradientHistory {
public:
    static constexpr size_t kMostColumns = 2048; ///< 0.6 MiB
    static constexpr size_t kMostSaved = 65536;  ///< columns of a saved run; 19 MiB
    static constexpr size_t kSkipBins = 4096;

    /// Gradients of a step whose row may come later: they count when it does. A second count of the
    /// same step replaces the first.
    void add(const GradientRange&);
    /// The row of a finished step, in order.
    void stepDone(const StepRow&);
    void stepDone(const StepRecord& record) { stepDone(rowOf(record)); }
    /// From here on nothing is known until gradients are counted again.
    void interrupt();
    void clear() { *this = GradientHistory(); }

    /// Of a saved run, which addSaved() fills before the rows come: its columns stand as they were
    /// saved, and what is counted of networks that are built like its tells the type alone.
    static GradientHistory ofSavedRun();
    /// In order of steps.
    void addSaved(const GradientColumn&);
    /// As it was after a step: what a fork from there begins with.
    GradientHistory upTo(int64_t step) const;
    /// The same columns and type as those of a saved run, without rows.
    GradientHistory asSaved() const;
    bool isSaved() const { return m_saved; }

    bool empty() const { return m_columns.empty() && !m_current; }
    /// In order of steps; the last one reaches to the last finished step.
    std::vector<GradientColumn> columns() const;
    /// Of a step, or the newest one; of a saved run the newest that there is.
    std::optional<GradientColumn> at(std::optional<int64_t> step) const;
    /// The mean over [from, to) in steps, where 3.5 is the end of step 3; nothing where nothing is
    /// known.
    std::optional<GradientShares> mean(double from, double to) const;
    /// Whether a step in [from, to) was skipped; in long runs steps are told in groups of up to
    /// 2/kSkipBins of them all.
    bool skipped(double from, double to) const;
    /// The narrowest type that the gradients are stored in; nothing where it is not known.
    std::optional<DType> type() const { return m_type; }
    int64_t lastStep() const { return m_lastStep; }

private:
    void begin(int64_t step, const GradientShares&, int64_t counted);
    void follow(const StepRow&);
    void countSkip(const StepRow&);
    void close(int64_t at);
    void keep(const GradientColumn&);
    void coarsen();
    GradientColumn current() const;

    struct Count {
        int64_t step = 0;
        double scale = 1;
        DType type = DType::F32;
        GradientShares shares;
    };
    std::deque<Count> m_waiting;           ///< for the rows of their steps
    std::vector<GradientColumn> m_columns; ///< closed ones
    std::optional<GradientColumn> m_current;
    std::optional<Count> m_source; ///< the last finite one: what a new scale moves
    double m_scale = 1;            ///< of the current column
    bool m_infSkips = false;       ///< a step is skipped where the gradients hold inf
    std::optional<DType> m_type;
    bool m_saved = false;
    int64_t m_lastStep = 0;
    int64_t m_grain = 1; ///< steps of a column, at least, once there were too many
    int64_t m_skipGrain = 1;
    std::vector<uint32_t> m_skips; ///< how many of m_skipGrain steps
};

} // namespace halfscope
