// Autocast policies as data: for each op, as PyTorch names it, the rule that decides the dtype of
// its inputs. The rules act while the forward pass is emitted (castInputs in
// engine/ops/cast_inputs.h), so casts are ordinary differentiable nodes and the backward pass
// inherits the forward's dtypes.
#pragma once

#include "engine/core/fp8.h"
#include "engine/graph/graph.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace halfscope {

/// What autocast does with the inputs of an op.
enum class CastRule : uint8_t {
    Follow,    ///< no cast: the op runs in the dtypes of its inputs
    Lower,     ///< casts every eligible input to the policy's low dtype
    Full,      ///< casts every eligible input to F32
    FullBySet, ///< computes and returns F32 (softmax, sum, ...): casts an eligible first input to
               ///< F32
    Widest,    ///< casts all to F32 if any is F32, otherwise stays low; a low dtype other than the
               ///< policy's is an error
    Banned,    ///< refused; the error names the safe form
};
std::string_view nameOf(CastRule);
inline constexpr int kCastRuleCount = 6;

struct CastPolicy {
    std::string name; ///< "torch cuda float16"
    DType low = DType::F16;
    std::map<std::string, CastRule, std::less<>> rules; ///< by op name; an op that is absent
                                                        ///< follows its inputs
    /// Layers by label ("layer 1"), and parts of layers ("TransformerEncoderLayer 0.linear1"), that
    /// compute in a dtype of their own, which takes precedence over every rule.
    std::map<std::string, DType, std::less<>> layers{};
    /// The dtype of all other layers, for policies in which no op has a rule: Keras, or a model
    /// that is cast as a whole. Losses are taken in F32.
    std::optional<DType> everyLayer{};

    /// Where it is set, the layers that the rules lower also round their operands to FP8: input and
    /// weight to E4M3, the gradient of their result to E5M2.
    std::optional<Fp8Scaling> fp8{};

    /// Convolutions, by op name, that add their bias before they round their result. All others
    /// round before it, too.
    std::set<std::string, std::less<>> biasBeforeRounding{};

    CastRule ruleOf(std::string_view op) const;
    /// Returns the dtype in `layers` of the layer with that label, or of the one that it is a part
    /// of.
    std::optional<DType> ownDType(std::string_view label) const;
    /// Returns the dtype of the layer with that label and phase; nothing when the ops' rules
    /// decide.
    std::optional<DType> layerDType(std::string_view label, Phase) const;
};

/// Returns the lists of torch.amp on CUDA, for low = F16 or BF16 (source:
/// aten/src/ATen/autocast_mode.h).
CastPolicy torchCudaPolicy(DType low);
/// Returns the lists of torch.amp on the CPU, which are shorter and ban nothing. Ops that no list
/// names run in the dtypes of their inputs, which are promoted, or refused when PyTorch's kernel
/// refuses mixed dtypes. Convolutions add their bias before they round, except transposed ones of
/// F16 (PyTorch 2.15, measured on a processor without instructions for F16).
CastPolicy torchCpuPolicy(DType low);

/// Returns torch.amp's lists on CUDA for BF16, with FP8 in linear layers and convolutions. Source:
/// autocast of transformer_engine.pytorch with its recipe Float8CurrentScaling, HYBRID formats and
/// the option power_2_scale, which is off by default. Transformer Engine has FP8 in linear layers
/// alone.
CastPolicy fp8Policy(Fp8Scaling);

/// Returns the lists of NVIDIA Apex's level O1 (apex/amp/lists; the library has been archived
/// since).
CastPolicy apexPolicy(DType low);
/// Returns a policy in which no op has a rule and every layer computes in `low`. The affine
/// parameters of norms keep their dtype, as in Keras.
CastPolicy layerPolicy(std::string name, DType low);

} // namespace halfscope
