// Compares lanes by the steps in which they failed.
#include "engine/runs/divergence.h"

#include "engine/runs/run.h"
#include "engine/settings/layers.h"
#include "engine/settings/run_config.h"

#include <algorithm>
#include <vector>

namespace halfscope {

int divergedBeside(const RunConfig& config, std::span<const SkipTally* const> tallies, int lane) {
    const auto own = static_cast<size_t>(lane);
    const int64_t failed = tallies[own]->failedAt();
    const size_t known = std::min(tallies.size(), config.lanes.size());
    if (failed == 0 || isAdversarial(config.model)) return -1;
    if (own < known && computesInFloat32(config.lanes[own])) return -1;
    for (size_t i = 0; i < known; ++i)
        if (computesInFloat32(config.lanes[i]) && tallies[i]->lossRise().covers(failed))
            return static_cast<int>(i);
    return -1;
}

int divergedBeside(const RunSnapshot& run, int lane) {
    std::vector<const SkipTally*> tallies;
    for (int i = 0; i < run.laneCount(); ++i)
        tallies.push_back(&run.totals(i).skips());
    return divergedBeside(run.info().config, tallies, lane);
}

} // namespace halfscope
