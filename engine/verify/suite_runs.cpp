// Whole trainings against PyTorch's: losses step by step, loss scales, skips.
#include "engine/core/text.h"
#include "engine/verify/golden_runs.h"

#include <algorithm>
#include <cmath>

namespace halfscope::recorded {
namespace {

// Two float32 trainings, each as far from the float64 one as it may be.
constexpr double kTwoFloat32Bound = 2 * kFloat32Bound;
// Up to this start the scale must stay PyTorch's in every step; from a higher one the first steps
// overflow by design, and which step of a later pair overflows may hang on one rounding.
constexpr double kExactScale = 0x1p16;
constexpr double kSkipFreedom = 2;

bool isPicture(const Golden& run) { return run.at("kind").text() == "checkerboard"; }

std::string stepText(size_t step) { return "step " + std::to_string(step + 1) + ": "; }

/// `freedom`: what is added to the bound, by step; empty: nothing.
void compareLosses(CaseResult& result, const Golden& run, const RunOutcome& outcome, size_t end,
                   const std::vector<double>& freedom = {}) {
    const double bound = lossBound(run);
    for (size_t i = 0; i < end; ++i) {
        const double wanted = run.at("trace").at(i).at("loss").number();
        const double loss = double{outcome.losses[i]};
        const double more = freedom.empty() ? 0 : freedom[i];
        result.add(deviationOf(loss, wanted, std::fabs(wanted)), bound + more,
                   [&] { return stepText(i) + "loss " + numberPair(loss, wanted); });
    }
}

void compareScales(CaseResult& result, const Golden& run, const RunOutcome& outcome) {
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

void compareSkips(CaseResult& result, const Golden& run, const RunOutcome& outcome) {
    const auto wanted = static_cast<double>(skippedSteps(run).size());
    const auto skips = static_cast<double>(outcome.skipped.size());
    // in or out: a number of steps is no measure beside relative deviations of losses
    result.addEqual(std::fabs(skips - wanted) <= kSkipFreedom,
                    [&] { return "skipped steps " + numberPair(skips, wanted); });
}

size_t stepsBeyond(const Golden& run, const RunOutcome& outcome) {
    size_t steps = 0;
    for (size_t i = 0; i < outcome.losses.size(); ++i) {
        CaseResult one;
        const double wanted = run.at("trace").at(i).at("loss").number();
        one.add(deviationOf(double{outcome.losses[i]}, wanted, std::fabs(wanted)), lossBound(run),
                [] { return std::string("beyond"); });
        if (!one.passed()) ++steps;
    }
    return steps;
}

/// How far moving the starting weights by their last bit moves the losses, up to each step.
std::vector<double> lastBitFreedom(const Golden& run, const MakeExecutor& make,
                                   const RunOutcome& outcome) {
    constexpr uint64_t kPerturbations = 8;
    std::vector<double> moves(outcome.losses.size(), 0);
    for (uint64_t seed = 1; seed <= kPerturbations; ++seed) {
        const RunOutcome other = trainRun(run, make, {seed, 0x1p-24f});
        for (size_t i = 0; i < moves.size(); ++i) {
            const double loss = double{outcome.losses[i]};
            moves[i] =
                std::max(moves[i], deviationOf(double{other.losses[i]}, loss, std::fabs(loss)));
        }
    }
    for (size_t i = 1; i < moves.size(); ++i)
        moves[i] = std::max(moves[i], moves[i - 1]);
    return moves;
}

} // namespace

RunKind kindOf(const Golden& run) {
    if (run.find("amp")) return RunKind::Amp;
    const std::string compute = run.at("compute").text();
    if (compute == "float64") return RunKind::Float64;
    if (compute == "float32") return RunKind::Float32;
    run.at("compute").fail("float32 or float64 is wanted");
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

size_t commonSteps(const Golden& run, const RunOutcome& outcome) {
    const Golden trace = run.at("trace");
    size_t i = 0;
    while (i < outcome.scales.size() &&
           double{outcome.scales[i]} == trace.at(i).at("scale_before").number())
        ++i;
    return i;
}

CaseResult compareRun(const Golden& run, const RunOutcome& outcome) {
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

CaseResult checkRun(const Golden& run, const MakeExecutor& make) {
    const RunOutcome outcome = trainRun(run, make);
    const CaseResult strict = compareRun(run, outcome);
    if (strict.passed() || kindOf(run) == RunKind::Amp) return strict;
    // Trainings that have parted stay apart: a single step beyond its bound is a wrong value.
    if (stepsBeyond(run, outcome) < 2) return strict;
    const std::vector<double> freedom = lastBitFreedom(run, make, outcome);
    CaseResult widened;
    compareLosses(widened, run, outcome, outcome.losses.size(), freedom);
    if (!widened.passed()) return strict;
    widened.note = "the last bit of the starting weights moves the loss by up to " +
                   numberText(static_cast<float>(freedom.back())) + "; the bound is widened by it";
    return widened;
}

SuiteCases runsSuite(const Golden& golden, VerifyDevice& device) {
    SuiteCases suite;
    for (const Golden& run : golden.items()) {
        suite.cases.push_back(
            {runName(run), [run, &device] { return checkRun(run, device.make); }});
    }
    return suite;
}

} // namespace halfscope::recorded
