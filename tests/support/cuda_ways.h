// A step with chains, of which there is more than one way, on the fake CUDA machine with a clock of
// its own, for the tests of the search among them.
#pragma once

#include "engine/cuda/variants.h"
#include "tests/support/cuda_lane.h"

namespace halfscope::test {

using cuda::Platform;
using cuda::SourceOptions;

inline constexpr double kKernel = 1.5; ///< milliseconds of each: few launches take a trial's time
inline constexpr const char* kLow = "tiles of 64 x 256";
inline constexpr const char* kLowText = "kTileM = 64;"; ///< only its text has it, as written

/// A step with chains of products, of which there is more than one way.
inline const Loaded& chained() {
    static const Loaded lane = [] {
        RunConfig config = smallRun(Precision::AmpFp16);
        config.model = {16, 1, Norm::BatchNorm, Activation::Relu};
        return Loaded(config, {128, 2, 1});
    }();
    return lane;
}
inline SourceOptions options() {
    SourceOptions options;
    options.chainElements = 1;
    options.searchSeconds = 1e9; // the emulator is slow
    return options;
}
inline bool has(const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
}
/// Whether it is the text of the variant of low tiles, or its share of mixed ones.
inline bool isLowWay(const std::string& text) {
    return has(text, kLowText) && !has(text, "float g0;"); // collected, another variant has it too
}
/// The fake's clock: the variant of low tiles is the fastest.
inline void makeLowFast() {
    fakeCuda().millisecondsOf = [](const std::string& text, const std::string&) {
        return isLowWay(text) ? 0.1 * kKernel : kKernel;
    };
}

/// Launches that overlap, in half the time of others.
inline void makeOverlapFast() {
    fakeCuda().overlaps = true;
    fakeCuda().overlappedMilliseconds = 0.5 * kKernel;
}
/// A step of which there is one way alone.
inline SourceOptions oneWay() {
    SourceOptions usual = options();
    usual.chainElements = SourceOptions{}.chainElements; // so small a step then has no chains
    return usual;
}

inline VariantTime variantOf(const Executor& executor, const std::string& name) {
    for (const VariantTime& variant : executor.variants())
        if (variant.name == name) return variant;
    return {};
}
inline std::string chosenOf(const Executor& executor) {
    std::string chosen;
    for (const VariantTime& variant : executor.variants())
        if (variant.chosen) chosen += variant.name;
    return chosen;
}

struct Machine {
    Platform platform{fakeCuda().api()};
    std::unique_ptr<Executor> executor;
    explicit Machine(const std::string& cache = {}, const SourceOptions& how = options())
        : executor(fakeExecutor(platform, how, cache)) {}
    void load() { executor->load(chained().program); }
    /// A step from the lane's start.
    std::vector<std::vector<std::byte>> step() {
        chained().upload(*executor);
        executor->run(RunMode::Captured);
        return valuesOf(*executor, chained().graph());
    }
};

/// Launches of one run of the usual step, the metrics' kernel included.
inline int launchesOfUsual() {
    SourceOptions usual = options();
    usual.searchSeconds = 0;
    Machine machine({}, usual);
    machine.load();
    fakeCuda().calls.clear();
    machine.executor->run(RunMode::Stepwise);
    const int launches = fakeCuda().calls["cuLaunchKernel"];
    fakeCuda().calls.clear();
    return launches;
}
/// The number of a function's first call in the second variant's trial.
inline int firstCallOfSecond(const std::string& function) {
    int modules = 0, call = 1;
    fakeCuda().watch = [&](const std::string& called) {
        if (called == function && modules < 2) ++call;
        if (called == "cuModuleLoadData" && ++modules == 2 && called == function) --call;
    };
    Machine machine;
    machine.load();
    fakeCuda().watch = {};
    fakeCuda().calls.clear();
    return call;
}

} // namespace halfscope::test
