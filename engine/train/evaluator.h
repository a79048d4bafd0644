// Judges a lane on the samples that it does not train on: forward passes in batches, in the lane's
// precision, with running statistics and without dropout.
#pragma once

#include "engine/data/class_counts.h"
#include "engine/data/dataset.h"
#include "engine/exec/executor.h"
#include "engine/runs/step_record.h"
#include "engine/settings/precision_plan.h"
#include "engine/settings/run_config.h"

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

struct Predictions;

class Evaluator {
public:
    /// Compiles for whole batches and the last one. The settings, the plan and the data set, which
    /// has samples to validate on, must outlive it.
    Evaluator(const RunConfig&, const PrecisionPlan&, const Dataset&,
              std::function<std::unique_ptr<Executor>()> makeExecutor);

    /// `weights` uploads all states that the graph has. Samples that cannot be read are left out of
    /// all counts. Nothing when it was stopped; RunError where none can be read.
    using Weights = std::function<void(Executor&, const Graph&)>;
    /// `predictions`: takes them in; or null.
    std::optional<Validation> run(const Weights& weights, const std::atomic<bool>& stop,
                                  Predictions* predictions = nullptr);
    int64_t samples() const { return m_samples; } ///< also those that cannot be read
    /// Of the last run, where targets are classes.
    const ClassCounts& classCounts() const { return m_counts; }
    /// Of the last run: why samples were left out.
    const std::vector<Message>& skipped() const { return m_skipped; }
    /// From any thread.
    void requestStop();
    MemoryUse memory() const;

private:
    /// Batches of one size.
    struct Size {
        int64_t rows = 0;
        std::unique_ptr<Executor> executor;
        std::shared_ptr<const Program> program;
    };
    void addSize(int64_t rows);
    const Size& sizeFor(int64_t rows, const Weights&);
    std::optional<Batch> nextBatch();
    bool runBatch(const Size&, const Batch&, Predictions*);
    void keep(const Batch&, std::span<const float> prediction, Predictions&) const;

    const RunConfig& m_config;
    const PrecisionPlan& m_plan;
    const Dataset& m_data;
    const std::function<std::unique_ptr<Executor>()> m_makeExecutor;
    const int64_t m_samples;
    mutable std::mutex m_mutex;      ///< of the list: requestStop() may come at any time
    std::list<Size> m_sizes;         ///< whole batches, the last one, and what damage makes of that
    size_t m_usualSizes = 0;         ///< those of the constructor
    int64_t m_next = 0;              ///< the sample to read next
    std::vector<int64_t> m_rows;     ///< the samples of the last batch
    int64_t m_read = 0;              ///< how many could be
    double m_loss = 0;               ///< summed over them
    ClassCounts m_counts, m_running; ///< m_running: of the samples so far
    std::vector<Message> m_skipped;
};

} // namespace halfscope
