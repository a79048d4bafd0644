// The sentences are those of events.h.
#include "engine/runs/edit_events.h"

#include "engine/scaler/grad_scaler.h"
#include "engine/settings/precision.h"

namespace halfscope {

Event editEvent(int64_t step, int lane, std::string_view key, const Message& change,
                std::span<const std::string> names) {
    Event event;
    event.kind = EventKind::Edit;
    event.step = step;
    event.lane = lane;
    event.tensor = key;
    event.text = {kEditOfAll, step, change};
    if (lane >= 0) event.text = {kEditOfLane, step, change, names[static_cast<size_t>(lane)]};
    return event;
}

Event forkEvent(int64_t step, int parent, const RunConfig& config,
                std::span<const std::string> names) {
    Event event;
    event.kind = EventKind::Edit;
    event.step = step;
    event.lane = static_cast<int32_t>(config.lanes.size()) - 1;
    event.tensor = "fork";
    event.parent = parent;
    const std::string& name = names.back();
    const std::string& from = names[static_cast<size_t>(parent)];
    const LaneConfig &own = config.lanes.back(), &other = config.lanes[static_cast<size_t>(parent)];
    event.text = {kForkOfLane, step, name, from};
    if (scalesLoss(own) && scalesLoss(other) && own.scaler.initScale != other.scaler.initScale)
        event.text = {kForkOfScale, step, name, from,
                      scaleText(static_cast<float>(own.scaler.initScale))};
    return event;
}

} // namespace halfscope
