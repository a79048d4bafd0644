// The events that tell of edits and forks in the middle of a run.
#pragma once

#include "engine/runs/events.h"
#include "engine/settings/run_config.h"

#include <span>
#include <string>
#include <string_view>

namespace halfscope {

/// The key of the event that gradients are not counted any more.
inline constexpr std::string_view kGradientsEdit = "gradients";

/// Returns the event of a setting that changes from `step` on; lane -1 means the run. `change` has
/// the words of editWords(), and `names` those of the lanes.
Event editEvent(int64_t step, int lane, std::string_view key, const Message& change,
                std::span<const std::string> names);
/// Returns the event of the last lane, which goes on by itself from `step` on. `config` has it.
Event forkEvent(int64_t step, int parent, const RunConfig& config,
                std::span<const std::string> names);

/// Whether a lane goes on at a loss scale that no overflow has left: the event sets the scale, or
/// switches scaling on or off. Also for a saved event.
bool setsScale(const Event&);

} // namespace halfscope
