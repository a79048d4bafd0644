// Measures how far a lane's gradient is from the one that float32 would compute from the same
// weights and the same batch: what the precision of the lane does to it, whatever the training made
// of the weights before. Changes nothing.
#pragma once

#include "engine/settings/precision_plan.h"
#include "engine/settings/run_config.h"
#include "engine/train/lane_step.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace halfscope {

/// How far a gradient is from float32's.
struct GradientDifference {
    double off = 0;  ///< the squares of the differences, added up
    double full = 0; ///< those of float32's gradient

    void add(const GradientDifference& other) {
        off += other.off;
        full += other.full;
    }
    /// The L2 norm of the difference, divided by that of the float32 gradient. A gradient of zeros
    /// has 1; above it, the difference is larger than the float32 gradient itself. Nothing where
    /// one of the gradients is not finite, and where that of float32 is zero.
    std::optional<double> error() const;
};

class GradientError {
public:
    using MakeExecutor = std::function<std::unique_ptr<Executor>()>;
    /// All of these must outlive the object.
    GradientError(const RunConfig&, const LaneConfig&, const PrecisionPlan&, const BatchSource&,
                  MakeExecutor);

    /// Compiles the lane's pass forward and backward, and the same in float32, from the settings as
    /// they are now. Does nothing where nothing is to be measured: run.gradient_error is 0, or
    /// every layer of the lane computes in float32. Throws RunError when `stop` asks for it.
    void build(const std::stop_token& stop = {});
    /// Measures the gradient of a step that is about to run, if its time has come:
    /// run.gradient_error says how often. A smaller last batch of an epoch is left out; the step
    /// after it is measured instead. Returns false when it was stopped.
    bool measure(int64_t step, const LaneStep&);
    /// The error of the unscaled gradients of all parameters together. Nothing where the last call
    /// of measure() had nothing to measure.
    std::optional<double> value() const { return m_value; }
    /// Measures the errors of the layers of `range`, whose step is about to run: with its batch,
    /// or with the next one where that is a smaller last one. Works whatever run.gradient_error
    /// says, and compiles what build() has not; then `fits` may throw EngineError. Does nothing
    /// where every layer computes in float32. Where it fails, GradientRange::noErrors says why, and
    /// it is not tried again before release(). Returns false when it was stopped.
    bool addTo(GradientRange& range, const LaneStep&, const std::function<void()>& fits);
    /// Frees what only addTo() needs.
    void release();
    /// From any thread.
    void requestStop();
    MemoryUse memory() const; ///< of both passes

private:
    struct Side {
        std::unique_ptr<Executor> executor;
        std::shared_ptr<const Program> program;
    };
    using Differences = std::map<std::string, GradientDifference>; ///< by parameter
    void prepare(const std::stop_token&);
    bool prepareNow();
    void refuse(const Message& why, GradientRange&);
    bool isWhole(int64_t step) const { return m_source.rows(step) == m_source.rows(); }
    bool isDue(int64_t step) const;
    Side sideOf(const LaneConfig&, const PrecisionPlan&, const std::stop_token&) const;
    bool run(const Side&, const LaneStep&, const Batch&) const;
    bool runAll(const LaneStep&, const Batch&);
    Differences differences() const;
    std::optional<Differences> byParameter(int64_t step, const LaneStep&);

    const RunConfig& m_config;
    const LaneConfig& m_lane;
    const PrecisionPlan& m_plan;
    const BatchSource& m_source;
    const MakeExecutor m_makeExecutor;
    std::vector<Side> m_sides;  ///< the lane's, float32's; empty where nothing is measured
    mutable std::mutex m_mutex; ///< guards them and the next two: requestStop() may come any time
    bool m_running = false;
    std::optional<std::stop_source> m_preparing;
    Message m_refused; ///< why addTo() does nothing any more; usually empty
    std::optional<double> m_value;
};

} // namespace halfscope
