// Autocast policies as data: for each op, as PyTorch names it, the rule that decides the dtype of
// its inputs. The rules act while the forward is emitted (castInputs in engine/ops/cast_inputs.h),
// so casts are ordinary differentiable nodes and the backward inherits the forward's dtypes.
#pragma once

#include "engine/graph/graph.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halfscope {

/// What autocast does with the inputs of an op.
enum class CastRule : uint8_t {
    Follow,    ///< nothing: runs in the dtypes of its inputs
    Lower,     ///< every eligible input to the policy's low dtype
    Full,      ///< every eligible input to F32
    FullBySet, ///< computes and returns F32 (softmax, sum, ...): an eligible first input is cast to
               ///< F32
    Widest, ///< all to F32 if any is F32, else stays low; a low dtype other than the policy's is an
            ///< error
    Banned, ///< refused, with the name of the safe form
};
std::string_view nameOf(CastRule);
inline constexpr int kCastRuleCount = 6;

struct CastPolicy {
    std::string name; ///< "torch cuda float16"
    DType low = DType::F16;
    std::map<std::string, CastRule, std::less<>> rules; ///< by op name; absent: Follow
    /// Layers by label ("layer 1") that compute in a dtype of their own: it goes before every rule.
    std::map<std::string, DType, std::less<>> layers{};
    /// The dtype of all other layers, where no op has a rule: Keras, or a model cast as a whole.
    /// Losses are taken in F32.
    std::optional<DType> everyLayer{};

    CastRule ruleOf(std::string_view op) const;
    /// The dtype of the layer of that label and phase, if it does not go by the ops' rules.
    std::optional<DType> layerDType(std::string_view label, Phase) const;
};

/// The lists of torch.amp on CUDA, for low = F16 or BF16 (research: aten/src/ATen/autocast_mode.h).
CastPolicy torchCudaPolicy(DType low);
/// The lists of torch.amp on the CPU, which are shorter; bans nothing. Ops that no list names run
/// in the dtypes of their inputs: promoted, or refused where PyTorch's kernel refuses a mixture.
CastPolicy torchCpuPolicy(DType low);

/// The lists of NVIDIA Apex's level O1 (apex/amp/lists; the library has been archived since).
CastPolicy apexPolicy(DType low);
/// No op has a rule: every layer computes in `low`. The affine parameters of norms keep their
/// dtype, as in Keras.
CastPolicy layerPolicy(std::string name, DType low);

} // namespace halfscope
