// What a run says about itself, for tests of sessions that train nothing.
#pragma once

#include "engine/runs/run.h"
#include "engine/settings/fields.h"

#include <utility>

namespace halfscope {

/// Returns the facts of a run on a CPU, without the sizes of its lanes.
inline RunInfo cpuRunInfo(RunConfig config = defaultConfig()) {
    RunInfo info;
    info.recorded = config;
    info.config = settingsAtEnd(std::move(config));
    info.device = DeviceInfo{"A CPU", "cpu", "a library 1.0", size_t{1} << 30};
    info.program = "0.1.0";
    info.memory.resize(info.config.lanes.size());
    return info;
}

} // namespace halfscope
