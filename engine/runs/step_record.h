// What a step tells the outside: one plain row per step and lane, and the rare events in words.
#pragma once

#include <cstdint>
#include <string>

namespace halfscope {

enum StepFlag : uint32_t {
    kSkipped = 1,             ///< a gradient was not finite: the optimizer did not step
    kGrew = 2,                ///< the scale grew after this step
    kBackedOff = 4,           ///< the scale fell after this step
    kLossNotFinite = 8,       ///< the loss itself was inf or nan: no scale can cure that
    kAtFloor = 16,            ///< skipped with the scale at its floor, where the lane asks to stop
    kFirstStepped = 32,       ///< skipped by the second of two optimizers alone
    kSecondStepped = 64,      ///< skipped by the first of two optimizers alone
    kSteppedOnOverflow = 128, ///< a gradient was not finite and the lane asks to step all the same
};

struct StepRecord {
    int64_t step = 0; ///< 1 for the first
    int32_t lane = 0;
    uint32_t flags = 0;
    float loss = 0;            ///< unscaled
    float scale = 1;           ///< the loss scale that this step used
    int32_t growthTracker = 0; ///< after the step
    float learningRate = 0;
    float gradientNorm = 0;   ///< L2 of all unscaled gradients; not finite on an overflow
    double deviceSeconds = 0; ///< time of this lane's step on its device
    double wallSeconds = 0;   ///< since the experiment started, pauses left out
    int64_t skippedSoFar = 0;
};

enum class EventKind : uint8_t { Overflow, Growth, Backoff, LossNotFinite, Edit };
const char* nameOf(EventKind);

struct Event {
    EventKind kind = EventKind::Edit;
    int64_t step = 0;
    int32_t lane = 0; ///< -1: all lanes
    float scaleBefore = 1, scaleAfter = 1;
    std::string
        tensor; ///< Overflow, LossNotFinite: the first tensor with inf or nan; Edit: the field
    std::string text; ///< one plain sentence
};

} // namespace halfscope
