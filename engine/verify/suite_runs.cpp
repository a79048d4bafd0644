// Compares whole trainings with PyTorch's: losses step by step, loss scales, skips.
#include "engine/core/text.h"
#include "engine/verify/judge_run.h"

#include <cmath>

namespace halfscope::recorded {
namespace {

// The bound for two float32 trainings, each as far from the float64 one as it may be.
constexpr double kTwoFloat32Bound = 2 * kFloat32Bound;
// Up to this first scale, the scale must equal PyTorch's in every step. From a higher one the first
// steps overflow by design, and a single rounding may decide which step of a later pair overflows.
constexpr double kExactScale = 0x1p16;
constexpr double kSkipFreedom = 2;

bool isPicture(const Golden& run) { return run.at("kind").text() == "checkerboard"; }

std::string stepText(size_t step) { return "step " + std::to_string(step + 1) + ": "; }

void compareScales(CaseResult& result, const Golden& run, const TrainedRun& outcome) {
    const Golden trace = run.at("trace");
    const size_t steps = outcome.scales.size();
    const size_t common = commonSteps(run, outcome);
    if (common < steps) {
        const double wanted = trace.at(common).at("scale_before").number();
        result.addEqual(false, [&] {
            return stepText(common) + "scale " + numberPair(double{outcome.scales[common]}, wanted);
        });
        return;
    }
    const double wanted = trace.at(steps - 1).at("scale_after").number();
    result.addEqual(double{outcome.nextScale} == wanted, [&] {
        return "scale after the last step " + numberPair(double{outcome.nextScale}, wanted);
    });
}

void compareSkips(CaseResult& result, const Golden& run, const TrainedRun& outcome) {
    const auto wanted = static_cast<double>(skippedSteps(run).size());
    const auto skips = static_cast<double>(outcome.skipped.size());
    // Passed or failed: a number of steps cannot be compared with relative deviations of losses.
    result.addEqual(std::fabs(skips - wanted) <= kSkipFreedom,
                    [&] { return "skipped steps " + numberPair(skips, wanted); });
}

} // namespace

RunKind kindOf(const Golden& run) {
    if (run.find("amp")) return RunKind::Amp;
    const std::string compute = run.at("compute").text();
    if (compute == "float64") return RunKind::Float64;
    if (compute == "float32") return RunKind::Float32;
    run.at("compute").fail(phrase("Verification", "float32 or float64 is expected"));
}

std::string runName(const Golden& run) {
    std::string name = run.at("kind").text() + " seed " + numberText(run.at("seed").integer());
    const std::string amp = run.textOr("amp", "");
    if (amp.empty()) name += " " + run.at("compute").text();
    if (!amp.empty()) name += " " + amp;
    if (amp == "float16") name += " from scale " + numberText(run.at("init_scale").number());
    const std::string extra = run.textOr("extra", "");
    return extra.empty() ? name : name + " " + extra;
}

double lossBound(const Golden& run) {
    switch (kindOf(run)) {
    case RunKind::Float64: return kFloat32Bound;
    case RunKind::Float32: return kTwoFloat32Bound;
    case RunKind::Amp: break;
    }
    if (isPicture(run)) return 2e-2;
    const bool farther =
        run.textOr("extra", "") == "onecycle" || run.at("init_scale").number() > kExactScale;
    return farther ? 1e-2 : 1e-3;
}

std::vector<size_t> skippedSteps(const Golden& run) {
    std::vector<size_t> steps;
    const std::vector<Golden> trace = run.at("trace").items();
    for (size_t i = 0; i < trace.size(); ++i) {
        if (trace[i].at("scale_after").number() < trace[i].at("scale_before").number()) {
            steps.push_back(i);
        }
    }
    return steps;
}

size_t commonSteps(const Golden& run, const TrainedRun& outcome) {
    const Golden trace = run.at("trace");
    size_t i = 0;
    while (i < outcome.scales.size() &&
           double{outcome.scales[i]} == trace.at(i).at("scale_before").number())
        ++i;
    return i;
}

void compareLosses(CaseResult& result, const Golden& run, const TrainedRun& outcome, size_t end) {
    const double bound = lossBound(run);
    for (size_t i = 0; i < end; ++i) {
        const double wanted = run.at("trace").at(i).at("loss").number();
        const double loss = double{outcome.losses[i]};
        result.add(deviationOf(loss, wanted, std::fabs(wanted)), bound,
                   [&] { return stepText(i) + "loss " + numberPair(loss, wanted); });
    }
}

CaseResult compareRun(const Golden& run, const TrainedRun& outcome) {
    CaseResult result;
    const bool amp = kindOf(run) == RunKind::Amp;
    const size_t steps = outcome.losses.size();
    const bool whileScalesAgree = amp && isPicture(run);
    compareLosses(result, run, outcome, whileScalesAgree ? commonSteps(run, outcome) : steps);
    if (!amp) return result;
    if (run.at("init_scale").number() <= kExactScale) {
        compareScales(result, run, outcome);
    } else {
        compareSkips(result, run, outcome);
    }
    return result;
}

SuiteCases runsSuite(const Golden& golden, VerifyDevice& device) {
    SuiteCases suite;
    for (const Golden& run : casesOf(golden).items()) {
        suite.cases.push_back({runName(run), [run, &device] {
                                   const TrainedRun outcome = trainRun(run, device.make);
                                   const CaseResult result = compareRun(run, outcome);
                                   return result.passed() ? result : judgeRun(run, outcome, result);
                               }});
    }
    return suite;
}

} // namespace halfscope::recorded
