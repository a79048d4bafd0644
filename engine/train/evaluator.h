// Judges a lane on the samples that it does not train on: forward passes in batches, in the lane's
// precision, with running statistics, where there are any, and without dropout.
#pragma once

#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/data/judged_samples.h"
#include "engine/exec/executor.h"
#include "engine/runs/step_record.h"
#include "engine/settings/precision_plan.h"
#include "engine/settings/run_config.h"
#include "engine/train/held_batches.h"

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

/// All samples to judge by were skipped, because none can be read.
class NoSampleLeft : public RunError {
public:
    using RunError::RunError;
};

class Evaluator {
public:
    /// Compiles for whole batches and for the last ones of validation and test. Batches are those
    /// of the training where predictions depend on them, as with a batch norm that has no running
    /// statistics: a last sample alone then goes into the batch before it. The settings, the
    /// plan and the data set must outlive this object; the data set has validation samples.
    Evaluator(const RunConfig&, const PrecisionPlan&, const Dataset&,
              std::function<std::unique_ptr<Executor>()> makeExecutor);

    /// Judges the network on all validation samples. `weights` uploads all states that the graph
    /// has. Samples that cannot be read are left out of all counts. Returns nothing when it was
    /// stopped; throws NoSampleLeft when no sample can be read.
    using Weights = std::function<void(Executor&, const Graph&)>;
    /// `predictions` receives what the network predicts; it may be null. `test`, which may be null,
    /// is Dataset::test(); then its samples are judged.
    std::optional<Validation> run(const Weights& weights, const std::atomic<bool>& stop,
                                  Predictions* predictions = nullptr,
                                  const Dataset* test = nullptr);
    /// The samples that were judged last, including those that cannot be read.
    int64_t samples() const { return m_samples; }
    /// What the last run that was not stopped predicted.
    const JudgedSamples& judged() const { return m_judged; }
    /// The reasons why the last run left samples out.
    const std::vector<Message>& skipped() const { return m_skipped; }
    /// May be called from any thread.
    void requestStop();
    MemoryUse memory() const;

private:
    /// The compiled forward pass for batches of one size.
    struct Size {
        int64_t rows = 0;
        std::unique_ptr<Executor> executor;
        std::shared_ptr<const Program> program;
    };
    LoneSample lone() const;
    void addSizes(const Dataset& judges);
    void addSize(int64_t rows, const Dataset& judges);
    void addSize(int64_t rows);
    const Size* find(int64_t rows) const;
    const Size& sizeFor(int64_t rows, const Weights&);
    bool runBatch(const Size&, const HeldBatch&, Predictions*);
    double weightOf(const Batch&) const;
    /// Takes rows as the network learns them, of the samples with these numbers.
    void keep(std::span<const int64_t> numbers, std::span<const float> targets,
              std::span<const float> prediction, Predictions&) const;

    [[noreturn]] void refuseAll() const; ///< when no sample could be read

    const RunConfig& m_config;
    const PrecisionPlan& m_plan;
    const Dataset& m_data;
    const Dataset* m_judges = nullptr; ///< the data set whose validation samples are judged
    const std::function<std::unique_ptr<Executor>()> m_makeExecutor;
    const bool m_usesBatch;     ///< whether predictions depend on the batch that a sample is in
    const int64_t m_rows;       ///< of a whole batch; where they do, that of the training
    int64_t m_samples;          ///< of m_judges
    const bool m_scatters;      ///< whether pictures show the numbers that are predicted
    mutable std::mutex m_mutex; ///< guards m_sizes: requestStop() may come at any time
    std::list<Size> m_sizes;    ///< for whole batches, the last one, those of the test, and one
                                ///< smaller size that unreadable samples leave
    size_t m_usualSizes = 0;    ///< how many sizes the constructor made
    int64_t m_read = 0;         ///< how many samples could be read
    std::vector<float> m_classWeights; ///< empty where all samples count alike
    double m_loss = 0;                 ///< summed over the samples that were read, by their weights
    double m_weight = 0;               ///< of these samples together
    double m_error = 0;                ///< likewise, the absolute errors in the units of the data
    JudgedSamples m_judged, m_running; ///< m_running: of the samples so far
    std::vector<Message> m_skipped;
};

/// Returns what several programs take together.
MemoryUse sumOf(std::span<const MemoryUse>);

} // namespace halfscope
