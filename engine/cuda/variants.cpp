// The list of variants: each changes something that cannot be decided without the device.
#include "engine/cuda/variants.h"

#include "engine/core/error.h"

#include <cstdlib>

namespace halfscope::cuda {
namespace {

std::vector<Variant> allOf(const SourceOptions& usual, int capability) {
    std::vector<Variant> variants{{"usual", usual}};
    const auto add = [&](const char* name, Chains chains, const ChainWay& way) {
        Variant variant{name, usual};
        variant.options.chains = chains;
        variant.options.chainWay = way;
        variants.push_back(std::move(variant));
    };
    // What an H200 proved best of sixteen ways: the first one for large steps in 16 bits (x 1.5
    // compared with the usual way), the last one for 4-byte products and small steps.
    const ElementForm collected = ElementForm::Collected;
    if (capability == kWarpgroupCapability)
        add("collected and lean by warpgroups", Chains::Fused,
            {.form = collected, .lean = true, .warpgroups = true});
    // Fewer operations per element, for which the products' warps have to find the time; the
    // roundings differ from the CPU's. Also fewer instructions around the elements.
    add("collected and lean", Chains::Fused, {.form = collected, .lean = true});
    // The library's products against the memory that fused ones save.
    add("sums alone", Chains::Sums, {});
    // For devices that do not compile fused chains, or have no memory for what they keep.
    add("unfused", Chains::Unfused, {});
    add("operands computed again", Chains::Fused, {});
    variants.back().options.keepOperands = false;
    return variants;
}

} // namespace

std::vector<Variant> variantsOf(const SourceOptions& usual, int capability) {
    if (usual.chains != Chains::Fused || usual.searchSeconds <= 0) return {{"usual", usual}};
    std::vector<Variant> variants = allOf(usual, capability);
    const char* named = std::getenv("HALFSCOPE_CUDA_VARIANT");
    if (named == nullptr) return variants;
    std::string names;
    for (const Variant& variant : variants) {
        if (variant.name == named) return {variant};
        names += (names.empty() ? "" : ", ") + variant.name;
    }
    throw EngineError(
        phrase("Devices",
               "HALFSCOPE_CUDA_VARIANT: \"%1\" is not one of the ways to run a step: %2"),
        named, names);
}

} // namespace halfscope::cuda
