// The sentences are those of events.h.
#include "engine/runs/edit_events.h"

#include "engine/scaler/grad_scaler.h"
#include "engine/settings/fields.h"
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

// By the words: a file of events keeps no more of the values.
bool setsScale(const Event& event) {
    if (event.kind != EventKind::Edit) return false;
    if (event.tensor == kLiveScale) return true;
    if (event.tensor != "scaler.mode") return false;
    const std::string words = event.text.english();
    const bool off = words.find(" set to off (") != std::string::npos;
    const bool wasOff = words.find("(before: off)") != std::string::npos;
    return off != wasOff;
}

} // namespace halfscope
