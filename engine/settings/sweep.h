// Many settings in one run: the values of a sweep become lanes, which share weights, data and
// batches, so that nothing but the swept settings sets them apart.
#pragma once

#include "engine/settings/fields.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// A lane's setting and the values to try.
struct Sweep {
    const Field* field = nullptr;
    std::vector<FieldValue> values; ///< checked, no two alike
};

/// "scaler.init_scale=2^10,2^16". InputError for what is no list of values of a lane's setting:
/// settings of the run, texts and paths, a value twice.
Sweep parseSweep(std::string_view text);

/// Every lane in which a swept setting means something becomes one lane for each of its values; of
/// several sweeps, one for each combination. Other lanes stay as they are. Forks and edits of lanes
/// go, as the lanes are others. InputError for more than 6 lanes, a setting that means nothing in
/// any lane and one that is swept twice.
void applySweeps(RunConfig&, std::span<const Sweep>);

/// What a lane has of the swept settings: "growth_interval 100, init_scale 2^16"; empty where they
/// mean nothing.
std::string sweptText(const RunConfig&, size_t lane, std::span<const Sweep>);

/// What is recorded of lanes that are replaced by others: forks and edits of lanes.
void forgetLanes(RunConfig&);

} // namespace halfscope
