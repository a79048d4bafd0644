// A training that float32 cannot decide, for tests of verify: a recorded one from other starts,
// with losses computed in float64 here, until float32 exceeds the bound.
#pragma once

#include "engine/verify/golden_data.h"
#include "engine/verify/reference_training.h"

#include <random>

namespace halfscope::test {

using namespace recorded;
using nlohmann::json;

inline constexpr int kSide = 12; ///< a quarter of the recorded pixels, because judging takes many
                                 ///< trainings
inline constexpr uint32_t kStarts = 40; ///< about every fifth is ill-posed

inline TrainedRun trained(const Golden& run) {
    return trainRun(run, [] { return makeCpuExecutor(1); });
}

inline Golden goldenFrom(const json& run) { return Golden::parse("a run", run.dump()); }

/// Returns the first recorded run of a kind; `precision` is "float64", "float32", or the dtype of
/// AMP.
inline json shipped(const char* kind, const std::string& precision) {
    const std::string file(goldenData(goldenFileOf("runs")));
    for (const Golden& run : casesOf(Golden::parse("runs", file)).items())
        if (run.at("kind").text() == kind &&
            run.textOr("amp", run.at("compute").text()) == precision)
            return json::parse(run.dump());
    return {};
}

inline void move(json& value, std::mt19937& random) {
    if (value.is_structured())
        for (json& each : value)
            move(each, random);
    else // the standard defines the generator's numbers, not those of its distributions
        value = value.get<double>() * (1 + (static_cast<double>(random()) * 0x1p-32 - 0.5) / 8);
}

/// Returns the recorded run from another start, with losses computed in float64 here: a file of the
/// same form.
inline json otherRun(uint32_t seed) {
    json run = shipped("checkerboard", "float64");
    run["side"] = kSide;
    std::mt19937 random(seed);
    for (auto& [name, values] : run["start"].items())
        if (name.find("running") == std::string::npos) move(values, random);
    const std::vector<double> losses =
        referenceLosses(goldenFrom(run), RefRounding::None, run["trace"].size());
    for (size_t i = 0; i < losses.size(); ++i)
        run["trace"][i]["loss"] = losses[i];
    return run;
}

/// A run whose float64 losses are right, and which float32 fails here.
struct IllPosed {
    json run;
    TrainedRun outcome;
};
inline const IllPosed& illPosed() {
    static const IllPosed found = [] {
        for (uint32_t seed = 1; seed <= kStarts; ++seed) {
            IllPosed tried{otherRun(seed), {}};
            const Golden golden = goldenFrom(tried.run);
            tried.outcome = trained(golden);
            if (!compareRun(golden, tried.outcome).passed()) return tried;
        }
        return IllPosed{};
    }();
    return found;
}

/// Returns a recorded half-precision run at seven times the learning rate, with the losses and
/// scales of another engine: ours, from a start moved as much as another order of sums would move
/// it.
inline const IllPosed& illPosedHalf() {
    static const IllPosed found = [] {
        IllPosed tried{shipped("checkerboard", "float16"), {}};
        tried.run["side"] = kSide;
        tried.run["lr"] = 7e-3;
        tried.outcome = trained(goldenFrom(tried.run));
        for (uint64_t seed = 1; seed <= kStarts; ++seed) {
            const TrainedRun other = trainRun(goldenFrom(tried.run),
                                              [] { return makeCpuExecutor(1); }, {seed, 0x1p-18f});
            for (size_t i = 0; i < other.losses.size(); ++i) {
                const bool last = i + 1 == other.scales.size();
                tried.run["trace"][i] = {
                    {"loss", other.losses[i]},
                    {"scale_before", other.scales[i]},
                    {"scale_after", last ? other.nextScale : other.scales[i + 1]}};
            }
            if (!compareRun(goldenFrom(tried.run), tried.outcome).passed()) return tried;
        }
        return IllPosed{};
    }();
    return found;
}

} // namespace halfscope::test
