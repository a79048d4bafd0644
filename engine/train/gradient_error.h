// Measures how far a lane's gradient is from the one that float32 would compute from the same
// weights and the same batch: what the precision of the lane does to it, whatever the training made
// of the weights before. Changes nothing.
#pragma once

#include "engine/settings/precision_plan.h"
#include "engine/settings/run_config.h"
#include "engine/train/lane_step.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace halfscope {

class GradientError {
public:
    using MakeExecutor = std::function<std::unique_ptr<Executor>()>;
    /// All of these must outlive the object; they are looked at when something is measured.
    GradientError(const RunConfig&, const LaneConfig&, const PrecisionPlan&, const BatchSource&,
                  MakeExecutor);

    /// Measures the gradient of a step that is about to run, if its time has come:
    /// run.gradient_error says how often. A lane whose every layer computes in float32 has no such
    /// error, and a smaller last batch of an epoch is left out. The first time, the lane's pass
    /// forward and backward is compiled, and the same in float32. Returns false when it was
    /// stopped.
    bool measure(int64_t step, const LaneStep&);
    /// The L2 norm of the difference between both unscaled gradients of all parameters, divided by
    /// that of the float32 gradient: 1 where all of it is lost. Nothing where the last call of
    /// measure() had nothing to measure, where one of the gradients is not finite, and where that
    /// of float32 is zero.
    std::optional<double> value() const { return m_value; }
    /// Compiles anew the next time: the settings have changed.
    void reset() { m_sides = {}; }
    /// From any thread.
    void requestStop();
    std::vector<MemoryUse> memory() const;

private:
    struct Side {
        std::unique_ptr<Executor> executor; ///< null until something is measured
        std::shared_ptr<const Program> program;
    };
    bool isDue(int64_t step, const LaneStep&) const;
    Side sideOf(const LaneConfig&, const PrecisionPlan&) const;
    bool run(const Side&, const LaneStep&, const Batch&) const;
    double difference() const;

    const RunConfig& m_config;
    const LaneConfig& m_lane;
    const PrecisionPlan& m_plan;
    const BatchSource& m_source;
    const MakeExecutor m_makeExecutor;
    std::array<Side, 2> m_sides; ///< the lane's, float32's
    std::atomic<bool> m_running{false};
    std::optional<double> m_value;
};

} // namespace halfscope
