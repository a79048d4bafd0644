// Adds up the memory of lanes.
#include "engine/train/lanes_fit.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <cmath>
#include <numeric>

namespace halfscope {

namespace {

std::string gib(size_t bytes) {
    constexpr double kGib = 1 << 30;
    return numberText(std::round(static_cast<double>(bytes) / kGib * 10) / 10) + " GiB";
}

} // namespace

void checkLanesFit(std::span<const size_t> bytes, const DeviceInfo& device) {
    const size_t wanted = std::accumulate(bytes.begin(), bytes.end(), size_t{0});
    if (device.memoryBytes == 0 || wanted <= device.memoryBytes) return;
    throw EngineError(phrase("Training", "%1: %2 lanes need %3 of memory together, %4 has %5 (use "
                                         "fewer lanes, or a smaller picture, batch or width)"),
                      device.kind, bytes.size(), gib(wanted), device.name, gib(device.memoryBytes));
}

} // namespace halfscope
