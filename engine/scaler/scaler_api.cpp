// The calls, with checks in PyTorch's order. Source of texts and rules: torch/amp/grad_scaler.py
// and the kernels behind _amp_foreach_non_finite_check_and_unscale_.
#include "engine/scaler/scaler_api.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace halfscope {

namespace {

struct FirstBad {
    size_t element = 0;
    bool isNan = false;
};

double load(const HostTensor& tensor, size_t i) {
    const std::byte* from = tensor.data + i * bytesOf(tensor.dtype);
    if (tensor.dtype == DType::F64) {
        double value = 0;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    float value = 0;
    loadAsFloat(tensor.dtype, from, &value, 1);
    return static_cast<double>(value);
}

/// Multiplies in float32, or in double for double values, and rounds once to the tensor's dtype.
void multiply(const HostTensor& tensor, size_t i, float factor) {
    std::byte* to = tensor.data + i * bytesOf(tensor.dtype);
    const double value = load(tensor, i);
    if (tensor.dtype == DType::F64) {
        const double result = value * static_cast<double>(factor);
        std::memcpy(to, &result, sizeof result);
        return;
    }
    const float result = static_cast<float>(value) * factor;
    storeFromFloat(tensor.dtype, &result, to, 1);
}

/// Checks as CUDA's kernel does: doubles are narrowed first, so one beyond float32 counts as inf.
/// PyTorch's CPU kernel lets it pass.
void look(const HostTensor& tensor, size_t i, std::optional<FirstBad>& bad) {
    if (bad) return;
    const auto value = static_cast<float>(load(tensor, i));
    if (!std::isfinite(value)) bad = FirstBad{i, std::isnan(value)};
}

void requireFloats(const HostTensor& tensor) {
    if (!isFloat(tensor.dtype))
        throw InputError(phrase("Scaler", "gradients and outputs must be float tensors, not %1"),
                         nameOf(tensor.dtype));
}

/// Reads a count of a state dict, 0 when it has none. Throws InputError unless it is a whole number
/// of at most `most` in size.
int64_t countIn(const ScalerStateDict& state, const char* key, double most) {
    const auto found = state.find(key);
    if (found == state.end()) return 0;
    const double count = found->second;
    if (!(std::fabs(count) <= most) || std::trunc(count) != count)
        throw InputError(
            phrase("Scaler",
                   "The source state dict has the %1 %2: a whole number from %3 to %4 is allowed."),
            key, count, -most, most);
    return static_cast<int64_t>(count);
}

} // namespace

HostTensor hostTensor(std::span<float> values) {
    return {DType::F32, std::as_writable_bytes(values).data(), values.size()};
}

HostTensor hostTensor(std::span<double> values) {
    return {DType::F64, std::as_writable_bytes(values).data(), values.size()};
}

HostTensor hostTensor(DType dtype, std::span<uint16_t> bits) {
    require(isLow(dtype), "16 bits hold float16 or bfloat16");
    return {dtype, std::as_writable_bytes(bits).data(), bits.size()};
}

GradScaler::GradScaler(const ScalerConfig& config, Enabled enabled)
    : m_config(config), m_enabled(enabled == Enabled::Yes && config.rules.mode != ScalerMode::Off) {
    m_state.scale = static_cast<float>(config.initScale);
    if (!m_enabled) return;
    if (!(config.rules.growthFactor > 1))
        throw InputError(phrase("Scaler", "The growth factor must be > 1.0."));
    if (!(config.rules.backoffFactor < 1))
        throw InputError(phrase("Scaler", "The backoff factor must be < 1.0."));
}

void GradScaler::requireScale(const char* function) const {
    if (m_inForce) return;
    throw InputError(
        phrase("Scaler", "Attempted %1 but _scale is None.  This may indicate your script did not "
                         "use scaler.scale(loss or outputs) earlier in the iteration."),
        function);
}

float GradScaler::scale(float loss) {
    scale(hostTensor(std::span(&loss, 1)));
    return loss;
}

void GradScaler::scale(const HostTensor& outputs) {
    if (!m_enabled) return;
    requireFloats(outputs);
    m_inForce = true;
    for (size_t i = 0; i < outputs.elements; ++i)
        multiply(outputs, i, m_state.scale);
}

void GradScaler::unscale(int optimizer, std::span<const HostTensor> gradients) {
    if (!m_enabled) return;
    requireScale("unscale_");
    PerOptimizer& record = m_optimizers[optimizer];
    if (record.stage == Stage::Unscaled)
        throw InputError(phrase(
            "Scaler",
            "unscale_() has already been called on this optimizer since the last update()."));
    if (record.stage == Stage::Stepped)
        throw InputError(phrase("Scaler", "unscale_() is being called after step()."));
    unscaleValues(record, gradients);
    record.stage = Stage::Unscaled;
}

void GradScaler::unscaleValues(PerOptimizer& record, std::span<const HostTensor> gradients) const {
    for (const HostTensor& gradient : gradients) {
        requireFloats(gradient);
        if (gradient.dtype == DType::F16) // checked before anything is changed
            throw InputError(phrase("Scaler", "Attempting to unscale FP16 gradients."));
    }
    // Computed in double, as in PyTorch: at a scale below 2^-128 it is inf.
    const auto inverse = static_cast<float>(1.0 / static_cast<double>(m_state.scale));
    for (size_t t = 0; t < gradients.size(); ++t) {
        const HostTensor& gradient = gradients[t];
        std::optional<FirstBad> before, after;
        for (size_t i = 0; i < gradient.elements; ++i) {
            look(gradient, i, before);
            if (inverse != 1) multiply(gradient, i, inverse);
            if (m_config.checkUnscaled) look(gradient, i, after);
        }
        const std::optional<FirstBad>& bad = before ? before : after;
        // A flag, not a sum: its meaning does not depend on the number of tensors.
        const bool found = record.foundInf.value_or(false);
        record.foundInf = found || bad.has_value();
        if (found || !bad) continue;
        record.why = "gradient " + std::to_string(t) + " holds " + (bad->isNan ? "nan" : "inf") +
                     " at element " + std::to_string(bad->element) +
                     (before ? "" : " once unscaled") + " (loss scale " +
                     numberText(m_state.scale) + ")";
    }
}

StepOutcome GradScaler::step(int optimizer, std::span<const HostTensor> gradients,
                             const std::function<void()>& stepFunction) {
    if (!m_enabled) {
        stepFunction();
        return {};
    }
    requireScale("step");
    if (m_optimizers[optimizer].stage == Stage::Stepped)
        throw InputError(
            phrase("Scaler", "step() has already been called since the last update()."));
    if (m_optimizers[optimizer].stage == Stage::Ready) unscale(optimizer, gradients);
    PerOptimizer& record = m_optimizers[optimizer];
    if (!record.foundInf)
        throw InputError(phrase("Scaler", "No inf checks were recorded for this optimizer."));
    const bool skips = *record.foundInf && m_config.onOverflow == OverflowAction::Skip;
    if (!skips) stepFunction();
    record.stage = Stage::Stepped;
    return {!skips, skips ? record.why : std::string()};
}

void GradScaler::update() {
    if (!m_enabled) return;
    requireScale("update");
    const auto recorded = [](const auto& entry) { return entry.second.foundInf.has_value(); };
    if (std::none_of(m_optimizers.begin(), m_optimizers.end(), recorded))
        throw InputError(phrase("Scaler", "No inf checks were recorded prior to update."));
    const bool foundInf =
        std::any_of(m_optimizers.begin(), m_optimizers.end(),
                    [](const auto& entry) { return entry.second.foundInf.value_or(false); });
    m_state = next(m_state, foundInf, m_config.rules);
    m_optimizers.clear();
}

void GradScaler::update(float newScale) {
    if (!m_enabled) return;
    requireScale("update");
    m_state.scale = newScale;
    m_optimizers.clear();
}

ScalerStateDict GradScaler::stateDict() const {
    if (!m_enabled) return {};
    const ScalerRules& rules = m_config.rules;
    ScalerStateDict state{{"scale", static_cast<double>(m_state.scale)},
                          {"growth_factor", rules.growthFactor},
                          {"backoff_factor", rules.backoffFactor},
                          {"growth_interval", static_cast<double>(rules.growthInterval)},
                          {"_growth_tracker", m_state.growthTracker}};
    if (rules.growthDelay > 0) state["_delayed"] = m_state.delayed;
    if (rules.hysteresis > 1) state["_absorbed"] = m_state.absorbed;
    if (rules.tolerance > 0) {
        state["_steps_since_rescale"] = m_state.stepsSinceRescale;
        state["_overflows_since_rescale"] = m_state.overflowsSinceRescale;
    }
    return state;
}

void GradScaler::loadStateDict(const ScalerStateDict& state) {
    if (!m_enabled) return;
    if (state.empty())
        throw InputError(phrase("Scaler", "The source state dict is empty, possibly because it was "
                                          "saved from a disabled instance of GradScaler."));
    for (const char* key :
         {"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"})
        if (!state.contains(key))
            throw InputError(phrase("Scaler", "The source state dict has no %1."), key);
    constexpr double kMostCount = 2147483647.0;          // the largest int32
    constexpr double kMostInterval = 9007199254740992.0; // 2^53: up to here a double holds every
                                                         // whole number
    const auto count = [&state](const char* key) {
        return static_cast<int32_t>(countIn(state, key, kMostCount));
    };
    ScalerState next;
    next.scale = static_cast<float>(state.at("scale"));
    next.growthTracker = count("_growth_tracker");
    next.delayed = count("_delayed");
    next.absorbed = count("_absorbed");
    next.stepsSinceRescale = count("_steps_since_rescale");
    next.overflowsSinceRescale = count("_overflows_since_rescale");
    m_config.rules.growthInterval = countIn(state, "growth_interval", kMostInterval);
    m_config.rules.growthFactor = state.at("growth_factor");
    m_config.rules.backoffFactor = state.at("backoff_factor");
    m_state = next;
}

} // namespace halfscope
