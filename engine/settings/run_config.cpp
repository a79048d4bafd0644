// The names of the choices in an experiment, the names of its lanes, and defaults. Reading,
// checking and writing are in fields.cpp and config_json.cpp.
#include "engine/settings/run_config.h"

#include "engine/scaler/scaler_presets.h"

#include <algorithm>
#include <map>

namespace halfscope {

const char* nameOf(Norm norm) {
    switch (norm) {
    case Norm::None: return "none";
    case Norm::BatchNorm: return "batch";
    case Norm::LayerNorm: return "layer";
    }
    return "";
}

const char* nameOf(Activation activation) {
    switch (activation) {
    case Activation::Relu: return "relu";
    case Activation::Tanh: return "tanh";
    case Activation::Sigmoid: return "sigmoid";
    case Activation::Gelu: return "gelu";
    case Activation::Silu: return "silu";
    case Activation::Softplus: return "softplus";
    case Activation::Sin: return "sin";
    }
    return "";
}

const char* nameOf(ScheduleKind kind) {
    switch (kind) {
    case ScheduleKind::Constant: return "constant";
    case ScheduleKind::OneCycle: return "one-cycle";
    case ScheduleKind::Step: return "step";
    case ScheduleKind::Exponential: return "exponential";
    case ScheduleKind::Cosine: return "cosine";
    case ScheduleKind::Linear: return "linear";
    case ScheduleKind::MultiStep: return "multi-step";
    case ScheduleKind::Polynomial: return "polynomial";
    case ScheduleKind::WarmRestarts: return "warm-restarts";
    case ScheduleKind::Plateau: return "plateau";
    }
    return "";
}

const char* nameOf(Anneal anneal) {
    switch (anneal) {
    case Anneal::Cosine: return "cosine";
    case Anneal::Linear: return "linear";
    }
    return "";
}

const char* nameOf(Adversary adversary) {
    switch (adversary) {
    case Adversary::None: return "none";
    case Adversary::Gan: return "gan";
    case Adversary::WganGp: return "wgan-gp";
    }
    return "";
}

const char* nameOf(ClipKind kind) {
    switch (kind) {
    case ClipKind::None: return "none";
    case ClipKind::Norm2: return "norm";
    case ClipKind::NormInf: return "norm-inf";
    case ClipKind::Value: return "value";
    }
    return "";
}

const char* nameOf(ScalerMode mode) {
    switch (mode) {
    case ScalerMode::Dynamic: return "dynamic";
    case ScalerMode::Static: return "static";
    case ScalerMode::Off: return "off";
    }
    return "";
}

LaneConfig defaultLane(Precision precision) {
    const PrecisionPreset& preset = presetOf(precision);
    LaneConfig lane{precision, {}};
    applyScalerPreset(lane.scaler, preset.scaler);
    lane.scaler.rules.mode = preset.scalerMode;
    return lane;
}

RunConfig defaultConfig() {
    RunConfig config;
    config.lanes = {defaultLane(Precision::Fp32), defaultLane(Precision::AmpFp16)};
    return config;
}

std::string deviceOfLane(std::string_view devices, int lane) {
    const auto count = 1 + std::count(devices.begin(), devices.end(), ',');
    for (auto skip = lane % count; skip > 0; --skip)
        devices.remove_prefix(devices.find(',') + 1);
    return std::string(devices.substr(0, devices.find(',')));
}

std::string laneName(Precision precision, int number) {
    const std::string name = nameOf(precision);
    return number == 1 ? name : name + "-" + std::to_string(number);
}

std::vector<std::string> laneNames(const RunConfig& config) {
    std::vector<std::string> names;
    std::map<Precision, int> seen;
    for (const LaneConfig& lane : config.lanes)
        names.push_back(laneName(lane.precision, ++seen[lane.precision]));
    return names;
}

} // namespace halfscope
