// Compares place by place; evaluates PyTorch's rules in float64 where float32 differs.
#include "engine/verify/judge_optimizer.h"

#include "engine/core/random_rounding.h"
#include "engine/core/text.h"
#include "engine/verify/float64_optimizer.h"

#include <algorithm>
#include <cmath>

namespace halfscope::recorded {
namespace {

std::string placeText(size_t step, size_t element) {
    return "step " + std::to_string(step + 1) + ", element " + std::to_string(element);
}

Trace traceOf(const Golden& rows, const Shape& shape) {
    Trace trace;
    for (const Golden& row : rows.items())
        trace.push_back(row.tensor(shape));
    return trace;
}

} // namespace

RecordedOptimizer recordedOptimizer(const Golden& row) {
    RecordedOptimizer recorded;
    for (const float value : row.at("start").floats())
        recorded.start.push_back(double{value});
    if (recorded.start.empty())
        row.at("start").fail(phrase("Verification", "at least one number is expected"));
    const Shape shape{static_cast<int64_t>(recorded.start.size())};
    recorded.gradients = traceOf(row.at("grads"), shape);
    recorded.parameters = traceOf(row.at("params"), shape);
    if (recorded.parameters.size() != recorded.gradients.size())
        row.at("params").fail({phrase("Verification", "%1 steps are expected, as many as of grads"),
                               recorded.gradients.size()});
    std::vector<double> largest(recorded.start.size(), 0);
    for (size_t i = 0; i < largest.size(); ++i)
        largest[i] = std::fabs(recorded.start[i]);
    for (const std::vector<double>& step : recorded.parameters) {
        for (size_t i = 0; i < step.size(); ++i)
            largest[i] = std::max(largest[i], std::fabs(step[i]));
        recorded.magnitude.push_back(largest);
    }
    return recorded;
}

CaseResult compareParameters(const RecordedOptimizer& wanted, const Trace& got) {
    CaseResult result;
    for (size_t step = 0; step < wanted.parameters.size(); ++step)
        for (size_t i = 0; i < got[step].size(); ++i) {
            const double p = got[step][i], recorded = wanted.parameters[step][i];
            result.add(deviationOf(p, recorded, wanted.magnitude[step][i]), kOptimBound,
                       [&] { return placeText(step, i) + ": " + numberPair(p, recorded); });
        }
    return result;
}

CaseResult judgeOptimizer(const OptimizerConfig& config, const RecordedOptimizer& wanted,
                          const Trace& got, const CaseResult& failed) {
    const auto traced = [&](const Rounding& rounding, size_t steps) {
        return optimizerTrace(config, wanted.start, std::span(wanted.gradients).first(steps),
                              rounding);
    };
    Conditioning training;
    training.exact = traced([](double x) { return x; }, got.size());
    training.magnitude = wanted.magnitude;
    training.draw = [&](uint64_t seed, size_t steps) {
        return traced(RandomRounding(seed, 0, 1), steps);
    };
    training.draws = kOptimizerDraws;
    const Verdict verdict = judgeByRounding(training, {got, kOptimBound, 1},
                                            {wanted.parameters, kFloat64OptimBound, kFloat64Unit});
    CaseResult result = failed;
    if (verdict.wrongFile) {
        const auto [step, i] = *verdict.wrongFile;
        result.difference += "; the file has " + numberText(wanted.parameters[step][i]) + " at " +
                             placeText(step, i) + " where float64 here has " +
                             numberText(training.exact[step][i]);
    }
    if (!verdict.undecided) return result;
    const auto [first, element] = *verdict.undecided;
    RecordedOptimizer decided = wanted;
    decided.parameters.resize(first);
    result = compareParameters(decided, got);
    result.illPosed = undecidedText(placeText(first, element), verdict, kOptimBound);
    return result;
}

} // namespace halfscope::recorded
