// Events: what happens rarely in a training, in words.
#pragma once

#include <cstdint>
#include <string>

namespace halfscope {

enum class EventKind : uint8_t { Overflow, Growth, Backoff, LossNotFinite, Edit };
/// As files and the command line show it: "loss-not-finite".
const char* nameOf(EventKind);

struct Event {
    EventKind kind = EventKind::Edit;
    int64_t step = 0;
    int32_t lane = 0; ///< -1: all lanes
    float scaleBefore = 1, scaleAfter = 1;
    /// Overflow, LossNotFinite: the first tensor with inf or nan; Edit: the field.
    std::string tensor;
    std::string text; ///< one plain sentence
};

} // namespace halfscope
