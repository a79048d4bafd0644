// Finds the first step beyond the bound, and a rounded float64 training that leaves it no later.
#include "engine/verify/conditioning.h"

#include "engine/core/text.h"
#include "engine/verify/float64_training.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace halfscope::recorded {
namespace {

/// A last bit of each weight: moves the roundings of everything that follows.
constexpr float kLastBit = 0x1p-23f;

double relative(double value, double wanted) {
    return deviationOf(value, wanted, std::fabs(wanted));
}

/// The first step at which they are farther apart than `bound`; their number where none is.
template <class Losses>
size_t firstApart(const Losses& losses, const std::vector<double>& exact, double bound) {
    size_t step = 0;
    while (step < losses.size() && relative(double{losses[step]}, exact[step]) <= bound)
        ++step;
    return step;
}

/// Where rounding alone leaves the bound, and how far it goes there.
struct Horizon {
    size_t step = 0;
    double moved = 0;
};
std::optional<Horizon> horizonOf(const Golden& run, const std::vector<double>& exact, size_t last) {
    for (uint64_t seed = 1; seed <= kDraws; ++seed) {
        const std::vector<double> drawn =
            float64Losses(run, RefRounding::Storage, last + 1, {seed, kLastBit});
        const size_t step = firstApart(drawn, exact, kFloat32Bound);
        if (step < drawn.size()) return Horizon{step, relative(drawn[step], exact[step])};
    }
    return std::nullopt;
}

/// Of any size, in any locale.
std::string twoDigits(double value) {
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 2);
    return {text.data(), end.ptr};
}

std::string stepText(size_t step) { return "step " + std::to_string(step + 1); }

} // namespace

double float64Bound(const Golden& run) {
    return run.textOr("extra", "") == "onecycle" ? 1e-7 : 1e-9;
}

CaseResult judgeByFloat64(const Golden& run, const RunOutcome& outcome, const CaseResult& failed) {
    std::vector<double> file;
    for (const Golden& step : run.at("trace").items())
        file.push_back(step.at("loss").number());
    const std::vector<double> exact = float64Losses(run, RefRounding::None, file.size());
    CaseResult result = failed;
    if (kindOf(run) == RunKind::Float64) {
        const size_t wrong = firstApart(file, exact, float64Bound(run));
        if (wrong < file.size()) {
            result.difference += "; the file has loss " + numberText(file[wrong]) + " at " +
                                 stepText(wrong) + " where float64 here has " +
                                 numberText(exact[wrong]);
            return result;
        }
    }
    // Both float32 trainings, ours and the file's, may have parted from float64.
    const size_t first = std::min(firstApart(outcome.losses, exact, kFloat32Bound),
                                  firstApart(file, exact, kFloat32Bound));
    if (first == file.size()) return result;
    const bool near = firstApart(outcome.losses, exact, kUndecidedBound) == file.size() &&
                      firstApart(file, exact, kUndecidedBound) == file.size();
    const std::optional<Horizon> horizon =
        near ? horizonOf(run, exact, first) : std::optional<Horizon>();
    if (!horizon) return result;
    result = {};
    for (size_t i = 0; i < horizon->step; ++i)
        result.add(relative(double{outcome.losses[i]}, file[i]), lossBound(run), [] { return ""; });
    result.illPosed = "not to be decided in float32 from " + stepText(horizon->step) +
                      " on: float64 itself is " + twoDigits(horizon->moved) +
                      " off there once its values are rounded to float32 (the runs compared part "
                      "at " +
                      stepText(first) + ")";
    return result;
}

} // namespace halfscope::recorded
