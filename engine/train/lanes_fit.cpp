// Adds up the memory of lanes.
#include "engine/train/lanes_fit.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/train/trainer.h"

#include <numeric>
#include <vector>

namespace halfscope {

void checkLanesFit(std::span<const size_t> bytes, const DeviceInfo& device) {
    const size_t wanted = std::accumulate(bytes.begin(), bytes.end(), size_t{0});
    if (device.memoryBytes == 0 || wanted <= device.memoryBytes) return;
    if (bytes.size() == 1)
        throw EngineError(phrase("Training", "%1: a lane needs %2 of memory, %3 has %4 for this "
                                             "program (use a smaller picture, batch or width)"),
                          device.kind, sizeText(wanted), device.name, sizeText(device.memoryBytes));
    throw EngineError(phrase("Training", "%1: %2 lanes need %3 of memory together, %4 has %5 for "
                                         "this program (use fewer lanes, or a smaller picture, "
                                         "batch or width)"),
                      device.kind, bytes.size(), sizeText(wanted), device.name,
                      sizeText(device.memoryBytes));
}

void checkLanesFree(std::span<const size_t> bytes, std::optional<size_t> free) {
    const size_t wanted = std::accumulate(bytes.begin(), bytes.end(), size_t{0});
    if (!free || wanted <= *free) return;
    if (bytes.size() == 1)
        throw EngineError(phrase("Training", "cpu: a lane needs %1 of memory, and only %2 is free "
                                             "(close other programs, or use a smaller picture, "
                                             "batch or width)"),
                          sizeText(wanted), sizeText(*free));
    throw EngineError(phrase("Training", "cpu: %1 lanes need %2 of memory together, and only %3 is "
                                         "free (close other programs, or use fewer lanes, or a "
                                         "smaller picture, batch or width)"),
                      bytes.size(), sizeText(wanted), sizeText(*free));
}

void checkLanesFree(std::span<const std::unique_ptr<Trainer>> lanes) {
    std::vector<size_t> bytes;
    for (const auto& lane : lanes) {
        const size_t own = lane->memory().bytesToFill, more = lane->instrumentMemory().bytesToFill;
        if (own + more > 0) bytes.push_back(own + more);
    }
    if (!bytes.empty()) checkLanesFree(bytes);
}

} // namespace halfscope
