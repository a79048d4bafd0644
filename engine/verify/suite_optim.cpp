// Runs optimizers on the device by the emitters of a training step, schedules, and clipping.
#include "engine/ops/op_info.h"
#include "engine/step/clip.h"
#include "engine/step/schedule.h"
#include "engine/verify/golden_optim.h"
#include "engine/verify/judge_optimizer.h"
#include "engine/verify/run_graph.h"

#include <algorithm>
#include <cmath>

namespace halfscope::recorded {
namespace {

void setOneCycle(ScheduleConfig& config, const Golden& args) {
    config.kind = ScheduleKind::OneCycle;
    config.maxLr = args.at("max_lr").number();
    constexpr int64_t kMost = 1'000'000'000; // the product of two of them still fits into int64
    const int64_t epochs = args.integerOr("epochs", 1);
    const int64_t perEpoch = args.integerOr("steps_per_epoch", 1);
    if (std::max(std::abs(epochs), std::abs(perEpoch)) > kMost)
        args.fail(phrase("Verification", "at most 10^9 epochs or steps"));
    config.totalSteps = args.integerOr("total_steps", epochs * perEpoch);
    config.pctStart = args.numberOr("pct_start", 0.3);
    config.divFactor = args.numberOr("div_factor", 25);
    config.finalDivFactor = args.numberOr("final_div_factor", 1e4);
    const bool linear = args.textOr("anneal_strategy", "cos") == "linear";
    config.anneal = linear ? Anneal::Linear : Anneal::Cosine;
    config.threePhase = args.flagOr("three_phase", false);
    config.cycleMomentum = args.flagOr("cycle_momentum", true);
    config.baseMomentum = args.numberOr("base_momentum", 0.85);
    config.maxMomentum = args.numberOr("max_momentum", 0.95);
}

void setWarmRestarts(ScheduleConfig& config, const Golden& args) {
    config.kind = ScheduleKind::WarmRestarts;
    config.period = args.at("T_0").integer();
    config.periodFactor = args.integerOr("T_mult", 1);
    config.minLr = args.numberOr("eta_min", 0);
    if (config.period < 1 || config.periodFactor < 1)
        args.fail({phrase("Verification", "%1 step is the least"), 1});
}

/// The schedule's own steps follow those of the warm-up.
void setWarmup(ScheduleConfig& config, const Golden& args) {
    config.warmupSteps = args.at("warmup").integer();
    constexpr int64_t kMost = 1'000'000'000;
    if (!warmsUp(config) || config.warmupSteps < 0 || config.warmupSteps > kMost ||
        config.totalSteps > kMost)
        args.fail(phrase("Verification", "no such schedule is known"));
    config.totalSteps += config.warmupSteps;
}

ClipKind clipNamed(const Golden& kind) {
    const std::string name = kind.text();
    if (name == "norm2") return ClipKind::Norm2;
    if (name == "norminf") return ClipKind::NormInf;
    if (name == "value") return ClipKind::Value;
    kind.fail(phrase("Verification", "norm2, norminf or value is expected"));
}

} // namespace

OptimizerKind optimizerNamed(const Golden& golden) {
    const std::string name = golden.text();
    for (const OptimizerInfo& info : kOptimizers)
        if (name == info.torch.name) return info.kind;
    golden.fail(phrase("Verification", "no such optimizer is known"));
}

OptimizerConfig optimizerOf(const Golden& row) {
    const Golden args = row.at("args");
    OptimizerConfig config;
    config.kind = optimizerNamed(row.at("optimizer"));
    config.lr = args.at("lr").number();
    config.momentum = args.numberOr("momentum", 0);
    const TorchOptimizer& torch = infoOf(config.kind).torch;
    config.weightDecay = args.numberOr("weight_decay", torch.decay);
    config.dampening = args.numberOr("dampening", 0);
    config.nesterov = args.flagOr("nesterov", false);
    config.amsgrad = args.flagOr("amsgrad", false);
    config.centered = args.flagOr("centered", false);
    if (torch.alpha) config.alpha = args.numberOr(torch.alpha, torch.alphaDefault);
    config.eps = args.numberOr("eps", torch.epsilon);
    if (const auto betas = args.find("betas")) {
        config.beta1 = betas->at(0).number();
        config.beta2 = betas->at(1).number();
    }
    return config;
}

ScheduleConfig scheduleOf(const Golden& row) {
    const Golden args = row.at("args");
    const std::string name = row.at("schedule").text();
    ScheduleConfig config;
    // A schedule without an end of its own ends after what was recorded.
    config.totalSteps = static_cast<int64_t>(row.at("lr").size()) + 1;
    if (name == "OneCycleLR") {
        setOneCycle(config, args);
    } else if (name == "StepLR") {
        config.kind = ScheduleKind::Step;
        config.stepSize = args.at("step_size").integer();
        config.gamma = args.numberOr("gamma", 0.1);
    } else if (name == "ExponentialLR") {
        config.kind = ScheduleKind::Exponential;
        config.gamma = args.at("gamma").number();
    } else if (name == "CosineAnnealingLR") {
        config.kind = ScheduleKind::Cosine;
        config.totalSteps = args.at("T_max").integer();
        config.minLr = args.numberOr("eta_min", 0);
    } else if (name == "LinearLR") {
        config.kind = ScheduleKind::Linear;
        config.totalSteps = args.integerOr("total_iters", 5);
        config.startFactor = args.numberOr("start_factor", 1.0 / 3);
        config.endFactor = args.numberOr("end_factor", 1);
    } else if (name == "MultiStepLR") {
        config.kind = ScheduleKind::MultiStep;
        config.milestones.clear();
        for (size_t i = 0; i < args.at("milestones").size(); ++i)
            config.milestones.push_back(args.at("milestones").at(i).integer());
        config.gamma = args.numberOr("gamma", 0.1);
    } else if (name == "PolynomialLR") {
        config.kind = ScheduleKind::Polynomial;
        config.totalSteps = args.integerOr("total_iters", 5);
        config.power = args.numberOr("power", 1);
    } else if (name == "CosineAnnealingWarmRestarts") {
        setWarmRestarts(config, args);
    } else {
        row.at("schedule").fail(phrase("Verification", "no such schedule is known"));
    }
    if (args.find("warmup")) setWarmup(config, args);
    const int64_t least = config.kind == ScheduleKind::Linear ? 0 : 1;
    if (config.totalSteps < least || config.stepSize < 1)
        row.at("args").fail({least == 1 ? phrase("Verification", "%1 step is the least")
                                        : phrase("Verification", "%1 steps are the least"),
                             least});
    return config;
}

std::string optimCaseName(const Golden& row, const char* kind) {
    const auto args = row.find("args");
    return row.at(kind).text() + " " + (args ? *args : row.at("limit")).dump();
}

CaseResult compareOptimizer(const Golden& row, Executor& executor, Skipping skipping) {
    const RecordedOptimizer wanted = recordedOptimizer(row);
    OptimizerRun run(executor, optimizerOf(row), DType::F32, row.at("start").floats(), skipping);
    Trace got;
    for (const std::vector<double>& gradient : wanted.gradients) {
        run.step({gradient.begin(), gradient.end()});
        const std::vector<float> p = run.state("p");
        got.emplace_back(p.begin(), p.end());
    }
    CaseResult result = compareParameters(wanted, got);
    if (!result.passed()) result = judgeOptimizer(optimizerOf(row), wanted, got, result);
    const auto steps = static_cast<double>(wanted.gradients.size());
    const double counted = double{run.state("optimizer.step").at(0)};
    result.addEqual(counted == steps,
                    [&] { return "steps counted: " + numberPair(counted, steps); });
    return result;
}

CaseResult compareSchedule(const Golden& row, double bound) {
    const ScheduleConfig config = scheduleOf(row);
    const double base = row.at("base_lr").number();
    const std::vector<double> rates = row.at("lr").numbers();
    const Shape ticks{static_cast<int64_t>(rates.size())};
    const std::vector<double> betas = row.at("beta1").tensor(ticks);
    double largest = 0;
    for (const double rate : rates)
        largest = std::max(largest, std::fabs(rate));
    CaseResult result;
    for (size_t i = 0; i < rates.size(); ++i) {
        const auto tick = static_cast<int64_t>(i);
        const double rate = learningRate(config, base, tick);
        result.add(deviationOf(rate, rates[i], largest), bound, [&] {
            return "lr before step " + std::to_string(i + 1) + ": " + numberPair(rate, rates[i]);
        });
        // An optimizer whose momentum does not cycle kept Adam's 0.9.
        const double beta =
            cyclesMomentum(config) ? cycledMomentum(config, tick) : OptimizerConfig{}.beta1;
        result.add(deviationOf(beta, betas[i], 1), bound, [&] {
            return "beta1 before step " + std::to_string(i + 1) + ": " + numberPair(beta, betas[i]);
        });
    }
    return result;
}

CaseResult compareClipping(const Golden& row, Executor& executor) {
    const ClipKind kind = clipNamed(row.at("kind"));
    Graph graph;
    Builder b(graph);
    std::vector<ParameterGradient> gradients;
    std::map<NodeId, RefTensor> leaves;
    for (const Golden& golden : row.at("grads").items()) {
        const std::vector<double> values = golden.numbers();
        if (values.empty()) golden.fail(phrase("Verification", "at least one number is expected"));
        const Shape shape{static_cast<int64_t>(values.size())};
        const std::string name = "g" + std::to_string(gradients.size());
        const NodeId id = b.input(name, shape, DType::F32);
        leaves[id] = {shape, values};
        gradients.push_back({kNoNode, id, name});
    }
    const NodeId norm = clipGradients(b, kind, row.at("limit").number(), gradients);
    for (const ParameterGradient& pg : gradients)
        graph.addOutput(pg.name, pg.gradient);
    if (norm != kNoNode) graph.addOutput("norm", norm);
    const auto got = runGraph(executor, graph, leaves);
    CaseResult result;
    const auto compare = [&](const std::string& name, const Golden& golden) {
        const std::vector<double>& values = got.at(name);
        const std::vector<double> wanted = golden.tensor({static_cast<int64_t>(values.size())});
        for (size_t i = 0; i < values.size(); ++i) {
            // Ten squares, a root, a sum, a quotient and a product: 16 roundings of 2^-24 at most.
            result.add(deviationOf(values[i], wanted[i], std::fabs(wanted[i])), kOptimBound, [&] {
                return name + " [" + std::to_string(i) + "]: " + numberPair(values[i], wanted[i]);
            });
        }
    };
    for (size_t i = 0; i < gradients.size(); ++i)
        compare("g" + std::to_string(i), row.at("clipped").at(i));
    const Golden total = row.at("total_norm");
    result.addEqual((norm == kNoNode) == total.isNull(),
                    [] { return std::string("a norm where PyTorch has none, or none"); });
    if (norm != kNoNode && !total.isNull()) compare("norm", total);
    return result;
}

SuiteCases optimSuite(const Golden& golden, VerifyDevice& device) {
    SuiteCases suite;
    for (const Golden& row : golden.at("optimizers").items()) {
        suite.cases.push_back({optimCaseName(row, "optimizer"), [row, &device] {
                                   return compareOptimizer(row, *device.executor,
                                                           Skipping::Selects);
                               }});
    }
    for (const Golden& row : golden.at("schedules").items()) {
        suite.cases.push_back(
            {optimCaseName(row, "schedule"), [row] { return compareSchedule(row); }});
    }
    size_t number = 0;
    for (const Golden& row : golden.at("clipping").items()) {
        const std::string name = "clip " + row.at("kind").text() + " " + std::to_string(number++);
        suite.cases.push_back(
            {name, [row, &device] { return compareClipping(row, *device.executor); }});
    }
    return suite;
}

} // namespace halfscope::recorded
