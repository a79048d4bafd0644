// One lane of a preset, step by step, with a look at its weights in between, and bounds of how far
// float32 may be from what a rule says, for the tests of PyTorch's recipes.
#pragma once

#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <set>

namespace halfscope {

using Tensor = std::vector<double>;
constexpr double kRoundoff = 0x1p-24; ///< of float32

inline RunConfig configOf(const QString& preset) {
    RunConfig config = presetNamed(preset.toStdString()).config;
    config.device = "cpu";
    config.threads = 1;
    return config;
}

inline double normOf(const Tensor& x) {
    double sum = 0;
    for (const double each : x)
        sum += each * each;
    return std::sqrt(sum);
}

inline double largestOf(const Tensor& x) {
    double largest = 0;
    for (const double each : x)
        largest = std::max(largest, std::abs(each));
    return largest;
}

/// One lane of a preset, step by step, with a look at its weights in between.
class PresetRun {
public:
    PresetRun(RunConfig config, size_t lane)
        : m_config(std::move(config)), m_data(makeTask(m_config)),
          m_runner(m_config, m_config.lanes[lane],
                   buildStep(m_config, m_config.lanes[lane], m_data->shape()), makeCpuExecutor(1)) {
    }

    const RunConfig& config() const { return m_config; }
    const Graph& graph() const { return m_runner.graph(); }
    MetricsRow step() {
        const NodeId x = graph().input("x"), target = graph().input("target");
        std::vector<float> in(static_cast<size_t>(graph()[x].elements()));
        std::vector<float> out(static_cast<size_t>(graph()[target].elements()));
        m_data->batch(++m_step, in, out);
        m_runner.set(x, in);
        m_runner.set(target, out);
        m_runner.run(1);
        return m_runner.metrics();
    }
    /// Repeats step() until a step is not skipped.
    MetricsRow stepTaken() {
        for (;;)
            if (const MetricsRow row = step(); row[kFoundInfMetric] == 0) return row;
    }
    int64_t steps() const { return m_step; }
    bool finished() const { return m_step >= m_config.steps; }

    /// Returns the values of all states of a role whose names have this ending, one after the
    /// other.
    Tensor states(StateRole role, std::string_view ending = {}) {
        Tensor all;
        for (const StateInfo& state : graph().states()) {
            if (state.role != role || !state.name.ends_with(ending)) continue;
            const std::vector<float> values = m_runner.get(state.node);
            all.insert(all.end(), values.begin(), values.end());
        }
        return all;
    }
    Tensor weights() { return states(StateRole::Parameter); }
    double value(NodeId id) { return static_cast<double>(m_runner.get(id).at(0)); }
    int counter(const char* name) { return static_cast<int>(value(graph().state(name))); }

    /// Returns the last parts of the names of the moments: "exp_avg", ...
    std::set<std::string> moments() const {
        std::set<std::string> names;
        for (const StateInfo& state : graph().states())
            if (state.role == StateRole::Moment)
                names.insert(state.name.substr(state.name.rfind('.') + 1));
        return names;
    }

private:
    RunConfig m_config;
    std::unique_ptr<Task> m_data;
    StepRunner m_runner;
    int64_t m_step = 0;
};

inline Tensor difference(const Tensor& a, const Tensor& b) {
    Tensor d(a.size());
    for (size_t i = 0; i < d.size(); ++i)
        d[i] = a[i] - b[i];
    return d;
}

/// Bounds how far a norm of weight changes may be from that of exact changes: each was rounded as a
/// product and as a new weight.
inline double changeBound(const Tensor& weights, const Tensor& change) {
    return kRoundoff * (normOf(weights) + 2 * normOf(change));
}

/// Returns the relative bound of a norm whose squares float32 added up, with one rounding a sum.
inline double normBound(const Tensor& x) { return kRoundoff * static_cast<double>(x.size()); }

/// Both values are rounded: ours to float32, the recorded ones to nine digits.
inline bool near(double value, double recorded) {
    return std::abs(value - recorded) <= (kRoundoff + 5e-9) * std::abs(recorded);
}

inline void addLanes(const QStringList& presets) {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("lane");
    for (const QString& preset : presets)
        for (int lane = 0; lane < 2; ++lane)
            QTest::addRow("%s lane %d", qPrintable(preset), lane) << preset << lane;
}

} // namespace halfscope
