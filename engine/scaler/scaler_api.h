// torch.amp.GradScaler's interface over tensors in host memory: the same calls, states, errors and
// float32 arithmetic; in addition the guards of ScalerRules and a step that reports what it did.
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
/// Returns a tensor of F16 or BF16 values, given by their bits.
HostTensor hostTensor(DType, std::span<uint16_t>);

/// Whether the optimizer stepped, and if not, why.
struct StepOutcome {
    bool stepped = true;
    std::string why; ///< "gradient 2 holds inf at element 17 (loss scale 65536)"; empty when it
                     ///< stepped
    explicit operator bool() const { return stepped; }
};

/// Values by name: PyTorch's five keys, and those of the guards when a rule counts something.
using ScalerStateDict = std::map<std::string, double>;

/// Throws InputError with PyTorch's text when it is misused.
class GradScaler {
public:
    enum class Enabled : uint8_t { No, Yes };
    explicit GradScaler(const ScalerConfig& = {}, Enabled = Enabled::Yes);

    /// Multiplies the loss, or any outputs, by the scale; the first call puts the scale into force.
    /// Float32 and 16-bit values are multiplied in float32 and rounded once, double values in
    /// double.
    float scale(float loss);
    void scale(const HostTensor& outputs);
    /// Multiplies the gradients of an optimizer by float32(1 / double(scale)) in place, and records
    /// whether any was inf or nan before. Refuses float16 gradients, as PyTorch does: they cannot
    /// hold the scaled values. The caller tells optimizers apart by any numbers it likes.
    void unscale(int optimizer, std::span<const HostTensor> gradients);
    /// Unscales unless that was done, then calls `stepFunction`, or skips when the gradients held
    /// inf or nan and OverflowAction says so. Gradients that become inf after unscale() are not
    /// checked again.
    StepOutcome step(int optimizer, std::span<const HostTensor> gradients,
                     const std::function<void()>& stepFunction);
    /// Sets the next scale, once an iteration after all steps: by what any optimizer found, or to
    /// the given value, which leaves the growth tracker alone. All optimizers are ready again
    /// afterwards.
    void update();
    void update(float newScale);

    bool isEnabled() const { return m_enabled; }
    float getScale() const { return m_enabled ? m_state.scale : 1.0f; }
    int32_t growthTracker() const { return m_enabled ? m_state.growthTracker : 0; }
    /// The settings; available for a disabled scaler too (PyTorch raises AttributeError there).
    double growthFactor() const { return m_config.rules.growthFactor; }
    double backoffFactor() const { return m_config.rules.backoffFactor; }
    int64_t growthInterval() const { return m_config.rules.growthInterval; }
    void setGrowthFactor(double factor) { m_config.rules.growthFactor = factor; }
    void setBackoffFactor(double factor) { m_config.rules.backoffFactor = factor; }
    void setGrowthInterval(int64_t steps) { m_config.rules.growthInterval = steps; }
    /// True when the floor was reached and the rules ask to end there; see FloorAction.
    bool stopped() const { return m_state.stop; }

    /// Returns the state; empty when disabled.
    ScalerStateDict stateDict() const;
    /// Restores the state; changes nothing when disabled. What optimizers have done since the last
    /// update() stays recorded, as in PyTorch. Throws InputError for a missing key and for counts
    /// that are not an int32.
    void loadStateDict(const ScalerStateDict&);

private:
    enum class Stage : uint8_t { Ready, Unscaled, Stepped };
    struct PerOptimizer {
        Stage stage = Stage::Ready;
        std::optional<bool> foundInf; ///< nothing when no gradient was looked at
        std::string why;
    };

    void requireScale(const char* function) const;
    void unscaleValues(PerOptimizer&, std::span<const HostTensor>) const;

    ScalerConfig m_config;
    ScalerState m_state;
    bool m_enabled;
    bool m_inForce = false; ///< true once scale() was called: PyTorch's scale tensor exists from
                            ///< then on
    std::map<int, PerOptimizer> m_optimizers;
};

} // namespace halfscope
