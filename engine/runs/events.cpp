// Names and order of events, and what is told apart by their formats.
#include "engine/runs/events.h"

#include <algorithm>
#include <tuple>

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
    case EventKind::Other: break;
    }
    return "";
}

bool isKindName(std::string_view name) {
    constexpr size_t kMost = 40;
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    return !name.empty() && name.size() <= kMost && std::all_of(name.begin(), name.end(), fits);
}

std::string_view kindNameOf(const Event& event) {
    return event.kind == EventKind::Other ? std::string_view(event.otherKind) : nameOf(event.kind);
}

void setKind(Event& event, std::string_view name) {
    int kind = 0;
    while (kind < static_cast<int>(EventKind::Other) && name != nameOf(EventKind(kind)))
        ++kind;
    event.kind = EventKind(kind);
    event.otherKind = event.kind == EventKind::Other ? name : std::string_view();
}

bool isToldBefore(const Event& a, const Event& b) {
    const auto place = [](const Event& event) {
        return std::tuple(event.step, event.kind != EventKind::Edit, event.lane);
    };
    return place(a) < place(b);
}

bool tellsFork(const Message& text) {
    const Phrase format = text.format();
    return format == kForkOfLane || format == kForkOfScale;
}

} // namespace halfscope
