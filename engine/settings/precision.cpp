// The rows of the precisions. Sources: torch.amp; apex/amp/frontend.py (levels O0 to O3 and their
// properties); keras/src/dtype_policies.
#include "engine/settings/precision_plan.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/settings/cast_policy_json.h"
#include "engine/settings/run_config.h"

#include <algorithm>
#include <set>

namespace halfscope {

namespace {

using Policy = std::optional<CastPolicy>;

/// Returns the row of a network that is cast to one dtype.
PrecisionPreset pure(Precision precision, const char* name, Phrase about, DType model) {
    PrecisionPreset row{precision, name, about, model};
    row.masterWeights = false;
    row.keepBatchnormF32 = false;
    row.mayScale = false;
    return row;
}

/// Returns a row of autocast over f32 parameters, with a scaler that starts in `mode`.
PrecisionPreset autocast(Precision precision, const char* name, Phrase about, Policy (*policy)(),
                         ScalerMode mode, const char* scaler = "pytorch") {
    PrecisionPreset row{precision, name, about};
    row.policy = policy;
    row.scalerMode = mode;
    row.scaler = scaler;
    return row;
}

PrecisionPreset plain(Precision precision, const char* name, Phrase about, MathMode math) {
    PrecisionPreset row{precision, name, about};
    row.math = math;
    row.mayScale = false;
    return row;
}

/// Returns a row of Apex, which casts the outputs of a cast model back to f32 and keeps a loss
/// scale of 1 when it has no dynamic one.
PrecisionPreset apex(Precision precision, const char* name, Phrase about,
                     std::optional<DType> model, bool master, ScalerMode mode) {
    PrecisionPreset row{precision, name, about, model};
    row.masterWeights = row.keepBatchnormF32 = master;
    row.outputF32 = true;
    row.scaler = "apex";
    row.scalerMode = mode;
    return row;
}

std::vector<PrecisionPreset> torchRows() {
    using P = Precision;
    return {
        plain(P::Fp32, "fp32", phrase("Settings", "Everything in float32."), MathMode::F32),
        autocast(
            P::AmpFp16, "amp-fp16",
            phrase("Settings", "PyTorch's autocast to float16, with the rules for CUDA."),
            [] { return Policy(torchCudaPolicy(DType::F16)); }, ScalerMode::Dynamic),
        autocast(
            P::AmpBf16, "amp-bf16",
            phrase("Settings", "PyTorch's autocast to bfloat16, with the rules for CUDA."),
            [] { return Policy(torchCudaPolicy(DType::BF16)); }, ScalerMode::Off),
        pure(P::Fp16, "fp16",
             phrase("Settings", "Everything in float16, without master weights or scaling."),
             DType::F16),
        plain(P::Tf32, "tf32",
              phrase("Settings", "float32, except that matrix products and convolutions round "
                                 "their operands to 11 bits."),
              MathMode::TF32),
        pure(P::Bf16, "bf16", phrase("Settings", "Everything in bfloat16, without master weights."),
             DType::BF16),
        autocast(
            P::Fp8, "fp8",
            phrase("Settings",
                   "amp-bf16 in which linear layers and convolutions multiply 8-bit numbers and "
                   "sum in float32. Computed in 16 bits with the same results: it shows what FP8 "
                   "does to training, and nothing of its speed."),
            [] { return Policy(fp8Policy(Fp8Scaling::Dynamic)); }, ScalerMode::Off),
        autocast(
            P::TorchCpuBf16, "torch-cpu-bf16",
            phrase("Settings", "PyTorch's autocast to bfloat16, with the rules for the CPU."),
            [] { return Policy(torchCpuPolicy(DType::BF16)); }, ScalerMode::Off),
        autocast(
            P::TorchCpuFp16, "torch-cpu-fp16",
            phrase("Settings", "PyTorch's autocast to float16, with the rules for the CPU."),
            [] { return Policy(torchCpuPolicy(DType::F16)); }, ScalerMode::Dynamic),
    };
}

std::vector<PrecisionPreset> otherRows() {
    using P = Precision;
    return {
        apex(P::ApexO0, "apex-o0", phrase("Settings", "Apex O0: float32, a loss scale of 1."),
             std::nullopt, true, ScalerMode::Off),
        autocast(
            P::ApexO1, "apex-o1",
            phrase("Settings", "Apex O1: casts around functions, by Apex's lists."),
            [] { return Policy(apexPolicy(DType::F16)); }, ScalerMode::Dynamic, "apex"),
        apex(P::ApexO2, "apex-o2",
             phrase("Settings",
                    "Apex O2: a float16 network with norms and master weights in float32."),
             DType::F16, true, ScalerMode::Dynamic),
        apex(P::ApexO3, "apex-o3",
             phrase("Settings", "Apex O3: everything in float16, a loss scale of 1."), DType::F16,
             false, ScalerMode::Off),
        autocast(
            P::KerasFloat16, "keras-mixed-float16",
            phrase("Settings", "Keras mixed_float16: each layer computes in float16 and keeps its "
                               "variables in float32."),
            [] { return Policy(layerPolicy("keras mixed_float16", DType::F16)); },
            ScalerMode::Dynamic, "keras"),
        autocast(
            P::KerasBfloat16, "keras-mixed-bfloat16",
            phrase("Settings", "Keras mixed_bfloat16: each layer computes in bfloat16 and keeps "
                               "its variables in float32."),
            [] { return Policy(layerPolicy("keras mixed_bfloat16", DType::BF16)); },
            ScalerMode::Off),
        autocast(P::User, "user", phrase("Settings", "Your own policy, from a file."), nullptr,
                 ScalerMode::Dynamic),
    };
}

bool chosen(Override choice, bool byDefault) {
    return choice == Override::Default ? byDefault : choice == Override::On;
}

/// Plans a network that is cast as a whole: its parameters, and the dtype in which its layers
/// compute.
void planModel(PrecisionPlan& plan, const PrecisionPreset& row, const LaneConfig& lane) {
    const DType model = *row.model;
    const bool master = chosen(lane.masterWeights, row.masterWeights);
    const bool keepNorms = chosen(lane.keepBatchnormF32, row.keepBatchnormF32);
    plan.storage.weights = master ? DType::F32 : model;
    plan.storage.norms = keepNorms ? DType::F32 : plan.storage.weights;
    if (master && !keepNorms) plan.storage.normsSeen = model;
    plan.policy = layerPolicy(row.name, model);
}

} // namespace

std::span<const PrecisionPreset> precisionPresets() {
    static const std::vector<PrecisionPreset> rows = [] {
        std::vector<PrecisionPreset> all = torchRows();
        for (PrecisionPreset& row : otherRows())
            all.push_back(std::move(row));
        for (size_t i = 0; i < all.size(); ++i)
            require(all[i].precision == static_cast<Precision>(i), "precisions out of order");
        return all;
    }();
    return rows;
}

const PrecisionPreset& presetOf(Precision precision) {
    return precisionPresets()[static_cast<size_t>(precision)];
}

const char* nameOf(Precision precision) {
    return static_cast<int>(precision) < kPrecisionCount ? presetOf(precision).name : "";
}

const char* nameOf(Override choice) {
    switch (choice) {
    case Override::Default: return "default";
    case Override::On: return "on";
    case Override::Off: return "off";
    }
    return "";
}

const char* nameOf(WeightRounding rounding) {
    switch (rounding) {
    case WeightRounding::Nearest: return "nearest";
    case WeightRounding::Stochastic: return "stochastic";
    }
    return "";
}

std::optional<LayerTypes> forcedLayers(std::string_view text) {
    LayerTypes layers;
    for (text = trimmed(text); !text.empty();) {
        const size_t comma = std::min(text.find(','), text.size());
        const std::string_view pair = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        const size_t equals = std::min(pair.find('='), pair.size());
        const std::string_view label = trimmed(pair.substr(0, equals));
        const auto dtype = dtypeNamed(trimmed(pair.substr(std::min(equals + 1, pair.size()))));
        if (label.empty() || !dtype || !(isLow(*dtype) || *dtype == DType::F32))
            return std::nullopt;
        if (!layers.emplace(label, *dtype).second) return std::nullopt;
    }
    return layers;
}

PrecisionPlan planOf(const LaneConfig& lane) {
    const PrecisionPreset& row = presetOf(lane.precision);
    PrecisionPlan plan;
    plan.math = row.math;
    plan.outputF32 = row.outputF32;
    if (lane.precision == Precision::User) {
        plan.policy = readCastPolicy(lane.policyFile);
    } else if (row.model) {
        planModel(plan, row, lane);
    } else if (row.policy) {
        plan.policy = row.policy();
        if (plan.policy->fp8) plan.policy->fp8 = lane.fp8Scaling;
    }
    const auto forced = forcedLayers(lane.layers);
    require(forced.has_value(), "forced layers are checked with the fields");
    if (!forced->empty() && !plan.policy) {
        plan.policy.emplace(); // a policy in which no op has a rule
        plan.policy->name = row.name;
    }
    for (const auto& [label, dtype] : *forced)
        plan.policy->layers[label] = dtype;
    return plan;
}

bool computesInFloat32(const LaneConfig& lane) {
    const PrecisionPreset& row = presetOf(lane.precision);
    const bool casts = row.policy || row.model || lane.precision == Precision::User;
    return lane.layers.empty() && !casts && row.math == MathMode::F32;
}

std::optional<DType> typeOfLayer(const LaneConfig& lane, std::string_view label) {
    if (lane.precision == Precision::User) return std::nullopt; // the file may be gone by now
    const PrecisionPlan plan = planOf(lane);
    if (!plan.policy) return DType::F32;
    if (const auto type = plan.policy->layerDType(label, Phase::Forward)) return type;
    if (plan.policy->rules.empty()) return DType::F32;
    if (plan.policy->low == DType::F16) return std::nullopt; // or float32, by the function
    return plan.policy->low;
}

bool storesHalf(const LaneConfig& lane) {
    const PrecisionPreset& row = presetOf(lane.precision);
    return row.model && !chosen(lane.masterWeights, row.masterWeights);
}

bool scalesLoss(const LaneConfig& lane) {
    return presetOf(lane.precision).mayScale && lane.scaler.rules.mode != ScalerMode::Off;
}

void checkPrecision(const LaneConfig& lane, size_t index) {
    const std::string path = "lanes." + std::to_string(index) + ".precision.";
    const PrecisionPreset& row = presetOf(lane.precision);
    const auto check = [&](const char* key, Override value) {
        if (row.model || value == Override::Default) return;
        throw InputError(phrase("Settings",
                                "%1%2: %3 is not allowed with precision %4, because that precision "
                                "does not cast the network as a whole; allowed: default, or one of "
                                "the precisions fp16, bf16, apex-o2, apex-o3"),
                         path, key, nameOf(value), row.name);
    };
    check("master_weights", lane.masterWeights);
    check("keep_batchnorm_fp32", lane.keepBatchnormF32);
    if (lane.precision == Precision::User && lane.policyFile.empty())
        throw InputError(
            phrase("Settings",
                   "%1policy: missing; the precision user needs the path of a policy file"),
            path);
}

void checkLayers(const CastPolicy& policy, const LaneConfig& lane, const Graph& graph) {
    std::vector<std::string> known;
    std::set<std::string_view> seen;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        const bool inside = node.op != Op::State && node.op != Op::Input &&
                            (node.cause.phase == Phase::Forward || node.cause.phase == Phase::Loss);
        if (inside && !node.cause.label.empty() && seen.insert(node.cause.label).second)
            known.push_back(node.cause.label);
    }
    const LayerTypes forced = forcedLayers(lane.layers).value_or(LayerTypes{});
    for (const auto& [label, dtype] : policy.layers) {
        if (seen.contains(label)) continue;
        const std::string place =
            forced.contains(label) ? "precision.layers" : lane.policyFile + ": layers";
        throw InputError(phrase("Settings", "%1: %2 is not a layer of this network%3"), place,
                         quotedText(label), nearestHint(label, known));
    }
}

} // namespace halfscope
