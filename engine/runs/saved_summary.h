// What summary.json tells of the machine that trained a run.
#pragma once

#include "engine/exec/executor.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

struct TrainedOn {
    DeviceInfo device;
    std::vector<size_t> laneBytes; ///< by lane, the most that a step held at once
};

/// Of a run of so many steps whose lanes have these names, see laneNames(). `path` names the file
/// in the errors: InputError "PATH: device.kind: "tpu" is not allowed: cpu or cuda", for whatever
/// no run writes, and for a summary of another run.
TrainedOn trainedOnOf(std::string_view text, const std::string& path,
                      std::span<const std::string> lanes, int64_t steps);

} // namespace halfscope
