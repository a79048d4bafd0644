// torch.amp.GradScaler's interface over tensors in host memory: the same calls, states, errors and
// float32 arithmetic, and beyond it the guards of ScalerRules and a step that says what it did.
// Training steps do not use it: there the whole scaler is part of the graph.
#pragma once

#include "engine/core/dtype.h"
#include "engine/scaler/grad_scaler.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Values of a float dtype that someone else owns.
struct HostTensor {
    DType dtype = DType::F32;
    std::byte* data = nullptr;
    size_t elements = 0;
};
HostTensor hostTensor(std::span<float>);
HostTensor hostTensor(std::span<double>);
/// F16 or BF16 by their bits.
HostTensor hostTensor(DType, std::span<uint16_t>);

/// Whether the optimizer stepped, or why it did not.
struct StepOutcome {
    bool stepped = true;
    std::string why; ///< "gradient 2 holds inf at element 17 (loss scale 65536)"; empty: stepped
    explicit operator bool() const { return stepped; }
};

/// By name; the five keys of PyTorch, and those of the guards where a rule counts something.
using ScalerStateDict = std::map<std::string, double>;

/// Misuse throws InputError with PyTorch's text.
class GradScaler {
public:
    enum class Enabled : uint8_t { No, Yes };
    explicit GradScaler(const ScalerConfig& = {}, Enabled = Enabled::Yes);

    /// The loss, or any outputs, times the scale; the first call puts the scale into force. Float32
    /// and 16-bit values are multiplied in float32 and rounded once, double ones in double.
    float scale(float loss);
    void scale(const HostTensor& outputs);
    /// Multiplies the gradients of an optimizer by float32(1 / double(scale)) in place and notes
    /// whether any was inf or nan before. Float16 gradients are refused, as in PyTorch: they cannot
    /// hold what was scaled. Optimizers are told apart by any number of the caller's.
    void unscale(int optimizer, std::span<const HostTensor> gradients);
    /// Unscales unless that was done, then calls `stepFunction`, or skips where the gradients held
    /// inf or nan and OverflowAction says so. Gradients that become inf after unscale() are not
    /// looked at again.
    StepOutcome step(int optimizer, std::span<const HostTensor> gradients,
                     const std::function<void()>& stepFunction);
    /// Once an iteration, after all steps: the next scale by what any optimizer found, or the given
    /// one, which leaves the growth tracker alone. All optimizers are ready again afterwards.
    void update();
    void update(float newScale);

    bool isEnabled() const { return m_enabled; }
    float getScale() const { return m_enabled ? m_state.scale : 1.0f; }
    int32_t growthTracker() const { return m_enabled ? m_state.growthTracker : 0; }
    /// The settings, of a disabled scaler too (PyTorch raises AttributeError there).
    double growthFactor() const { return m_config.rules.growthFactor; }
    double backoffFactor() const { return m_config.rules.backoffFactor; }
    int64_t growthInterval() const { return m_config.rules.growthInterval; }
    void setGrowthFactor(double factor) { m_config.rules.growthFactor = factor; }
    void setBackoffFactor(double factor) { m_config.rules.backoffFactor = factor; }
    void setGrowthInterval(int64_t steps) { m_config.rules.growthInterval = steps; }
    /// The floor was reached and the rules ask to end there; see FloorAction.
    bool stopped() const { return m_state.stop; }

    /// Empty when disabled.
    ScalerStateDict stateDict() const;
    /// Changes nothing when disabled. What optimizers have done since the last update() stays
    /// noted, as in PyTorch. InputError for a missing key and for counts that are no int32.
    void loadStateDict(const ScalerStateDict&);

private:
    enum class Stage : uint8_t { Ready, Unscaled, Stepped };
    struct PerOptimizer {
        Stage stage = Stage::Ready;
        std::optional<bool> foundInf; ///< nothing: no gradient was looked at
        std::string why;
    };

    void requireScale(const char* function) const;
    void unscaleValues(PerOptimizer&, std::span<const HostTensor>) const;

    ScalerConfig m_config;
    ScalerState m_state;
    bool m_enabled;
    bool m_inForce = false; ///< scale() was called: PyTorch's scale tensor exists
    std::map<int, PerOptimizer> m_optimizers;
};

} // namespace halfscope
