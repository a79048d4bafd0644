// Training steps on two executors from the same states, compared state by state within bounds
// derived from the coarsest format of the step and the number of its nodes.
#pragma once

#include "engine/train/step_runner.h"
#include "engine/verify/run_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace halfscope::test {

/// Returns the coarsest unit roundoff that a step computes with.
inline double roundoffOf(const Graph& graph) {
    double roundoff = formatOf(DType::F32).unitRoundoff();
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        if (isLow(node.dtype)) roundoff = std::max(roundoff, formatOf(node.dtype).unitRoundoff());
        if (node.math == MathMode::TF32)
            roundoff = std::max(roundoff, formatOf(DType::F16).unitRoundoff());
    }
    return roundoff;
}

/// Returns the last part of a state's name. States of one kind are measured by the largest of them
/// all, because sums that cancel keep the error of their terms.
inline std::string kindOf(const StateInfo& state) {
    return state.name.substr(state.name.find_last_of('.') + 1);
}

/// Compares what one step from the same states leaves on two executors.
class StepComparison {
public:
    StepComparison(StepRunner& device, StepRunner& cpu) : m_device(device), m_cpu(cpu) {}

    /// Copies the device's states to the CPU, runs both, and compares. Returns nothing when all is
    /// within bounds.
    std::string step() {
        std::map<std::string, std::vector<double>> before;
        for (const StateInfo& state : graph().states()) {
            std::vector<std::byte> bytes(graph()[state.node].bytes());
            m_device.executor().download(state.node, bytes);
            m_cpu.executor().upload(state.node, bytes);
            before[state.name] = recorded::fromBytes(graph()[state.node], bytes);
        }
        m_device.run(1);
        m_cpu.run(1);
        const double bound = relativeBound();
        const std::string difference = compareMetrics(bound);
        return difference.empty() ? compareStates(before, bound) : difference;
    }
    double worst = 0;     ///< largest deviation of a state, relative to its bound
    double worstNorm = 0; ///< the same of a gradient norm

private:
    const Graph& graph() const { return m_cpu.graph(); }
    /// Returns the relative bound: each of N nodes rounds once, and roundings that differ are as
    /// good as random, so their sum grows with the root of N.
    double relativeBound() const { return 2 * std::sqrt(graph().size()) * roundoffOf(graph()); }

    std::vector<double> values(StepRunner& runner, NodeId id) const {
        std::vector<std::byte> bytes(graph()[id].bytes());
        runner.executor().download(id, bytes);
        return recorded::fromBytes(graph()[id], bytes);
    }

    /// Compares everything that a StepRecord is made of.
    std::string compareMetrics(double bound) {
        const MetricsRow mine = m_device.metrics(), wanted = m_cpu.metrics();
        const auto unlike = [&](const std::string& name, size_t slot) {
            return name + " " + std::to_string(mine[slot]) + ", CPU " +
                   std::to_string(wanted[slot]);
        };
        const auto apart = [&](size_t slot) { return std::fabs(mine[slot] - wanted[slot]); };
        const auto allowed = [&](size_t slot) { return bound * std::fabs(wanted[slot]); };
        constexpr std::array kLosses{size_t{kLossMetric}, size_t{kGeneratorLossMetric}};
        for (const size_t slot : kLosses)
            if (!(apart(slot) <= allowed(slot))) return unlike("loss", slot); // false for nan, too
        // Each gradient deviates by up to the bound of the largest one, as if at random. Only the
        // part along the gradient changes its length, and that is about as much as one element's
        // deviation; the largest element is no longer than the norm.
        constexpr size_t kNorm = kGradientNormMetric;
        if (std::isfinite(wanted[kNorm]) != std::isfinite(mine[kNorm]) ||
            (std::isfinite(wanted[kNorm]) && !(apart(kNorm) <= allowed(kNorm))))
            return unlike("gradient norm", kNorm);
        if (std::isfinite(wanted[kNorm]) && wanted[kNorm] > 0)
            worstNorm = std::max(worstNorm, apart(kNorm) / allowed(kNorm));
        // Scale, skips, tracker and rate depend only on whether anything overflowed: they are
        // exact.
        for (size_t slot = 0; slot < mine.size(); ++slot)
            if (!std::ranges::count(kLosses, slot) && slot != kNorm && mine[slot] != wanted[slot])
                return unlike("metric " + std::to_string(slot) + ":", slot);
        return "";
    }

    std::string compareStates(const std::map<std::string, std::vector<double>>& before,
                              double bound) {
        std::map<std::string, double> scale, moved;
        for (const StateInfo& state : graph().states()) {
            const std::vector<double> wanted = values(m_cpu, state.node);
            for (size_t i = 0; i < wanted.size(); ++i) {
                double& largest = scale[kindOf(state)];
                largest = std::max(largest, std::fabs(wanted[i]));
                double& way = moved[kindOf(state)];
                way = std::max(way, std::fabs(wanted[i] - before.at(state.name)[i]));
            }
        }
        for (const StateInfo& state : graph().states()) {
            const std::vector<double> wanted = values(m_cpu, state.node),
                                      mine = values(m_device, state.node);
            // A parameter whose gradient is nothing but rounding errors still takes Adam's whole
            // step, in either direction.
            const double allowed = state.role == StateRole::Parameter
                                       ? 2 * moved[kindOf(state)] + bound * scale[kindOf(state)]
                                       : bound * scale[kindOf(state)];
            for (size_t i = 0; i < wanted.size(); ++i) {
                if (mine[i] == wanted[i]) continue; // infinities, too
                const double deviation = std::fabs(mine[i] - wanted[i]);
                if (!(deviation <= allowed))
                    return state.name + "[" + std::to_string(i) + "]: " + std::to_string(mine[i]) +
                           ", CPU " + std::to_string(wanted[i]) + ", allowed " +
                           std::to_string(allowed);
                if (state.role != StateRole::Parameter && allowed > 0)
                    worst = std::max(worst, deviation / allowed);
            }
        }
        return "";
    }

    StepRunner& m_device;
    StepRunner& m_cpu;
};

} // namespace halfscope::test
