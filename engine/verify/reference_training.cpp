// The executor behind it: leaves and states as doubles, one evaluation for each step.
#include "engine/verify/reference_training.h"

#include "engine/core/error.h"
#include "engine/ops/op_info.h"
#include "engine/train/step_runner.h"
#include "engine/verify/run_graph.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace halfscope::recorded {
namespace {

/// Returns the decimal of at most six digits that rounds to `value`, if there is one; no two such
/// decimals round to one float32.
std::optional<double> shortDecimal(double value) {
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 6);
    double decimal = 0;
    std::from_chars(text.data(), end.ptr, decimal);
    if (static_cast<float>(decimal) != static_cast<float>(value)) return std::nullopt;
    return decimal;
}

/// Returns the setting before float32 rounded it: the file's learning rate, a short decimal (rates,
/// betas, eps), one over a whole number (means), or the logarithm of a short decimal (bias
/// corrections). Returns the value itself when it is none of these.
double unrounded(double value, double lr) {
    const auto isIt = [value](double exact) {
        return static_cast<float>(exact) == static_cast<float>(value);
    };
    if (value == 0 || !std::isfinite(value)) return value;
    if (isIt(lr)) return lr;
    if (const double part = 1 / std::round(1 / value); isIt(part)) return part;
    if (const auto decimal = shortDecimal(value)) return *decimal;
    const auto beta = shortDecimal(static_cast<double>(static_cast<float>(std::exp(value))));
    if (beta && isIt(std::log(*beta))) return std::log(*beta);
    return value;
}

class ReferenceExecutor final : public Executor {
public:
    ReferenceExecutor(RefRounding rounding, uint64_t seed, double lr, std::vector<double>& losses)
        : m_rounding(rounding), m_seed(seed), m_lr(lr), m_losses(losses) {
        m_device.name = "reference";
        m_device.kind = "cpu";
    }

    const DeviceInfo& device() const override { return m_device; }

    void load(std::shared_ptr<const Program> program) override {
        m_program = std::move(program);
        m_values.clear();
        m_wanted.clear();
        for (const OutputInfo& output : graph().outputs())
            m_wanted.push_back(output.node);
        for (const InputInfo& input : graph().inputs())
            clear(input.node);
        for (const StateInfo& state : graph().states()) {
            clear(state.node);
            if (state.next != kNoNode) m_wanted.push_back(state.next);
        }
        for (NodeId id = 0; id < graph().size(); ++id) {
            const Node& node = graph()[id];
            if (node.op != Op::Constant || node.dtype != DType::F32) continue;
            clear(id);
            std::vector<double>& values = m_values[id].values;
            std::fill(values.begin(), values.end(),
                      unrounded(std::get<ConstantAttrs>(node.attrs).value, m_lr));
        }
    }

    RunResult run(RunMode, const Visitor&) override {
        m_found = evaluate(graph(), m_values, m_wanted, m_rounding, m_seed++);
        m_losses.push_back(m_found.at(graph().output("metrics")).values[kLossMetric]);
        for (const StateInfo& state : graph().states())
            if (state.next != kNoNode) m_values[state.node] = m_found.at(state.next);
        return RunResult::Done;
    }

    void upload(NodeId id, std::span<const std::byte> bytes) override {
        std::vector<double>& values = m_values.at(id).values;
        values = fromBytes(graph()[id], {bytes.begin(), bytes.end()});
        for (const StateInfo& state : graph().states())
            if (state.node == id && state.role == StateRole::Setting)
                for (double& value : values)
                    value = unrounded(value, m_lr);
    }
    void download(NodeId id, std::span<std::byte> bytes) override {
        const auto held = m_values.find(id);
        const RefTensor& value = held == m_values.end() ? m_found.at(id) : held->second;
        const std::vector<std::byte> stored = toBytes(graph()[id], value.values);
        std::copy(stored.begin(), stored.end(), bytes.begin());
    }
    void requestStop() override {}
    double lastStepSeconds() const override { return 0; }

private:
    const Graph& graph() const { return m_program->graph; }
    void clear(NodeId id) {
        const Node& node = graph()[id];
        m_values[id] = {node.shape, std::vector<double>(static_cast<size_t>(node.elements()), 0.0)};
    }

    RefRounding m_rounding;
    uint64_t m_seed;
    double m_lr;
    std::vector<double>& m_losses;
    DeviceInfo m_device;
    std::shared_ptr<const Program> m_program;
    std::map<NodeId, RefTensor> m_values; ///< of inputs and states
    std::map<NodeId, RefTensor> m_found;  ///< values that the last step was asked for
    std::vector<NodeId> m_wanted;
};

} // namespace

std::vector<double> referenceLosses(const Golden& run, RefRounding rounding, size_t steps,
                                    uint64_t draw) {
    std::vector<double> losses;
    const double lr = run.at("lr").number();
    trainRun(
        run, [&] { return std::make_unique<ReferenceExecutor>(rounding, draw << 32, lr, losses); },
        {}, steps);
    return losses;
}

TrainedRun storedOutcome(const Golden& run, size_t steps, const Perturbation& moved) {
    std::vector<double> losses;
    const double lr = run.at("lr").number();
    return trainRun(
        run,
        [&] { return std::make_unique<ReferenceExecutor>(RefRounding::Storage, 0, lr, losses); },
        moved, steps);
}

} // namespace halfscope::recorded
