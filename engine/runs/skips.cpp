// The counts of skipped steps, the limits of what is normal, and the sentences.
#include "engine/runs/skips.h"

#include "engine/data/input_scale.h"
#include "engine/runs/edit_events.h"
#include "engine/runs/tensor_words.h"
#include "engine/scaler/grad_scaler.h"
#include "engine/settings/layers.h"
#include "engine/settings/precision.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

/// Clean steps in a row after which the scale has found its place. A few can occur by chance while
/// the scale is one halving too high and some batches fit.
constexpr int kSettled = 20;
/// A usual scaler skips one step per growth interval, which is long. One step in ten, after the
/// start, is far more; fewer than kFew skips tell nothing about a share.
constexpr int64_t kOften = 10, kFew = 4;
/// From as many halvings at the start on, the first scale was far from what fits.
constexpr int64_t kLongWay = 10;
/// The halvings from 2^32, the largest initial scale of a known scaler, down to 1. Half of them,
/// which lead to PyTorch's first scale, are too many where they are most of a short training.
constexpr int64_t kLongStart = 32, kLongStartOfShort = 16;
/// After so many halvings behind the start, with no growth in between, it is not the scale that
/// searches: the gradients have become 2^8 times as large.
constexpr int64_t kKeepsFalling = 8;

// Since when the loss is not finite, a part of the sentences below.
constexpr Phrase kSince = phrase("Events", "the loss is not finite from step %1 on");
constexpr Phrase kSinceAndOnce =
    phrase("Events", "the loss is not finite from step %1 on, nor was it at one earlier step");
constexpr Phrase kSinceAndBefore =
    phrase("Events", "the loss is not finite from step %1 on, nor was it at %2 earlier steps");

// Before a step has changed the weights, neither the learning rate nor clipping, which follows the
// overflow, can be the cure: the data or the initial weights are too large for the type.
constexpr Phrase kLost =
    phrase("Events", "%1. No loss scale can fix that; a lower learning rate or clipping may help "
                     "and, in a lane of 16 bits or fewer, a wider type.");
constexpr Phrase kLostAtOnce = phrase(
    "Events", "%1, before any step changed the weights. No loss "
              "scale, learning rate or clipping can fix that. Look for inf or nan in the data, and "
              "for values that fp16 cannot hold (it ends at 65,504); "
              "smaller inputs may help and, in a lane of 16 bits or fewer, a wider type.");
// A step with gradients that are not finite leaves such weights.
constexpr Phrase kLostByStep =
    phrase("Events", "step %1 was taken although its gradients were not finite, and %2. A scaler "
                     "that skips such steps, a smaller loss scale or a wider type may help.");
// Dividing by it makes gradients nan that had been finite.
constexpr Phrase kLostAtZero =
    phrase("Events", "the loss scale has fallen to 0, with which step %1 was taken, and %2. A "
                     "larger first scale, or a floor of the scaler, prevents that.");
constexpr Phrase kLostByDivision =
    phrase("Events", "step %1 was taken at a loss scale of %2. In float32, 1 divided by it is inf, "
                     "so the gradients became inf or nan when they were unscaled, and %3. A "
                     "larger first scale, or a floor of the scaler, prevents that.");
constexpr Phrase kLostInLayer =
    phrase("Events", "the forward pass of %1 reached inf or nan in step %2, before any other, and "
                     "%3. No loss scale can fix that. %4");
constexpr Phrase kLostByInput =
    phrase("Events", "%1 (first in step %2), and %3. No loss scale can fix that. %4");
constexpr Phrase kLostByData =
    phrase("Events", "%1 (step %2) holds inf or nan, and %3. No loss scale, learning rate or wider "
                     "type can fix that: correct such values, or leave the samples out.");
constexpr Phrase kLostByEpsilon =
    phrase("Events", "%1's epsilon is zero in fp16, so an update divided by zero, and %2. Set "
                     "Epsilon to 1e-4 and train from the start, or use AMP.");

// An output beyond fp16 overflows again where the next layer takes it in fp16.
constexpr Phrase kWiderLayers =
    phrase("Events", "Run that layer and those that take its output in float32 or bfloat16.");
constexpr Phrase kWiderLayersIf =
    phrase("Events", "If that layer computes in float16, run it and those that take its output in "
                     "float32 or bfloat16.");
constexpr Phrase kSmallerValues = phrase("Events", "Smaller weights or inputs may help.");
constexpr Phrase kSlowerOrSmaller =
    phrase("Events", "A lower learning rate, clipping, or smaller weights or inputs may help.");
// A lane in float32 diverged, too: wider types are no advice, and the learning rate comes first.
constexpr Phrase kDivergedToo =
    phrase("Events", "%1 diverged as well, so the precision is not the cause. Lower the learning "
                     "rate first, or clip the gradients.");
constexpr Phrase kDivergedInLayer =
    phrase("Events", "%1 The forward pass of %2 reached inf or nan in step %3, before any other.");
constexpr Phrase kDivergedSince = phrase("Events", "%1 The loss is not finite from step %2 on.");
constexpr Phrase kNoUpdateYet =
    phrase("Events", "the weights are as they were at first: an update takes %1 steps, and there "
                     "were %2.");
constexpr Phrase kBelow =
    phrase("Events", "the loss scale fell below 1, so the gradients "
                     "overflow even unscaled. A lower learning rate, clipping or bf16 may help.");
constexpr Phrase kBelowAtOnce =
    phrase("Events",
           "the loss scale fell below 1 before any step changed the "
           "weights, so the gradients overflow even unscaled. No learning rate or clipping can "
           "fix that. Smaller targets or inputs, such as divided by their standard deviation, or "
           "bf16 may help.");
constexpr Phrase kHeld = phrase("Events", "the loss scale is held at %1, where the gradients "
                                          "overflow. Use a smaller scale, or a dynamic one.");
constexpr Phrase kAtItsFloor =
    phrase("Events", "the loss scale does not fall below %1, where the "
                     "gradients overflow. A lower floor or less hysteresis of the scaler, a lower "
                     "learning rate or clipping may help.");
constexpr Phrase kAtItsFloorAtOnce =
    phrase("Events", "the loss scale does not fall below %1, where the "
                     "gradients overflow before any step changed the weights. A lower floor or "
                     "less hysteresis of the scaler, or smaller targets or inputs, may help.");
// Halving, doubling and dividing by them change neither.
constexpr Phrase kInfinite = phrase(
    "Events", "the loss scale has grown to inf and cannot come back "
              "from there. A ceiling of the scaler, or scaler.clamp set to keep, prevents that.");
constexpr Phrase kZero =
    phrase("Events", "the loss scale has fallen to 0 and cannot come back "
                     "from there. A larger first scale, or a floor of the scaler, prevents that.");

// A scale of one is no place for a scaler: the largest gradients nearly overflow unscaled.
constexpr Phrase kOnlyFalls = phrase(
    "Events",
    "the loss scale has fallen from %1 to %2 and has not grown since: the loss or "
    "its gradients are too large for the lane's type. Standardise the targets and inputs; if "
    "the loss has risen, a lower learning rate or clipping may help.");

constexpr Phrase kAtStart =
    phrase("Events", "%1 of them were at the start, while the loss scale was coming down. A "
                     "smaller first scale or backoff factor makes this shorter.");
constexpr Phrase kMoreAtStart =
    phrase("Events", "Another %1 were at the start, while the loss scale was coming down. A "
                     "smaller first scale or backoff factor makes this shorter.");
constexpr Phrase kOfGrowth =
    phrase("Events", "%1 of them followed a growth that tried too large a scale. With a longer "
                     "growth interval this happens less often.");
constexpr Phrase kMoreOfGrowth =
    phrase("Events", "Another %1 followed a growth that tried too large a scale. With a longer "
                     "growth interval this happens less often.");
// where a growth costs several skips
constexpr Phrase kOfGrowths =
    phrase("Events", "%1 of them followed a growth, until the scale was low enough again. A "
                     "smaller growth factor or a longer growth interval makes this rarer.");
constexpr Phrase kMoreOfGrowths =
    phrase("Events", "Another %1 followed a growth, until the scale was low enough again. A "
                     "smaller growth factor or a longer growth interval makes this rarer.");
constexpr Phrase kOfOthers =
    phrase("Events", "%1 of them did not follow a growth of the loss scale. The gradients vary "
                     "widely, or the backoff factor is close to 1. Clipping or a lower learning "
                     "rate may help.");
constexpr Phrase kMoreOfOthers =
    phrase("Events", "Another %1 did not follow a growth of the loss scale. The gradients vary "
                     "widely, or the backoff factor is close to 1. Clipping or a lower learning "
                     "rate may help.");

/// Adds a cause; a cause that explains all skips needs no number.
void addCause(std::vector<Message>& causes, int64_t count, int64_t all, const Message& words) {
    if (count == all)
        causes.push_back(words);
    else if (count > 0)
        causes.push_back({phrase("Events", "%1 %2"), count, words});
}

} // namespace

void SkipTally::add(const StepRow& row) {
    if (m_steps == 0 && row.step > 1 && row.measured(metric::SkippedSoFar)) addBefore(row);
    ++m_steps;
    if (row.step > m_steps) learn(row.step - 1); // the lane goes on from weights of other steps
    // a scale that falls from 16 to 1/16 tells nothing about 1, and one that began below may stay
    m_hadOne = m_hadOne || row.scale() >= 1;
    const bool overflowedAtOne = m_hadOne && m_fell && m_scale <= 1 && row.scale() < 1;
    if (overflowedAtOne && !m_belowOne) m_belowAtOnce = m_learnedAt == 0;
    m_belowOne = row.scale() < 1 && (m_belowOne || overflowedAtOne);
    m_fell = row.has(kBackedOff);
    // a fork with a larger scale looks for its place anew
    if (m_isFork && m_updates == 0 && row.scale() > m_scale) m_settled = false;
    if (row.scale() != m_scale) m_skipsHere = 0;
    if (m_fallenFrom == 0 || row.scale() > m_scale) {
        m_fallenFrom = row.scale();
        m_falls = m_laterFalls = 0;
    }
    m_scale = row.scale();
    addLoss(row);
    m_rise.add(row);
    if (row.step % m_stepsPerUpdate == 0) addUpdate(row);
}

void SkipTally::addBefore(const StepRow& first) {
    m_firstStep = first.step;
    m_updatesBefore = (first.step - 1) / m_stepsPerUpdate;
    m_before = std::max<int64_t>(0, first.skippedSoFar() - (first.has(kSkipped) ? 1 : 0));
}

void SkipTally::fork(int64_t step, bool scalesAnew) {
    m_judgedAfter = step;
    if (scalesAnew) { // as the trainer of the fork does
        m_faultScale.forget();
        m_faultsAfter = step;
    }
    m_before = skipped();
    m_updatesBefore = updates();
    m_updates = m_start = m_trials = m_others = m_failedGrowths = 0;
    m_lost = m_helpless = m_unanswered = m_startFalls = 0;
    m_fallenFrom = 0; // its own falls are counted
    m_belowOne = m_stopped = false;
    m_isFork = true;
    if (m_lossLostAt > 0) return; // they stay the reason
    m_layer = m_data = m_zeroEpsilon = {};
    m_placesAfter = step;
}

void SkipTally::add(const Event& event) {
    if (isHelpless(event)) {
        m_helpless += event.step > m_judgedAfter;
        m_lastHelpless = std::max(m_lastHelpless, event.step);
    }
    if (setsScale(event)) m_fallenFrom = 0; // it has not fallen there
    if (event.step > m_placesAfter) addPlaces(event);
    if (event.step > m_faultsAfter) addToFaultScale(event);
}

void SkipTally::addPlaces(const Event& event) {
    const std::string_view layer = layerOfForward(event.tensor);
    if (!layer.empty() && m_layer.step == 0) m_layer = {event.step, std::string(layer)};
    if (!settingOfLargeInput(event.tensor).empty() && m_layer.step == 0)
        m_layer = {event.step, event.tensor};
    if (isOfData(event.tensor) && m_data.step == 0) m_data = {event.step, event.tensor};
    const std::string_view optimizer = optimizerOfZeroEpsilon(event.tensor);
    if (!optimizer.empty() && m_zeroEpsilon.step == 0)
        m_zeroEpsilon = {event.step, std::string(optimizer)};
}

void SkipTally::addToFaultScale(const Event& event) {
    if (setsScale(event)) m_faultScale.forget();
    if (event.kind != EventKind::Overflow || isOfTakenStep(event)) return;
    if (isHelpless(event) || overflowedBeforeScaling(event))
        m_faultScale.add(event.scaleBefore);
    else if (!event.tensor.empty()) // else nobody knows
        m_faultScale.addTooLarge(event.scaleBefore, event.scaleAfter);
}

void SkipTally::addLoss(const StepRow& row) {
    const bool lost = row.has(kLossNotFinite);
    if (lost && m_lossLostAt == 0) {
        m_lossLostAt = row.step;
        m_lostBefore = m_lostSteps;
        m_lostAtOnce = m_learnedAt == 0;
        m_lostByStep = m_taken;
        m_lostScale = m_takenScale;
    }
    if (!lost) m_lossLostAt = 0;
    if (lost) {
        ++m_lostSteps;
        m_lastHelpless = std::max(m_lastHelpless, row.step);
    }
    m_losing = m_losing || lost;
    // saved runs do not have the flag for it
    m_taken = !lost && !row.has(kSkipped) && !std::isfinite(row.gradientNorm());
    if (m_taken) m_takenScale = row.scale();
}

void SkipTally::addUpdate(const StepRow& row) {
    ++m_updates;
    m_lost += m_losing && row.has(kSkipped);
    m_losing = false;
    addTrial(row);
    m_skipsHere += row.has(kSkipped);
    const bool falls = row.has(kSkipped) && row.has(kBackedOff);
    m_startFalls += !m_settled && falls;
    m_falls += falls;
    m_laterFalls += m_settled && falls;
    if (row.has(kSkipped)) ++(!m_settled ? m_start : m_trial != Trial::None ? m_trials : m_others);
    if (!row.has(kSkipped)) learn(row.step);
    m_unanswered = row.has(kSkipped) && !row.has(kBackedOff) ? m_unanswered + 1 : 0;
    m_stopped = row.has(kAtFloor);
    m_settled = m_settled || row.has(kGrew) || row.growthTracker() >= kSettled;
    if (!row.has(kGrew)) return;
    m_trial = Trial::Open;
    m_grownFrom = row.scale();
}

// A large growth takes several backoffs to undo, and hysteresis or a tolerance lets some overflows
// pass. What overflows at the scale before the growth would have done so without it.
void SkipTally::addTrial(const StepRow& row) {
    if (row.scale() <= m_grownFrom) {
        m_trial = Trial::None;
    } else if (row.has(kSkipped)) {
        m_failedGrowths += m_settled && m_trial == Trial::Open;
        if (m_trial == Trial::Open) m_trial = Trial::Failed;
    } else if (m_trial == Trial::Failed && row.growthTracker() >= kSettled) {
        m_trial = Trial::None;
    }
}

bool SkipTally::often(int64_t count) const {
    return count >= kFew && count * kOften > m_updates - m_start;
}

bool SkipTally::isAllBefore() const { return m_before == skipped() && m_lossLostAt == 0; }

bool SkipTally::onlyFalls() const {
    return m_laterFalls >= kKeepsFalling || (m_falls >= kLongWay && m_scale <= 1);
}

bool SkipTally::stuck() const { return m_scale == 0 || !std::isfinite(m_scale); }

SkipVerdict SkipTally::verdict(bool dynamic) const {
    if (skipped() == 0) return SkipVerdict::None;
    if (isAllBefore()) return SkipVerdict::None;
    return badReason(dynamic).empty() ? SkipVerdict::Normal : SkipVerdict::TooMany;
}

Message SkipTally::countText() const {
    const bool all = skipped() == updates(), one = skipped() == 1;
    if (m_stepsPerUpdate == 1) {
        if (all && one) return phrase("Events", "1 step was skipped");
        if (all) return {phrase("Events", "all %1 steps were skipped"), updates()};
        return {one ? phrase("Events", "%1 of %2 steps was skipped")
                    : phrase("Events", "%1 of %2 steps were skipped"),
                skipped(), updates()};
    }
    if (all && one) return phrase("Events", "1 update was skipped");
    if (all) return {phrase("Events", "all %1 updates were skipped"), updates()};
    return {one ? phrase("Events", "%1 of %2 updates was skipped")
                : phrase("Events", "%1 of %2 updates were skipped"),
            skipped(), updates()};
}

bool SkipTally::lostInLayer() const {
    return m_layer.step > 0 && !(m_lostByStep && m_layer.step >= m_lossLostAt);
}

// In a lane without a scaler, a norm that is not finite may be a training that diverges: the sum of
// the squares ends before the gradients do.
bool SkipTally::lostByStep(const LaneConfig* lane) const {
    return m_lostByStep && (!lane || scalesLoss(*lane));
}

/// Returns since when the loss is not finite, and whether it came back in between.
Message SkipTally::sinceText() const {
    if (m_lostBefore > 1) return {kSinceAndBefore, m_lossLostAt, m_lostBefore};
    return {m_lostBefore == 1 ? kSinceAndOnce : kSince, m_lossLostAt};
}

/// Returns what to do about a layer whose forward pass was the first that was not finite.
Message SkipTally::layerAdvice(const LaneConfig* lane) const {
    const Message help = rateMayHelp(m_layer.step) ? kSlowerOrSmaller : kSmallerValues;
    const std::optional<DType> type = lane ? typeOfLayer(*lane, m_layer.what) : std::nullopt;
    if (type && *type != DType::F16) return help; // no other type reaches further
    return {phrase("Events", "%1 %2"), Message(type ? kWiderLayers : kWiderLayersIf), help};
}

Message SkipTally::lossText(const LaneConfig* lane) const {
    const Message since = sinceText();
    const std::string_view setting = settingOfLargeInput(m_layer.what);
    if (lostInLayer() && !setting.empty())
        return {kLostByInput, kInputDoesNotFit, m_layer.step, since, fittingAdvice(setting)};
    if (lostInLayer())
        return {kLostInLayer, layerInWords(m_layer.what), m_layer.step, since, layerAdvice(lane)};
    if (m_zeroEpsilon.step > 0) return {kLostByEpsilon, m_zeroEpsilon.what, since};
    if (m_data.step > 0) return {kLostByData, dataMessage(m_data.what), m_data.step, since};
    const bool byStep = lostByStep(lane);
    if (byStep && m_lostScale == 0) return {kLostAtZero, m_lossLostAt - 1, since};
    if (byStep && std::isinf(1 / m_lostScale))
        return {kLostByDivision, m_lossLostAt - 1, scaleText(m_lostScale), since};
    if (byStep) return {kLostByStep, m_lossLostAt - 1, since};
    return {m_lostAtOnce ? kLostAtOnce : kLost, since};
}

/// Returns why no loss scale would have helped.
Message SkipTally::helplessText(const LaneConfig* lane) const {
    if (const std::string_view setting = settingOfLargeInput(m_layer.what); !setting.empty())
        return {phrase("Events", "%1 (first in step %2). %3"), kInputDoesNotFit, m_layer.step,
                fittingAdvice(setting)};
    if (m_layer.step > 0)
        return {phrase("Events",
                       "the forward pass of %1 reached inf or nan in step %2, before any other. "
                       "%3"),
                layerInWords(m_layer.what), m_layer.step, layerAdvice(lane)};
    if (m_data.step > 0)
        return {phrase("Events", "%1 (step %2) holds inf or nan. Correct such values, or leave the "
                                 "samples out."),
                dataMessage(m_data.what), m_data.step};
    if (m_lost > 0)
        return rateMayHelp(m_lastHelpless)
                   ? phrase("Events", "the loss itself was not finite. Look for inf or nan in the "
                                      "data; a lower learning rate or clipping may help.")
                   : phrase("Events", "the loss itself was not finite. Look for inf, nan and large "
                                      "values in the data.");
    return rateMayHelp(m_lastHelpless)
               ? phrase("Events", "the gradients are not finite even at the smallest. A wider "
                                  "type, a lower learning rate or clipping may help.")
               : phrase("Events", "the gradients are not finite even at the smallest. A wider "
                                  "type, or smaller targets or inputs, may help.");
}

int64_t SkipTally::failedAt() const {
    const bool isLost = m_lossLostAt > 0;
    if ((!isLost && helpless() == 0) || (skipped() > 0 && isAllBefore())) return 0;
    if (m_data.step > 0 || m_zeroEpsilon.step > 0) return 0;
    if (!settingOfLargeInput(m_layer.what).empty()) return 0;
    if (isLost && m_lostByStep && !lostInLayer()) return 0;
    const int64_t later = isLost ? m_lossLostAt : m_lastHelpless;
    const int64_t failed = m_layer.step > 0 ? m_layer.step : later;
    return rateMayHelp(failed) ? failed : 0;
}

/// Says what a lane's failure means beside `diverged`.
Message SkipTally::divergedText(const Message& diverged) const {
    const Message text(kDivergedToo, diverged);
    if (m_layer.step > 0) return {kDivergedInLayer, text, layerInWords(m_layer.what), m_layer.step};
    return m_lossLostAt > 0 ? Message(kDivergedSince, text, m_lossLostAt) : text;
}

Message SkipTally::textWithoutSkips(const LaneConfig* lane, const Message& diverged) const {
    if (m_lossLostAt > 0) return diverged.empty() ? lossText(lane) : divergedText(diverged);
    if (updates() == 0 && m_steps > 0) return {kNoUpdateYet, m_stepsPerUpdate, m_steps};
    return {};
}

/// Returns what caused too many skips: of up to three causes the two largest, the largest first;
/// empty when nothing did.
Message SkipTally::badCauses() const {
    struct Cause {
        int64_t count;
        Phrase first, second;
    };
    std::vector<Cause> causes;
    const bool mostOfShort = m_start > kLongStartOfShort && 2 * m_start > updates();
    if (m_start > kLongStart || mostOfShort) causes.push_back({m_start, kAtStart, kMoreAtStart});
    const bool once = m_trials == m_failedGrowths; // each growth cost one skip
    if (often(m_trials))
        causes.push_back(
            {m_trials, once ? kOfGrowth : kOfGrowths, once ? kMoreOfGrowth : kMoreOfGrowths});
    if (often(m_others)) causes.push_back({m_others, kOfOthers, kMoreOfOthers});
    if (causes.empty())
        return onlyFalls() ? Message(kOnlyFalls, scaleText(m_fallenFrom), scaleText(m_scale))
                           : Message();
    std::stable_sort(causes.begin(), causes.end(),
                     [](const Cause& a, const Cause& b) { return a.count > b.count; });
    const Message first(causes[0].first, causes[0].count);
    if (causes.size() == 1) return first;
    return {phrase("Events", "%1 %2"), first, Message(causes[1].second, causes[1].count)};
}

Message SkipTally::badReason(bool dynamic, const LaneConfig* lane, const Message& diverged) const {
    if (skipped() == 0 || isAllBefore()) return {};
    if (!diverged.empty()) return divergedText(diverged);
    if (m_lossLostAt > 0) return lossText(lane);
    if (helpless() > 0)
        return {phrase("Events", "no loss scale would have helped in %1 of them: %2"), helpless(),
                helplessText(lane)};
    if (stuck()) return m_scale == 0 ? kZero : kInfinite;
    if (m_belowOne) return m_belowAtOnce ? kBelowAtOnce : kBelow;
    if (held(dynamic)) {
        const Phrase falling = m_learnedAt > 0 ? kAtItsFloor : kAtItsFloorAtOnce;
        return {dynamic ? falling : kHeld, scaleText(m_scale)};
    }
    return badCauses();
}

Message SkipTally::startAdvice() const {
    if (m_startFalls < kLongWay) return {};
    return phrase("Events", "A smaller first scale makes the start shorter.");
}

bool SkipTally::badReasonIsData() const {
    if (m_data.step == 0 || skipped() == 0 || isAllBefore()) return false;
    if (m_lossLostAt > 0) return !lostInLayer() && m_zeroEpsilon.step == 0;
    return helpless() > 0 && m_layer.step == 0;
}

bool SkipTally::isForwardToBlame() const {
    if (m_layer.step == 0 || (skipped() > 0 && isAllBefore())) return false;
    return m_lossLostAt > 0 ? lostInLayer() : helpless() > 0;
}

Message SkipTally::badLayer() const {
    return isForwardToBlame() && !badReasonIsInput() ? layerInWords(m_layer.what) : Message();
}

bool SkipTally::badReasonIsInput() const {
    return isForwardToBlame() && !settingOfLargeInput(m_layer.what).empty();
}

int64_t SkipTally::losingStep(const LaneConfig* lane) const {
    return m_lossLostAt > 0 && lostByStep(lane) && !lostInLayer() && m_data.step == 0 &&
                   m_zeroEpsilon.step == 0
               ? m_lossLostAt - 1
               : 0;
}

Message SkipTally::sentence(bool dynamic, const LaneConfig* lane, const Message& diverged) const {
    if (skipped() == 0) return textWithoutSkips(lane, diverged);
    const Message count = countText();
    if (areOfParent()) return {phrase("Events", "%1, before the fork."), count};
    if (isAllBefore()) return {phrase("Events", "%1, before step %2."), count, m_firstStep};
    if (const Message reason = badReason(dynamic, lane, diverged); !reason.empty())
        return {phrase("Events", "%1. That is not normal: %2"), count, reason};
    const auto advised = [this](const Message& normal) {
        const Message advice = startAdvice();
        return advice.empty() ? normal : Message(phrase("Events", "%1 %2"), normal, advice);
    };
    if (skipped() == updates())
        return advised(
            {phrase("Events", "%1. That is normal: the loss scale is coming down."), count});
    const int64_t all = skipped();
    std::vector<Message> causes;
    addCause(causes, m_before, all,
             m_isFork ? Message(phrase("Events", "before the fork"))
                      : Message(phrase("Events", "before step %1"), m_firstStep));
    addCause(causes, m_start, all,
             phrase("Events", "at the start, until the loss scale was low enough"));
    addCause(causes, m_trials, all,
             phrase("Events", "after a growth that tried too large a scale"));
    addCause(causes, m_others, all, phrase("Events", "after the gradients had become larger"));
    return advised({phrase("Events", "%1. That is normal: %2."), count, listed(causes)});
}

} // namespace halfscope
