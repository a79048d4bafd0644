// The state of a lane: every state of its step by name, as typed bytes. Forks, the rebuild of a
// lane's step, and runs that must leave no trace use it. It knows no files; those are left to
// others.
#pragma once

#include "engine/core/message.h"
#include "engine/core/typed_bytes.h"
#include "engine/exec/executor.h"
#include "engine/runs/best_value.h"
#include "engine/step/plateau.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

using StateValues = std::map<std::string, TypedBytes>; ///< by the states' names

/// The tensor that holds inf or nan although what it was computed from does not.
struct Culprit {
    /// "gradient of layers.1.weight", "gradient of the predictions", "forward pass of layer 1";
    /// empty when it is not known.
    Message tensor;
    bool reachedInf = false;

    bool operator==(const Culprit&) const = default;
};

/// The step at which a loss scale reached its floor, where the lane's rules stop there.
struct FloorStop {
    int64_t step = 0;
    float scale = 0;

    bool operator==(const FloorStop&) const = default;
};

/// The training samples that steps have seen, and how many of them were classified correctly.
struct SeenSamples {
    int64_t all = 0, right = 0;

    bool operator==(const SeenSamples&) const = default;
};

/// The best validation of a lane, and how many have come since without a better one.
struct SinceBest {
    std::optional<BestValue> best{};
    int64_t without = 0;

    bool operator==(const SinceBest&) const = default;
};

/// What a lane needs in order to go on after `step` with the same bits: on the same device, and
/// with the same settings, every later row and event is the same.
struct LaneState {
    int64_t step = 0; ///< the last one that was taken; 0 when there is none
    StateValues states;
    int64_t skipped = 0;       ///< how many steps so far
    bool lossWasBad = false;   ///< in the last step
    bool tookOverflow = false; ///< the last step, see steppedOnOverflow()
    Culprit culprit;           ///< of the last step; kept while the loss stays bad
    std::optional<FloorStop> atFloor;
    int64_t vanished = 0; ///< the last step whose gradients were all zero, see UnderflowWatch
    float faultScale = 0; ///< likewise, see FaultScale::scale()
    SeenSamples seen;     ///< of the epoch so far, where targets are classes
    Plateau plateau;      ///< where the rate follows the validation
    SinceBest sinceBest;  ///< see Patience; an experiment knows it, a Trainer does not
    /// What the step computed before it changed the weights, for pictures of it: no state of the
    /// step, and only there where it is asked for, see LastOutputs.
    std::optional<TypedBytes> prediction{};

    bool operator==(const LaneState&) const = default;
};

/// Set and return LaneState::prediction.
void setPrediction(LaneState&, std::span<const float> values);
std::optional<std::vector<float>> predictionOf(const LaneState&);

/// What a state tells of the lane's loss scaler.
struct ScalerFigures {
    float scale = 1;     ///< of the next step; 1 for a lane that does not scale its loss
    int64_t clean = 0;   ///< steps since the scale changed or a step was skipped
    int64_t skipped = 0; ///< steps so far
};
ScalerFigures scalerFiguresOf(const LaneState&);

enum class WhichStates : uint8_t {
    All,
    Written,     ///< those that the step changes; putting them back undoes a run
    WeightsOnly, ///< see isWeight()
};
StateValues downloadStates(Executor&, const Graph&, WhichStates);

/// Puts values into the graph's states of those names. A state that is stored in another dtype is
/// converted, with one rounding. Throws InputError, before anything is changed, for a name that the
/// step does not have, another shape, or a number of bytes that does not fit the shape.
void uploadStates(Executor&, const Graph&, const StateValues&);

/// Returns the values of those states that the graph has, too.
StateValues sharedStates(StateValues, const Graph&);

/// Copies the states of one step to another that has the same, such as the step for another batch
/// size. An epoch whose last batch is smaller does so twice, so the memory on the way is kept.
class StateCopy {
public:
    void run(Executor& from, const Graph& fromGraph, Executor& to, const Graph& toGraph);

private:
    std::vector<std::byte> m_bytes; ///< of the largest state
};

} // namespace halfscope
