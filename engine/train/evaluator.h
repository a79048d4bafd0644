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
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

class Evaluator {
public:
    /// Compiles for whole batches and the last one. The data set, which has samples to validate on,
    /// must outlive it.
    Evaluator(const RunConfig&, const PrecisionPlan&, const Dataset&,
              const std::function<std::unique_ptr<Executor>()>& makeExecutor);

    /// `weights` uploads all states that the graph has. Nothing when it was stopped; RunError where
    /// a sample cannot be read.
    using Weights = std::function<void(Executor&, const Graph&)>;
    /// `seen` hears what is predicted, batch by batch: f32, (rows, outputs).
    using Seen = std::function<void(int64_t rows, std::span<const float> prediction)>;
    std::optional<Validation> run(const Weights& weights, const std::atomic<bool>& stop,
                                  const Seen& seen = {});
    /// Of the last run, where targets are classes.
    const ClassCounts& classCounts() const { return m_counts; }
    /// Of the last run: samples that could not be read, and whose places others took.
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
    void addSize(const RunConfig&, const PrecisionPlan&, int64_t rows, std::unique_ptr<Executor>);
    bool runBatch(const Size&, int64_t first, const Seen&);

    const Dataset& m_data;
    int64_t m_samples;
    std::vector<Size> m_sizes;
    double m_loss = 0;               ///< summed over the samples so far
    ClassCounts m_counts, m_running; ///< m_running: of the samples so far
    std::vector<Message> m_skipped;
};

} // namespace halfscope
