// Names of events, and what is told apart by their formats.
#include "engine/runs/events.h"

namespace halfscope {

const char* nameOf(EventKind kind) {
    switch (kind) {
    case EventKind::Overflow: return "overflow";
    case EventKind::Growth: return "growth";
    case EventKind::Backoff: return "backoff";
    case EventKind::LossNotFinite: return "loss-not-finite";
    case EventKind::Edit: return "edit";
    case EventKind::Damaged: return "damaged-sample";
    case EventKind::Underflow: return "underflow";
    }
    return "";
}

bool tellsFork(const Message& text) {
    const Phrase format = text.format();
    return format == kForkOfLane || format == kForkOfScale;
}

} // namespace halfscope
