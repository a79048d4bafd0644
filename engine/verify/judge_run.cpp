// Asks the reference evaluator for the losses of a recorded training, with and without roundings.
#include "engine/verify/judge_run.h"

#include "engine/core/text.h"
#include "engine/verify/conditioning.h"
#include "engine/verify/reference_training.h"

#include <cmath>

namespace halfscope::recorded {
namespace {

/// The relative difference between float32 sums of tens of terms in different orders, before they
/// are rounded to half precision.
constexpr float kOtherOrder = 0x1p-18f;

/// The most memory, in bytes, for repeating a training: the reference evaluator keeps every value
/// of a step in double.
constexpr double kMostBytes = 0x1p32;
double bytesOf(const Golden& run) {
    constexpr double kValues = 60; // values the size of a layer's output, for three layers with
                                   // norms
    const bool picture = run.at("kind").text() == "checkerboard";
    const double side = picture ? run.at("side").number() : 1;
    const double rows = picture ? side * side : static_cast<double>(run.at("input").size());
    const auto width = static_cast<double>(run.at("start").at("0.bias").numbers().size());
    return rows * width * kValues * sizeof(double);
}

/// The trainings that are compared.
struct Question {
    Conditioning training;
    Compared ours, file;
};

template <class Losses>
Trace traceOf(const Losses& losses) {
    Trace trace;
    for (const auto loss : losses)
        trace.push_back({double{loss}});
    return trace;
}

/// Returns losses and loss scales.
Trace scaledTrace(const TrainedRun& outcome) {
    Trace trace;
    for (size_t i = 0; i < outcome.losses.size(); ++i)
        trace.push_back({double{outcome.losses[i]}, double{outcome.scales[i]}});
    return trace;
}

Question askFloat64(const Golden& run, const TrainedRun& outcome) {
    const bool exactFile = kindOf(run) == RunKind::Float64;
    // A float32 file may have departed from float64 as ours did.
    Question question{{},
                      {traceOf(outcome.losses), kFloat32Bound, 1},
                      {{}, kFloat32Bound, exactFile ? kFloat64Unit : 1}};
    if (exactFile) question.file.bound = float64Bound(run);
    for (const Golden& step : run.at("trace").items())
        question.file.values.push_back({step.at("loss").number()});
    const std::vector<double> exact =
        referenceLosses(run, RefRounding::None, outcome.losses.size());
    question.training.exact = traceOf(exact);
    question.training.draw = [&run](uint64_t seed, size_t steps) {
        return traceOf(referenceLosses(run, RefRounding::Random, steps, seed));
    };
    // No training amplifies float64's own roundings this far: a wrong file needs no draws.
    for (size_t i = 0; exactFile && i < exact.size(); ++i)
        if (!(deviationOf(question.file.values[i][0], exact[i], std::fabs(exact[i])) <=
              question.file.bound))
            question.training.draws = 0;
    return question;
}

Question askHalf(const Golden& run, const TrainedRun& outcome) {
    const double bound = lossBound(run) / 2; // each is compared with a third training, so together
                                             // they may be the whole bound apart
    Question question{{}, {scaledTrace(outcome), bound, 1}, {{}, bound, 1}};
    for (const Golden& step : run.at("trace").items())
        question.file.values.push_back(
            {step.at("loss").number(), step.at("scale_before").number()});
    question.training.exact = scaledTrace(storedOutcome(run, outcome.losses.size()));
    question.training.draw = [&run](uint64_t seed, size_t steps) {
        return scaledTrace(storedOutcome(run, steps, {seed, kOtherOrder}));
    };
    return question;
}

std::string stepText(size_t step) { return "step " + std::to_string(step + 1); }

} // namespace

double float64Bound(const Golden& run) {
    return run.textOr("extra", "") == "onecycle" ? 1e-7 : 1e-9;
}

CaseResult judgeRun(const Golden& run, const TrainedRun& outcome, const CaseResult& failed) {
    const bool half = kindOf(run) == RunKind::Amp;
    CaseResult result = failed;
    const double bytes = bytesOf(run);
    if (bytes > kMostBytes) {
        result.difference += "; the training is too large to be repeated in float64";
        return result;
    }
    Question question = half ? askHalf(run, outcome) : askFloat64(run, outcome);
    question.training.bytes = static_cast<size_t>(bytes);
    const Trace& exact = question.training.magnitude = question.training.exact;
    const Verdict verdict = judgeByRounding(question.training, question.ours, question.file);
    if (verdict.wrongFile && !half) {
        const size_t step = verdict.wrongFile->step;
        result.difference += "; the file has loss " + numberText(question.file.values[step][0]) +
                             " at " + stepText(step) + " where float64 here has " +
                             numberText(exact[step][0]);
    }
    if (!verdict.undecided) return result;
    result = {};
    const size_t first = verdict.undecided->step;
    compareLosses(result, run, outcome, first);
    result.illPosed = half ? undecidedHalfText(stepText(first), verdict, question.ours.bound)
                           : undecidedText(stepText(first), verdict, question.ours.bound);
    return result;
}

} // namespace halfscope::recorded
