// Names and order of events, and what is told apart by their formats.
#include "engine/runs/events.h"

#include <algorithm>
#include <tuple>

namespace halfscope {

namespace {

/// Returns what stands before the argument of a phrase that ends with it.
std::string_view beginOf(Phrase phrase) {
    const std::string_view text = phrase.text();
    return text.substr(0, text.find('%'));
}

/// Returns what stands for the argument of such a phrase; empty for other texts.
std::string_view argumentIn(std::string_view text, Phrase phrase) {
    const std::string_view begin = beginOf(phrase);
    return text.starts_with(begin) ? text.substr(begin.size()) : std::string_view();
}

/// Returns the fixed words between two arguments of a phrase. All versions have them in common, and
/// a file keeps them; the end of a sentence has changed.
constexpr std::string_view wordsBetween(Phrase phrase, std::string_view from, std::string_view to) {
    const std::string_view text = phrase.text();
    const size_t begin = text.find(from) + from.size();
    return text.substr(begin, text.find(to) - begin);
}

bool holds(const Message& text, std::string_view words) {
    return text.english().find(words) != std::string::npos;
}

} // namespace

const char* nameOf(EventKind kind) {
    switch (kind) {
    case EventKind::Overflow: return "overflow";
    case EventKind::Growth: return "growth";
    case EventKind::Backoff: return "backoff";
    case EventKind::LossNotFinite: return "loss-not-finite";
    case EventKind::Edit: return "edit";
    case EventKind::Damaged: return "damaged-sample";
    case EventKind::Underflow: return "underflow";
    case EventKind::RateFall: return "rate-fall";
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

// By the words: a checkpoint and a file of events keep no more of a message.
bool isBeforeScaling(std::string_view tensor) {
    return tensor == kLossTensor.text() || !layerOfForward(tensor).empty() || isOfData(tensor) ||
           !settingOfLargeInput(tensor).empty() || !optimizerOfZeroEpsilon(tensor).empty();
}

bool overflowedBeforeScaling(const Event& event) { return isBeforeScaling(event.tensor); }

bool isOfData(std::string_view tensor) {
    return tensor.starts_with(beginOf(kInputOf)) || tensor.starts_with(beginOf(kTargetOf));
}

Message dataMessage(std::string_view tensor) {
    const Phrase which = tensor.starts_with(beginOf(kInputOf)) ? kInputOf : kTargetOf;
    return {which, Message::number(tensor.substr(beginOf(which).size()))};
}

std::string_view settingOfLargeInput(std::string_view tensor) {
    return argumentIn(tensor, kInputBeyondHalf);
}

std::string_view layerOfForward(std::string_view tensor) {
    return argumentIn(tensor, kForwardPass);
}

std::string_view optimizerOfZeroEpsilon(std::string_view tensor) {
    return argumentIn(tensor, kZeroEpsilonOf);
}

bool isHelpless(const Event& event) {
    return event.kind == EventKind::Overflow &&
           event.text.english().ends_with(kNoScaleHelps.text());
}

bool isUnderflowOfFault(const Event& event) {
    constexpr std::string_view kWords = wordsBetween(kUnderflowOfFault, "%2", "%3");
    return event.kind == EventKind::Underflow && holds(event.text, kWords);
}

bool isOfTakenStep(const Event& event) {
    constexpr std::string_view kWords = wordsBetween(kTakenStep, "%1", "%2");
    return event.kind == EventKind::Overflow && holds(event.text, kWords);
}

bool concernsLane(const Event& event, size_t lane) {
    if (event.lane < 0) return event.kind == EventKind::Edit;
    return static_cast<size_t>(event.lane) == lane;
}

bool tellsFork(const Message& text) {
    const Phrase format = text.format();
    return format == kForkOfLane || format == kForkOfScale;
}

} // namespace halfscope
