// Evaluates a network on inputs of the caller's choice in the form in which it is judged: with
// running statistics and without dropout. Used for pictures that show more than the samples of a
// step.
#pragma once

#include "engine/data/batch.h"
#include "engine/exec/executor.h"
#include "engine/settings/precision_plan.h"
#include "engine/settings/run_config.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

class Probe {
public:
    /// `tensors` are those of the data set; the inputs have their "x".
    Probe(const RunConfig&, const PrecisionPlan&, std::span<const TensorSpec> tensors,
          const Batch& inputs, std::unique_ptr<Executor>);

    /// Returns the outputs (rows, outputs), F32, or nothing when it was stopped. `weights` uploads
    /// all states that the graph has.
    std::optional<std::vector<float>>
    run(const std::function<void(Executor&, const Graph&)>& weights);
    /// These two do the same in two parts, for several inputs of one shape.
    void setWeights(const std::function<void(Executor&, const Graph&)>& weights);
    std::optional<std::vector<float>> run(const Batch& inputs);
    /// From any thread.
    void requestStop() { m_executor->requestStop(); }

private:
    void upload(const Batch& inputs);
    std::optional<std::vector<float>> run();

    std::unique_ptr<Executor> m_executor;
    std::shared_ptr<const Program> m_program;
};

/// Shows a probe to threads that ask for a stop, but only while it runs: a request that comes
/// between two steps is meant for the next step.
class RunningProbe {
public:
    RunningProbe(std::atomic<Probe*>& running, Probe& probe) : m_running(running) {
        m_running = &probe;
    }
    ~RunningProbe() { m_running = nullptr; }
    RunningProbe(const RunningProbe&) = delete;
    RunningProbe& operator=(const RunningProbe&) = delete;

private:
    std::atomic<Probe*>& m_running;
};

} // namespace halfscope
