// The list of variants: each changes something that cannot be decided without the device.
#include "engine/cuda/variants.h"

#include "engine/core/error.h"

#include <cstdlib>
#include <string_view>

namespace halfscope::cuda {
namespace {

std::vector<Variant> allOf(const SourceOptions& usual, int capability) {
    std::vector<Variant> variants{{"usual", usual}};
    const auto add = [&](const char* name, Chains chains, TileLimits tiles, bool keepOperands) {
        Variant variant{name, usual};
        variant.options.chains = chains;
        variant.options.tiles = tiles;
        variant.options.keepOperands = keepOperands;
        variants.push_back(std::move(variant));
    };
    // Fewer operations per element, for which the products' warps have to find the time; the
    // roundings differ from the CPU's. It is second, so that a search that is cut short has tried
    // it.
    const ElementForm collected = ElementForm::Collected;
    add("collected", Chains::Fused, {0, 0, 0, 0, collected}, true);
    // One pass over memory less; in one of the remaining ones each row is walked twice.
    add("collected in one pass", Chains::Fused, {0, 0, 0, 0, ElementForm::OnePass}, true);
    // Also fewer instructions around the elements; requests the same lines in another rhythm.
    add("collected and lean", Chains::Fused, {0, 0, 0, 0, collected, true}, true);
    add("collected in one pass and lean", Chains::Fused, {0, 0, 0, 0, ElementForm::OnePass, true},
        true);
    // Products in 16 bits take hardly any instructions and run while all warps compute.
    if (capability == kWarpgroupCapability) {
        add("collected and lean by warpgroups", Chains::Fused, {0, 0, 0, 0, collected, true, true},
            true);
        add("collected in one pass and lean by warpgroups", Chains::Fused,
            {0, 0, 0, 0, ElementForm::OnePass, true, true}, true);
    }
    // Registers against shared memory, depending on which of them a device lacks.
    add("tiles of 128 x 128", Chains::Fused, {128, 128, 0}, true);
    add("tiles of 64 x 256", Chains::Fused, {64, 256, 0}, true);
    add("tiles of 128 x 256 x 64", Chains::Fused, {128, 256, 64}, true);
    // A picture of 64 x 64 has 32 tiles of 128 rows, for four times as many multiprocessors.
    add("collected in tiles of 64 x 128", Chains::Fused, {64, 128, 0, 0, collected}, true);
    // Two blocks take turns with what one does alone: one computes while the other one waits.
    add("two blocks of 128 x 128", Chains::Fused, {128, 128, 0, 2}, true);
    add("collected in two blocks of 128 x 128", Chains::Fused, {128, 128, 0, 2, collected}, true);
    // Arithmetic against memory: computing what is expensive twice, or reading it.
    add("operands computed again", Chains::Fused, {}, false);
    // The library's products against the memory that fused ones save.
    add("sums alone", Chains::Sums, {}, true);
    add("unfused", Chains::Unfused, {}, true);
    return variants;
}

} // namespace

std::vector<Variant> variantsOf(const SourceOptions& usual, int capability) {
    if (usual.chains != Chains::Fused || usual.searchSeconds <= 0) return {{"usual", usual}};
    std::vector<Variant> variants = allOf(usual, capability);
    const char* named = std::getenv("HALFSCOPE_CUDA_VARIANT");
    if (named == nullptr) return variants;
    // as tables show it; whether launches overlap is measured in any case
    std::string_view wanted = named;
    if (wanted.ends_with(kOverlappedEnding)) wanted.remove_suffix(kOverlappedEnding.size());
    std::string names;
    for (const Variant& variant : variants) {
        if (variant.name == wanted) return {variant};
        names += (names.empty() ? "" : ", ") + variant.name;
    }
    throw EngineError(
        phrase("Devices",
               "HALFSCOPE_CUDA_VARIANT: \"%1\" is not one of the ways to run a step: %2"),
        named, names);
}

} // namespace halfscope::cuda
