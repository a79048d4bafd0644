// Replays recorded histories of the loss scaler, exactly: scale, growth tracker and which
// optimizers stepped.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/ops/builder.h"
#include "engine/scaler/scaler_api.h"
#include "engine/verify/golden_scaler.h"

#include <array>
#include <cmath>
#include <limits>

namespace halfscope::recorded {
namespace {

ScalerConfig configOf(const Golden& trace) {
    const Golden config = trace.at("config");
    ScalerConfig scaler;
    scaler.initScale = config.at("init_scale").number();
    scaler.rules.growthFactor = config.at("growth_factor").number();
    scaler.rules.backoffFactor = config.at("backoff_factor").number();
    scaler.rules.growthInterval = config.at("growth_interval").integer();
    return scaler;
}

GradScaler scalerOf(const Golden& trace) {
    try {
        return GradScaler(configOf(trace));
    } catch (const InputError& error) {
        trace.at("config").fail(error.message());
    }
}

/// Returns the value that one optimizer's gradient holds: "inf", "-inf", "nan", or a finite one for
/// null.
float spoiledValue(const Golden& kind) {
    if (kind.isNull()) return 1;
    const std::string name = kind.text();
    constexpr float kInf = std::numeric_limits<float>::infinity();
    if (name == "nan") return std::numeric_limits<float>::quiet_NaN();
    if (name == "inf") return kInf;
    if (name == "-inf") return -kInf;
    kind.fail(phrase("Verification", "null, \"inf\", \"-inf\" or \"nan\" is expected"));
}

bool anyFound(const Golden& step) {
    bool found = false;
    for (const Golden& kind : step.at("found_inf").items())
        found = !std::isfinite(spoiledValue(kind)) || found;
    return found;
}

std::optional<float> newScale(const Golden& step) {
    const auto given = step.find("new_scale");
    if (!given) return std::nullopt;
    return static_cast<float>(given->number());
}

std::string stateText(float scale, int64_t tracker) {
    return "scale " + numberText(scale) + ", tracker " + numberText(tracker);
}

void compareState(CaseResult& result, const Golden& step, size_t number, float scale,
                  int64_t tracker) {
    const auto wanted = static_cast<float>(step.at("scale").number());
    const int64_t wantedTracker = step.at("growth_tracker").integer();
    result.addEqual(scale == wanted && tracker == wantedTracker, [&] {
        return "step " + std::to_string(number) + ": " + stateText(scale, tracker) +
               " instead of " + stateText(wanted, wantedTracker);
    });
}

/// Computes the next state by the update op.
class UpdateStep {
public:
    explicit UpdateStep(Executor& executor) : m_executor(executor) {
        Graph graph;
        Builder b(graph);
        const NodeId state = b.state("scaler", {kScalerSlots}, DType::F64, StateRole::Scaler);
        const NodeId rules = b.input("rules", {kRuleSlots}, DType::F64);
        const NodeId found = b.input("found", {}, DType::F32);
        graph.setNext(state, b.emit(Op::ScalerUpdate, {state, rules, found}));
        m_program = std::make_shared<const Program>(compile(graph));
        m_executor.load(m_program);
    }
    void setRules(const ScalerRules& rules) { upload(m_program->graph.input("rules"), rules); }
    void setState(const ScalerState& state) { upload(m_program->graph.state("scaler"), state); }
    void run(bool foundInf) {
        const float found = foundInf ? 1 : 0;
        m_executor.upload(m_program->graph.input("found"), std::as_bytes(std::span(&found, 1)));
        m_executor.run(RunMode::Captured);
    }
    ScalerState state() {
        ScalerSlots slots{};
        m_executor.download(m_program->graph.state("scaler"),
                            std::as_writable_bytes(std::span(slots)));
        return stateOf(slots);
    }

private:
    template <class T>
    void upload(NodeId id, const T& value) {
        const auto slots = slotsOf(value);
        m_executor.upload(id, std::as_bytes(std::span(slots)));
    }
    Executor& m_executor;
    std::shared_ptr<const Program> m_program;
};

} // namespace

CaseResult replayRules(const Golden& trace) {
    const ScalerConfig config = configOf(trace);
    ScalerState state;
    state.scale = static_cast<float>(config.initScale);
    CaseResult result;
    size_t number = 0;
    for (const Golden& step : trace.at("steps").items()) {
        if (const auto given = newScale(step)) {
            state.scale = *given; // set by hand, which leaves the tracker alone
        } else {
            state = next(state, anyFound(step), config.rules);
        }
        compareState(result, step, ++number, state.scale, state.growthTracker);
    }
    return result;
}

CaseResult replayCalls(const Golden& trace) {
    GradScaler scaler = scalerOf(trace);
    const int64_t optimizers = trace.at("optimizers").integer();
    if (optimizers < 1)
        trace.at("optimizers").fail(phrase("Verification", "1 or more is expected"));
    CaseResult result;
    size_t number = 0;
    for (const Golden& step : trace.at("steps").items()) {
        ++number;
        scaler.scale(1.0f);
        for (int i = 0; i < static_cast<int>(optimizers); ++i) {
            const auto index = static_cast<size_t>(i);
            std::array values{2.0f, spoiledValue(step.at("found_inf").at(index)), 3.0f};
            const std::array gradients{hostTensor(std::span(values))};
            if (step.at("unscale_first").flag()) scaler.unscale(i, gradients);
            int calls = 0;
            const bool stepped = scaler.step(i, gradients, [&] { ++calls; }).stepped;
            const bool wanted = step.at("stepped").at(index).flag();
            result.addEqual(stepped == wanted && calls == (stepped ? 1 : 0), [&] {
                return "step " + std::to_string(number) + ": optimizer " + std::to_string(i) +
                       (stepped ? " stepped" : " skipped") + ", PyTorch's did the other";
            });
        }
        if (const auto given = newScale(step)) {
            scaler.update(*given);
        } else {
            scaler.update();
        }
        compareState(result, step, number, scaler.getScale(), scaler.growthTracker());
    }
    return result;
}

CaseResult replayOnDevice(const Golden& trace, Executor& executor) {
    const ScalerConfig config = configOf(trace);
    UpdateStep update(executor);
    update.setRules(config.rules);
    ScalerState state;
    state.scale = static_cast<float>(config.initScale);
    update.setState(state);
    CaseResult result;
    size_t number = 0;
    for (const Golden& step : trace.at("steps").items()) {
        if (const auto given = newScale(step)) {
            state.scale = *given;
            update.setState(state);
        } else {
            update.run(anyFound(step));
            state = update.state();
        }
        compareState(result, step, ++number, state.scale, state.growthTracker);
    }
    return result;
}

SuiteCases scalerSuite(const Golden& golden, VerifyDevice& device) {
    SuiteCases suite;
    for (const Golden& trace : casesOf(golden).items()) {
        const std::string seed = "seed " + numberText(trace.at("seed").integer());
        suite.cases.push_back({seed + ", rules", [trace] { return replayRules(trace); }});
        suite.cases.push_back({seed + ", calls", [trace] { return replayCalls(trace); }});
        suite.cases.push_back({seed + ", on the device", [trace, &device] {
                                   return replayOnDevice(trace, *device.executor);
                               }});
    }
    return suite;
}

} // namespace halfscope::recorded
