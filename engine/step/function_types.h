// The dtypes of each function of a lane's network and loss, and the casts that autocast puts before
// it: the dtypes of a step as a table. Reads a graph that it builds for the purpose.
#pragma once

#include "engine/autocast/cast_policy.h"
#include "engine/data/batch.h"
#include "engine/settings/run_config.h"

#include <string>
#include <vector>

namespace halfscope {

/// What decides the dtypes of a function.
enum class TypeSource : uint8_t {
    NoAutocast, ///< nothing casts: the lane has no policy
    Rule,       ///< the policy's rule for the function
    EveryLayer, ///< the policy casts every layer alike, whatever its functions are
    Layer,      ///< the lane's settings or its policy name the layer
    Loss,       ///< the policy casts by layers, and takes losses in F32
    Outputs     ///< the precision casts what the network returns
};

/// A cast of an input, as the policy asks for it.
struct InputCast {
    std::string of;      ///< the state ("0.weight"), the layer that made it, "x" or "target"
    bool weight = false; ///< it is a parameter
    DType from = DType::F32, to = DType::F32;
    int64_t elements = 0;

    bool operator==(const InputCast&) const = default;
};

/// A function of a layer, or several calls that follow one another in the same layer.
struct FunctionTypes {
    std::string label;    ///< of the layer, "Linear 0"; "loss" for the loss
    std::string function; ///< as PyTorch names it, "linear"
    TypeSource source = TypeSource::NoAutocast;
    CastRule rule = CastRule::Follow; ///< where the source is Rule
    std::vector<InputCast> casts;     ///< a tensor that was cast before is not cast again
    DType type = DType::F32;          ///< of what it hands on
    bool insideF32 = false;           ///< sums or products inside are in F32 although `type` is not
    bool product = false;             ///< a matrix product or a convolution is in it
    bool tf32 = false;                ///< a product whose factors are rounded to TF32
    bool fp8 = false;                 ///< a product whose factors are rounded to FP8
};

struct LaneTypes {
    std::string policy; ///< its name, "torch cuda float16"; empty without autocast
    std::vector<FunctionTypes> functions;
};

/// Returns the functions of a lane in the order of the forward pass, without penalties on
/// gradients. Reads the policy file of a lane with precision "user". Throws InputError as
/// buildStep() does.
LaneTypes laneTypes(const RunConfig&, const LaneConfig&, const BatchShape&);
/// Returns those of all lanes. Reads the facts of the data, too.
std::vector<LaneTypes> laneTypes(const RunConfig&);

/// Several lanes side by side. Lanes of one experiment have the same functions, except for what
/// their policies add within one.
struct TypesRow {
    std::string label, function;
    std::vector<const FunctionTypes*> lanes; ///< null where a lane has no such function
};
std::vector<TypesRow> typesRows(const std::vector<LaneTypes>&);

} // namespace halfscope
