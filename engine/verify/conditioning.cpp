// Draws rounded trainings until they differ by as much as the compared trainings do.
#include "engine/verify/conditioning.h"

#include "engine/core/error.h"
#include "engine/verify/suites.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <future>
#include <thread>

namespace halfscope::recorded {
namespace {

constexpr uint64_t kDrawsMemory = uint64_t{2} << 30;

/// The largest deviation of the draws so far, for each value up to each step.
class Noise {
public:
    explicit Noise(const Conditioning& training) : m_training(training) {
        for (const std::vector<double>& step : training.exact)
            m_most.emplace_back(step.size(), 0.0);
    }

    void add(const Trace& drawn) {
        require(drawn.size() <= m_most.size(), "a draw has no more steps than the training");
        for (size_t step = 0; step < drawn.size(); ++step)
            for (size_t i = 0; i < drawn[step].size(); ++i) {
                const double before = step > 0 ? m_most[step - 1][i] : 0;
                const double here = deviation(drawn, {step, i});
                m_most[step][i] = std::max({m_most[step][i], before, here});
            }
    }

    double most(Place place) const { return m_most[place.step][place.value]; }

    /// Returns how many steps there are up to the last place beyond the bound; 0 when there is
    /// none.
    size_t stepsInQuestion(const Compared& compared) const {
        size_t steps = compared.values.size();
        const auto within = [&](size_t step) {
            for (size_t i = 0; i < compared.values[step].size(); ++i)
                if (!(deviation(compared.values, {step, i}) <= compared.bound)) return false;
            return true;
        };
        while (steps > 0 && within(steps - 1))
            --steps;
        return steps;
    }

    /// Returns the first place beyond the bound and, if `explained`, beyond what the draws do.
    std::optional<Place> firstBeyond(const Compared& compared, bool explained) const {
        for (size_t step = 0; step < compared.values.size(); ++step)
            for (size_t i = 0; i < compared.values[step].size(); ++i) {
                const Place place{step, i};
                double allowed = compared.bound;
                if (explained)
                    allowed = std::max(allowed, kNoiseFreedom * compared.unit * most(place));
                if (!(deviation(compared.values, place) <= allowed)) return place;
            }
        return std::nullopt;
    }

private:
    double deviation(const Trace& trace, Place at) const {
        return deviationOf(trace[at.step][at.value], m_training.exact[at.step][at.value],
                           m_training.magnitude[at.step][at.value]);
    }

    const Conditioning& m_training;
    Trace m_most;
};

/// Formats a number of any size with two digits, independent of the locale.
std::string twoDigits(double value) {
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 2);
    return {text.data(), end.ptr};
}

} // namespace

Verdict judgeByRounding(const Conditioning& training, const Compared& ours, const Compared& file) {
    Noise noise(training);
    std::optional<Place> first = noise.firstBeyond(ours, false);
    const std::optional<Place> inFile = noise.firstBeyond(file, false);
    if (!first || (inFile && inFile->step < first->step)) first = inFile;
    if (!first) return {};
    const size_t steps = std::max(noise.stepsInQuestion(ours), noise.stepsInQuestion(file));
    const uint64_t threads = std::max(1U, std::thread::hardware_concurrency());
    const uint64_t atOnce =
        std::clamp<uint64_t>(kDrawsMemory / std::max<size_t>(training.bytes, 1), 1, threads);
    for (uint64_t seed = 1; seed <= training.draws; seed += atOnce) {
        std::vector<std::future<Trace>> drawn;
        for (uint64_t i = seed; i < seed + atOnce && i <= training.draws; ++i)
            drawn.push_back(std::async(std::launch::async, training.draw, i, steps));
        for (std::future<Trace>& trace : drawn) {
            noise.add(trace.get());
            if (!noise.firstBeyond(ours, true) && !noise.firstBeyond(file, true))
                return {first, noise.most(*first), std::nullopt};
        }
    }
    return {std::nullopt, 0, noise.firstBeyond(file, true)};
}

std::string undecidedText(const std::string& place, const Verdict& verdict, double bound) {
    return "cannot be decided in float32 from " + place + " on: even float64 is " +
           twoDigits(verdict.moved) + " off there once its results are rounded to float32, of " +
           twoDigits(bound) + " allowed";
}

std::string undecidedHalfText(const std::string& place, const Verdict& verdict, double bound) {
    return "cannot be decided in half precision from " + place +
           " on: starts that differ by 4e-06 are " + twoDigits(verdict.moved) +
           " apart there, of " + twoDigits(bound) + " allowed";
}

} // namespace halfscope::recorded
