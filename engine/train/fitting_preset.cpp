// Tries all presets in their order.
#include "engine/train/fitting_preset.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"

#include <span>

namespace halfscope {
namespace {

/// Nothing, too, for a preset whose data cannot be read.
std::optional<StateDictFit> fitOfPreset(const std::string& path, const SafetensorsInfo& header,
                                        const Preset& preset) {
    try {
        return wholeFit(path, header, preset.config);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

} // namespace

std::optional<FittingPreset> fittingPreset(const std::string& path) {
    const SafetensorsInfo header = stateDictHeader(path);
    std::optional<FittingPreset> renamed;
    const std::span<const Preset> all = presets();
    for (const Preset& preset : all) {
        checkCancelled();
        std::optional<StateDictFit> fit = fitOfPreset(path, header, preset);
        if (!fit || (renamed && !fit->pairs.empty())) continue;
        FittingPreset found{preset.name, std::move(*fit)};
        if (found.fit.pairs.empty()) return found;
        renamed = std::move(found);
    }
    return renamed;
}

} // namespace halfscope
