// Writes the calls and leaves out what PyTorch does by default.
#include "engine/step/pytorch_calls.h"

#include "engine/core/text.h"
#include "engine/lang/python.h"
#include "engine/settings/fields.h"
#include "engine/settings/milestones.h"
#include "engine/step/schedule.h"

#include <algorithm>
#include <array>

namespace halfscope {

using lang::pythonReal;

void PythonArguments::add(const char* name, const std::string& value) {
    m_text += std::string(m_text.empty() ? "" : ", ") + name + "=" + value;
}

void PythonArguments::add(const char* name, double value, double standard) {
    if (value != standard) add(name, pythonReal(value));
}

void PythonArguments::add(const char* name, bool value, bool standard) {
    if (value != standard) add(name, lang::pythonTruth(value));
}

std::optional<TorchLane> torchLane(Precision precision) {
    switch (precision) {
    case Precision::Fp32:
    case Precision::ApexO0: return TorchLane{};
    case Precision::Tf32: return TorchLane{"", "", true};
    case Precision::AmpFp16:
    case Precision::TorchCpuFp16: return TorchLane{"torch.float16", "", false};
    case Precision::AmpBf16:
    case Precision::TorchCpuBf16: return TorchLane{"torch.bfloat16", "", false};
    case Precision::Fp8: return TorchLane{"torch.bfloat16", "", false, true};
    case Precision::Fp16: return TorchLane{"", "torch.float16", false};
    case Precision::Bf16: return TorchLane{"", "torch.bfloat16", false};
    default: return std::nullopt; // Apex, Keras and users' policies
    }
}

std::vector<std::string> settingsPyTorchLacks(const RunConfig& config, size_t lane) {
    static constexpr std::array kKnown{
        "precision",
        "precision.layers", // see pytorch_layers.h
        "precision.fp8_scaling",
        "scaler.preset",
        "scaler.mode",
        "scaler.init_scale",
        "scaler.growth_factor",
        "scaler.backoff_factor",
        "scaler.growth_interval",
        "scaler.hold_schedule",
    };
    RunConfig standard;
    standard.lanes = {defaultLane(config.lanes[lane].precision)};
    std::vector<std::string> lacking;
    for (const Field& field : fieldTable()) {
        if (field.scope != FieldScope::Lane) continue;
        if (std::find(kKnown.begin(), kKnown.end(), field.key) != kKnown.end()) continue;
        if (!field.applies(config, static_cast<int>(lane))) continue;
        const FieldValue value = field.get(config, static_cast<int>(lane));
        if (value != field.get(standard, 0)) lacking.push_back(field.key + " " + valueText(value));
    }
    return lacking;
}

std::string optimizerCall(const OptimizerConfig& o, const std::string& parameters) {
    const OptimizerInfo& info = infoOf(o.kind);
    PythonArguments arguments(parameters);
    arguments.add("lr", pythonReal(o.lr));
    if (info.has.betas && (o.beta1 != 0.9 || o.beta2 != 0.999))
        arguments.add("betas", "(" + pythonReal(o.beta1) + ", " + pythonReal(o.beta2) + ")");
    if (info.has.alpha) arguments.add(info.torch.alpha, o.alpha, info.torch.alphaDefault);
    if (info.has.epsilon) arguments.add("eps", o.eps, info.torch.epsilon);
    if (info.has.momentum) arguments.add("momentum", o.momentum, 0);
    if (info.has.nesterov) arguments.add("dampening", o.dampening, 0);
    arguments.add("weight_decay", o.weightDecay, info.torch.decay);
    if (info.has.nesterov) arguments.add("nesterov", o.nesterov, false);
    if (info.has.amsgrad) arguments.add("amsgrad", o.amsgrad, false);
    if (info.has.centered) arguments.add("centered", o.centered, false);
    return std::string("torch.optim.") + info.torch.name + "(" + arguments.text() + ")";
}

namespace {

std::string oneCycleArguments(const ScheduleConfig& s, const std::string& updates) {
    PythonArguments arguments("optimizer");
    arguments.add("max_lr", pythonReal(s.maxLr));
    arguments.add("total_steps", updates);
    arguments.add("pct_start", s.pctStart, 0.3);
    if (s.anneal == Anneal::Linear) arguments.add("anneal_strategy", "\"linear\"");
    arguments.add("cycle_momentum", s.cycleMomentum, true);
    if (s.cycleMomentum) {
        arguments.add("base_momentum", s.baseMomentum, 0.85);
        arguments.add("max_momentum", s.maxMomentum, 0.95);
    }
    arguments.add("div_factor", s.divFactor, 25);
    arguments.add("final_div_factor", s.finalDivFactor, 1e4);
    arguments.add("three_phase", s.threePhase, false);
    return arguments.text();
}

constexpr const char* kSchedulers = "torch.optim.lr_scheduler.";

/// Returns the call without a warm-up.
std::string ownCourse(const ScheduleConfig& s, const std::string& updates) {
    const std::string start = kSchedulers;
    switch (s.kind) {
    case ScheduleKind::Constant: return {};
    case ScheduleKind::OneCycle: return start + "OneCycleLR(" + oneCycleArguments(s, updates) + ")";
    case ScheduleKind::Step:
        return start + "StepLR(optimizer, step_size=" + numberText(s.stepSize) +
               ", gamma=" + pythonReal(s.gamma) + ")";
    case ScheduleKind::Exponential:
        return start + "ExponentialLR(optimizer, gamma=" + pythonReal(s.gamma) + ")";
    case ScheduleKind::Cosine:
        return start + "CosineAnnealingLR(optimizer, T_max=" + updates +
               ", eta_min=" + pythonReal(s.minLr) + ")";
    case ScheduleKind::Linear:
        return start + "LinearLR(optimizer, start_factor=" + pythonReal(s.startFactor) +
               ", end_factor=" + pythonReal(s.endFactor) + ", total_iters=" + updates + ")";
    case ScheduleKind::MultiStep:
        return start + "MultiStepLR(optimizer, milestones=[" + milestonesText(s.milestones) +
               "], gamma=" + pythonReal(s.gamma) + ")";
    case ScheduleKind::Polynomial:
        return start + "PolynomialLR(optimizer, total_iters=" + updates +
               ", power=" + pythonReal(s.power) + ")";
    case ScheduleKind::WarmRestarts:
        return start + "CosineAnnealingWarmRestarts(optimizer, T_0=" + numberText(s.period) +
               ", T_mult=" + numberText(s.periodFactor) + ", eta_min=" + pythonReal(s.minLr) + ")";
    case ScheduleKind::Plateau: {
        PythonArguments arguments("optimizer");
        arguments.add("factor", s.gamma, 0.1);
        arguments.add("patience", numberText(s.patience));
        arguments.add("threshold", s.threshold, 1e-4);
        if (s.cooldown > 0) arguments.add("cooldown", numberText(s.cooldown));
        arguments.add("min_lr", s.minLr, 0);
        return start + "ReduceLROnPlateau(" + arguments.text() + ")";
    }
    }
    return {};
}

} // namespace

std::string scheduleCall(const ScheduleConfig& s) {
    const int64_t warmup = warmupOf(s);
    const std::string whole = s.totalSteps > 0 ? numberText(s.totalSteps) : "updates";
    if (warmup == 0) return ownCourse(s, whole);
    const std::string steps = numberText(warmup);
    const std::string rest =
        s.totalSteps > 0 ? numberText(s.totalSteps - warmup) : "max(1, updates - " + steps + ")";
    return lang::filled(
        R"({TORCH}SequentialLR(
        optimizer,
        [
            {TORCH}LinearLR(optimizer, start_factor=1 / {STEPS}, total_iters={STEPS}),
            {REST},
        ],
        milestones=[{STEPS}],
    ))",
        {{"TORCH", kSchedulers}, {"STEPS", steps}, {"REST", ownCourse(s, rest)}});
}

std::string clipCall(const GradientConfig& g, const std::string& parameters) {
    const std::string arguments = "(" + parameters + ", " + pythonReal(g.clipLimit);
    switch (g.clip) {
    case ClipKind::None: break;
    case ClipKind::Norm2: return "nn.utils.clip_grad_norm_" + arguments + ")";
    case ClipKind::NormInf: return "nn.utils.clip_grad_norm_" + arguments + ", norm_type=\"inf\")";
    case ClipKind::Value: return "nn.utils.clip_grad_value_" + arguments + ")";
    }
    return {};
}

std::string loadCall(const ModelConfig& model, const std::string& network,
                     const std::string& weights) {
    const bool partial = model.partialWeights && !model.weights.empty();
    return network + ".load_state_dict(" + weights + (partial ? ", strict=False)" : ")");
}

std::string renameLines(const std::map<std::string, std::string>& names) {
    if (names.empty()) return {};
    std::string text = "    if len(sys.argv) < 2:  # the file has other names\n        names = {\n";
    for (const auto& [own, file] : names)
        text += "            " + lang::pythonText(own) + ": " + lang::pythonText(file) + ",\n";
    return text + "        }\n"
                  "        weights = {name: weights[names[name]] for name in names}\n";
}

std::string indented(std::string_view lines) {
    std::string text;
    while (!lines.empty()) {
        const size_t end = lines.find('\n') + 1;
        text += "    " + std::string(lines.substr(0, end));
        lines.remove_prefix(end);
    }
    return text;
}

} // namespace halfscope
