// A message is recognized by making it anew from the recorded settings.
#include "engine/runs/saved_forks.h"

#include "engine/scaler/grad_scaler.h"

namespace halfscope {

namespace {
constexpr std::string_view kForkEdit = "fork"; // Event::tensor
} // namespace

void recognizeFork(Event& event, std::span<const LaneInfo> planned) {
    const auto lane = static_cast<size_t>(event.lane);
    if (event.kind != EventKind::Edit || event.tensor != kForkEdit || event.lane < 0 ||
        lane >= planned.size() || planned[lane].parent < 0)
        return;
    event.parent = planned[lane].parent;
    const std::string &name = planned[lane].name,
                      &from = planned[static_cast<size_t>(event.parent)].name;
    const Message scale = scaleText(static_cast<float>(planned[lane].config.scaler.initScale));
    for (const Message& text : {Message(kForkOfLane, event.step, name, from),
                                Message(kForkOfScale, event.step, name, from, scale)})
        if (text == event.text) event.text = text;
}

} // namespace halfscope
