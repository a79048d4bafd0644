// The list of variants: each changes something that cannot be decided without the device.
#include "engine/cuda/variants.h"

#include "engine/core/error.h"

#include <cstdlib>

namespace halfscope::cuda {
namespace {

std::vector<Variant> allOf(const SourceOptions& usual, int capability) {
    std::vector<Variant> variants;
    const auto add = [&](const char* name, Chains chains, const ChainWay& way) -> Variant& {
        Variant& variant = variants.emplace_back(Variant{name, usual});
        variant.options.chains = chains;
        variant.options.chainWay = way;
        return variant;
    };
    // Fewer operations per element, for which the products' warps have to find the time, and fewer
    // instructions around the elements. On an H200 it took 0.79 to 0.96 of the time of chains with
    // elements as written, and by warpgroups 0.59 to 0.79 of it in 16 bits.
    const bool warpgroups = capability == kWarpgroupCapability;
    add(warpgroups ? "collected and lean by warpgroups" : "collected and lean", Chains::Fused,
        {.form = ElementForm::Collected, .lean = true, .warpgroups = warpgroups});
    // The library's products against the memory that fused ones save: the fastest on an H200 for
    // 4-byte products and for small steps.
    add("sums alone", Chains::Sums, {});
    // For steps that have no room for what the others keep, and devices that compile no chains.
    Variant& frugal = add("operands computed again", Chains::Fused, {});
    frugal.options.keepOperands = false;
    frugal.lastResort = true;
    add("unfused", Chains::Unfused, {}).lastResort = true;
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
        if (variant.name == named) return {{variant.name, variant.options}};
        names += (names.empty() ? "" : ", ") + variant.name;
    }
    throw EngineError(
        phrase("Devices",
               "HALFSCOPE_CUDA_VARIANT: \"%1\" is not one of the ways to run a step: %2"),
        named, names);
}

} // namespace halfscope::cuda
