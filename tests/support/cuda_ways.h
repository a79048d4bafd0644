// A step with chains that can be run in more than one way, on the fake CUDA machine with a clock of
// its own, for the tests of the search for the fastest way.
#pragma once

#include "engine/cuda/variants.h"
#include "tests/support/cuda_lane.h"

namespace halfscope::test {

using cuda::Platform;
using cuda::SourceOptions;

inline constexpr double kKernel = 1.5; ///< milliseconds of each kernel: a trial needs few launches
                                       ///< then
/// The variants that are tried, and one of last resort, as the fake machine has products by
/// warpgroups.
inline constexpr const char* kFirst = "collected and lean by warpgroups";
inline constexpr const char* kOther = "sums alone";
inline constexpr const char* kFrugal = "operands computed again";

/// A step with chains of products that can be run in more than one way.
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
    options.partBytes = 1 << 30; // and modules are counted
    return options;
}
inline bool has(const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
}
/// Whether a text belongs to the variant kFirst.
inline bool isFirstWay(const std::string& text) { return has(text, "kWarpgroups = true;"); }
/// Whether a text belongs to the variant kOther, which has sums but no product in its chains.
inline bool isOtherWay(const std::string& text) {
    return has(text, "hs::RowPass<") && !has(text, "hs::RowProduct<");
}
/// Returns options for a variant alone.
inline SourceOptions only(const std::string& name) {
    SourceOptions how;
    for (const cuda::Variant& variant : cuda::variantsOf(options(), 90))
        if (variant.name == name) how = variant.options;
    how.searchSeconds = 0;
    return how;
}
/// Sets the fake's clock so that the variant kOther is the fastest.
inline void makeOtherFast() {
    fakeCuda().millisecondsOf = [](const std::string& text, const std::string&) {
        return isOtherWay(text) ? 0.1 * kKernel : kKernel;
    };
}

/// Returns options with which a step can be run in one way only.
inline SourceOptions oneWay() {
    SourceOptions usual = options();
    usual.chainElements = SourceOptions{}.chainElements; // a step this small has no chains then
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
    /// Runs a step from the lane's start.
    std::vector<std::vector<std::byte>> step() {
        chained().upload(*executor);
        executor->run(RunMode::Captured);
        return valuesOf(*executor, chained().graph());
    }
};

/// Returns the number of launches in one run of a variant's step, the metrics' kernel included.
inline int launchesOf(const SourceOptions& variant) {
    Machine machine({}, variant);
    machine.load();
    fakeCuda().calls.clear();
    machine.executor->run(RunMode::Stepwise);
    const int launches = fakeCuda().calls["cuLaunchKernel"];
    fakeCuda().calls.clear();
    return launches;
}
/// Returns the number of a function's first call in the second variant's trial.
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
