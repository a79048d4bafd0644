// The precisions that a lane can train in, one row each: how parameters are stored, what autocast
// does, in which arithmetic, and which loss scaler comes with it. engine/settings/precision_plan.h
// combines a row with the lane's other settings.
#pragma once

#include "engine/core/fp8.h"
#include "engine/core/message.h"
#include "engine/graph/op.h"
#include "engine/scaler/grad_scaler.h"

#include <optional>
#include <span>

namespace halfscope {

struct CastPolicy;
struct LaneConfig;

enum class Precision : uint8_t {
    Fp32,
    AmpFp16,
    AmpBf16,
    Fp16,
    Tf32,
    Bf16,
    Fp8,
    TorchCpuBf16,
    TorchCpuFp16,
    ApexO0,
    ApexO1,
    ApexO2,
    ApexO3,
    KerasFloat16,
    KerasBfloat16,
    User
};
inline constexpr int kPrecisionCount = static_cast<int>(Precision::User) + 1;

/// A choice for a property of a model that is cast as a whole; the default is that of the
/// precision.
enum class Override : uint8_t { Default, On, Off };

/// How an update is rounded where it is stored in a weight of 16 bits.
enum class WeightRounding : uint8_t {
    Nearest,   ///< to the nearest number: the same small update is lost at every step
    Stochastic ///< to one of the two neighbours, the nearer one more often: right on average
};

struct PrecisionPreset {
    Precision precision = Precision::Fp32;
    const char* name = ""; ///< "amp-fp16"
    Phrase about;          ///< one sentence
    /// The dtype to which the network is cast as a whole (pure fp16, Apex O2 and O3).
    std::optional<DType> model{};
    bool masterWeights = true;    ///< parameters are f32, whatever dtype the network computes in
    bool keepBatchnormF32 = true; ///< the affine parameters of norms stay f32
    /// The casts within the forward pass; null when there are none. A user's policy comes from its
    /// file.
    std::optional<CastPolicy> (*policy)() = nullptr;
    MathMode math = MathMode::F32;
    bool outputF32 = false;         ///< the network's result is cast to f32 (as in Apex's levels)
    bool mayScale = true;           ///< whether the loss can be scaled
    const char* scaler = "pytorch"; ///< the preset of the loss scaler
    ScalerMode scalerMode = ScalerMode::Off;
};

/// Returns the rows in the order of the enum.
std::span<const PrecisionPreset> precisionPresets();
const PrecisionPreset& presetOf(Precision);
const char* nameOf(Precision);      ///< "fp32", "tf32", "amp-fp16", ...; empty beyond the last
const char* nameOf(Override);       ///< "default", "on", "off"
const char* nameOf(WeightRounding); ///< "nearest", "stochastic"

/// Whether the lane stores weights in 16 bits.
bool storesHalf(const LaneConfig&);
/// Whether the lane scales its loss: its precision allows it and its scaler is not off.
bool scalesLoss(const LaneConfig&);
/// Throws InputError for what Apex refuses: master weights or keep_batchnorm_fp32 for a model that
/// is not cast as a whole; and for "user" without a policy file.
void checkPrecision(const LaneConfig&, size_t lane);

} // namespace halfscope
