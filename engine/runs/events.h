// Events: the rare things that happen in a training, in words.
#pragma once

#include "engine/core/message.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace halfscope {

/// Sessions of earlier versions hold the numbers up to Underflow.
enum class EventKind : uint8_t {
    Overflow,
    Growth,
    Backoff,
    LossNotFinite,
    Edit,
    Damaged,
    Underflow,
    RateFall,
    Other ///< of a later version; Event::otherKind has its name
};
inline constexpr int kEventKinds = 9;
/// The name in files and on the command line: "loss-not-finite"; empty for Other.
const char* nameOf(EventKind);
/// Whether a kind of another version may have this name: lower-case letters, digits and hyphens.
bool isKindName(std::string_view);

/// The sentences about edits: the step, what changed, the lane. A window that shows lanes under
/// other names takes the sentences apart again.
inline constexpr Phrase kEditOfAll = phrase("Events", "From step %1: %2.");
inline constexpr Phrase kEditOfLane = phrase("Events", "From step %1: %2 in lane %3.");
inline constexpr Phrase kForkOfLane = phrase("Events", "From step %1: lane %2 continues lane %3.");
/// The same for a fork whose settings have another first loss scale than its parent's, which is
/// not used: the lane continues with the scale that its parent has.
inline constexpr Phrase kForkOfScale =
    phrase("Events", "From step %1: lane %2 continues lane %3, at the loss scale of %3; the first "
                     "scale of %2, %4, is not used.");
/// The sentence about a class none of whose samples can be read, an event of the kind Damaged.
inline constexpr Phrase kLostClass =
    phrase("Events", "Step %1: %2. So the network cannot learn this class.");
/// The sentence about samples of a test that cannot be read, an event of the same kind.
inline constexpr Phrase kNoTest = phrase("Events", "Step %1: %2. So there is no test.");
inline constexpr Phrase kNoValidation = phrase("Events", "Step %1: %2. So there is no validation.");
/// Whether a sentence has one of the two formats about forks.
bool tellsFork(const Message& text);
/// A learning rate that follows the validation: the step, how many validations have not improved,
/// the rate before and after.
inline constexpr Phrase kRateFell =
    phrase("Events", "Step %1: The validation loss has not improved in %2 validations in a row, so "
                     "the learning rate falls from %3 to %4.");
/// The same for one validation.
inline constexpr Phrase kRateFellAtOnce = phrase(
    "Events",
    "Step %1: The validation loss has not improved, so the learning rate falls from %2 to %3.");
/// A change of the current loss scale; for changes of settings, see edit_words.h.
inline constexpr Phrase kScaleSet = phrase("Events", "Loss scale set to %1");

struct Event {
    EventKind kind = EventKind::Edit;
    int64_t step = 0;
    int32_t lane = 0; ///< -1: all lanes
    float scaleBefore = 1, scaleAfter = 1;
    /// For Overflow and LossNotFinite the first tensor with inf or nan; for Edit the field; for
    /// Damaged, a sample that could not be read, nothing.
    std::string tensor;
    Message text;        ///< one plain sentence; in a saved run its English words
    int32_t parent = -1; ///< the lane that a forked lane continues; -1 when no lane was forked
    std::string otherKind = {}; ///< the name of a kind that this version does not know
};

/// Event::tensor where a layer overflowed before the loss was scaled, where data hold inf or nan,
/// where the lane takes inputs in fp16 that are beyond its range, as they would not be with a
/// setting, and where an optimizer divided by an epsilon that is zero in the type of the weights.
inline constexpr Phrase kForwardPass = phrase("Events", "forward pass of %1");
inline constexpr Phrase kLossTensor = phrase("Events", "the loss");
inline constexpr Phrase kInputOf = phrase("Events", "the input of sample %1");
inline constexpr Phrase kTargetOf = phrase("Events", "the target of sample %1");
inline constexpr Phrase kInputBeyondHalf = phrase("Events", "the input in fp16 without %1");
inline constexpr Phrase kZeroEpsilonOf = phrase("Events", "the zero epsilon of %1");
/// The sentence about an overflow whose step was taken all the same: the step, why, and the scale.
inline constexpr Phrase kTakenStep =
    phrase("Events", "Step %1 overflowed, but the step was taken: %2; %3.");
/// Of a loss scale that overflows at any scale have brought down, see FaultScale: a larger one is
/// no advice. Saved runs are known by the words between %2 and %3.
inline constexpr Phrase kUnderflowOfFault =
    phrase("Events", "Step %1: all gradients rounded to zero at loss scale %2 (underflow), so "
                     "nothing is learned. The scale has come down from %3 because of steps that "
                     "would overflow at any loss scale: see their events first.");
/// The end of the sentence about an overflow that no loss scale would have prevented.
inline constexpr Phrase kNoScaleHelps = phrase("Events", "No loss scale would have helped.");

/// Whether a tensor is one of those, which are there before the loss is scaled. If so, no loss
/// scale would have been small enough.
bool isBeforeScaling(std::string_view tensor);
/// The same for an event, saved ones included; false when the tensor is not known.
bool overflowedBeforeScaling(const Event&);
/// Whether a tensor is the input or the target of a sample.
bool isOfData(std::string_view tensor);
/// Returns such a tensor as a message that a translation can say in its own words.
Message dataMessage(std::string_view tensor);
/// Returns "Adam" for "the zero epsilon of Adam"; empty for other tensors.
std::string_view optimizerOfZeroEpsilon(std::string_view tensor);
/// Returns the setting with which an input would fit into fp16, "data.standardise_x"; empty for
/// other tensors.
std::string_view settingOfLargeInput(std::string_view tensor);
/// Returns the layer whose forward pass a tensor is; empty for others.
std::string_view layerOfForward(std::string_view tensor);
/// Whether an event is an overflow that no loss scale would have prevented.
bool isHelpless(const Event&);
/// Whether an event is an overflow whose step was taken all the same.
bool isOfTakenStep(const Event&);

/// Whether an event is an underflow for which a larger loss scale is no advice.
bool isUnderflowOfFault(const Event&);

/// Whether an event is one of a lane's own, or an edit of all lanes.
bool concernsLane(const Event&, size_t lane);

/// The name of its kind in files.
std::string_view kindNameOf(const Event&);
/// Gives an event the kind with this name, which isKindName().
void setKind(Event&, std::string_view name);

/// Whether an event is told before another one: in the order of steps; within a step edits come
/// first, because it is taken with them, then what concerns all lanes, then lane by lane.
bool isToldBefore(const Event&, const Event&);

} // namespace halfscope
