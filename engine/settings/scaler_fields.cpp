// Rows of the table of settings for the loss scaler: preset, first scale, growth, backoff, guards.
#include "engine/scaler/scaler_presets.h"
#include "engine/settings/field_parts.h"

namespace halfscope {

using namespace field_parts;

namespace {

constexpr double kFloatMax = 3.4e38; // what a float32 holds, rounded down to a readable number
constexpr double kMostSteps = 1e9;   // counts are int32 on the device
constexpr const char* kFirstScale = "scaler.init_scale"; // alone acts at a restart

bool amp(const LaneConfig& lane) { return presetOf(lane.precision).mayScale; }
bool scales(const LaneConfig& lane) {
    return amp(lane) && lane.scaler.rules.mode != ScalerMode::Off;
}
bool dynamic(const LaneConfig& lane) {
    return amp(lane) && lane.scaler.rules.mode == ScalerMode::Dynamic;
}

/// A rule of dynamic scaling.
template <class Access>
Field ofRules(const Words& words, Access at) {
    return whenLane(dynamic,
                    ofLane(
                        words, [at](auto& lane) -> auto& { return at(lane.scaler.rules); }));
}

/// It has no value of its own: it names the combination of the others.
Field presetField() {
    Field field = whenLane(
        amp,
        ofLane(
            {"scaler.preset", "Scaler", "",
             "Takes all rules and defaults of a known scaler; a rule changed afterwards makes "
             "it custom; its first scale acts at a restart. A lane whose scaler is off takes the "
             "rules and stays off."},
            [](auto& lane) -> auto& { return lane.scaler.rules.mode; }));
    for (const ScalerPreset& preset : scalerPresets())
        field.choices.emplace_back(preset.name);
    field.choices.emplace_back(kCustomScaler);
    field.get = [](const RunConfig& config, int lane) {
        const LaneConfig& of = config.lanes.at(static_cast<size_t>(std::max(lane, 0)));
        return FieldValue(std::string(presetOf(of.scaler)));
    };
    field.set = [](RunConfig& config, int lane, const FieldValue& value) {
        LaneConfig& to = config.lanes.at(static_cast<size_t>(std::max(lane, 0)));
        applyScalerPreset(to.scaler, std::get<std::string>(value));
    };
    return field;
}

std::vector<Field> startFields() {
    return {
        presetField(),
        whenLane(amp, oneOf(ofLane(
                                {"scaler.mode", "Loss scaling", "",
                                 "dynamic adapts the scale and skips steps that overflow; "
                                 "static keeps it; off multiplies by nothing and never skips."},
                                [](auto& lane) -> auto& { return lane.scaler.rules.mode; }),
                            namesUpTo(ScalerMode::Off))),
        whenLane(scales,
                 in(ofLane(
                        {kFirstScale, "First scale", "",
                         "The loss is multiplied by this before the backward pass, to lift small "
                         "gradients above float16's smallest values (about 6e-8). Powers "
                         "of two round nothing."},
                        [](auto& lane) -> auto& { return lane.scaler.initScale; }),
                    {0, kFloatMax, Bound::AboveMinimum, true})),
    };
}

std::vector<Field> growthFields() {
    return {
        in(ofRules(
               {"scaler.growth_factor", "Growth factor", "",
                "The scale is multiplied by this after enough clean steps in a row."},
               [](auto& rules) -> auto& { return rules.growthFactor; }),
           {1, 1e6, Bound::AboveMinimum, true}),
        in(ofRules(
               {"scaler.backoff_factor", "Backoff factor", "",
                "The scale is multiplied by this after a step whose gradients held inf or nan; "
                "that step is skipped."},
               [](auto& rules) -> auto& { return rules.backoffFactor; }),
           {0, 1, Bound::Open}),
        in(ofRules(
               {"scaler.growth_interval", "Growth interval", "steps",
                "Clean steps in a row before the scale grows. Short intervals probe the limit "
                "more often and skip more."},
               [](auto& rules) -> auto& { return rules.growthInterval; }),
           {1, kMostSteps, Bound::Closed, true}),
        oneOf(ofRules(
                  {"scaler.growth_test", "Growth test", "",
                   "exact: the scale grows when the clean steps equal the interval, as in "
                   "PyTorch, so an interval lowered below them stops growth until the next "
                   "overflow. at-least: it grows then too."},
                  [](auto& rules) -> auto& { return rules.growthTest; }),
              namesUpTo(GrowthTest::AtLeast)),
        in(ofRules(
               {"scaler.growth_delay", "Growth delay", "steps",
                "Clean steps after the start or an overflow that do not count towards the "
                "growth. DeepSpeed has 1, the others 0."},
               [](auto& rules) -> auto& { return rules.growthDelay; }),
           {0, kMostSteps, Bound::Closed, true}),
        oneOf(ofRules(
                  {"scaler.clamp", "Growth beyond float32", "",
                   "keep: a growth that would not be finite leaves the scale as it is, as in "
                   "PyTorch. none: it becomes infinite and every later step is skipped."},
                  [](auto& rules) -> auto& { return rules.clamp; }),
              namesUpTo(GrowthClamp::None)),
        in(ofRules(
               {"scaler.ceiling", "Ceiling", "",
                "A growth goes no higher than this; 0 is no ceiling. Apex has 2^24 = 16777216."},
               [](auto& rules) -> auto& { return rules.ceiling; }),
           {0, kFloatMax, Bound::Closed, true}),
    };
}

std::vector<Field> guardFields() {
    return {
        whenLane(scales,
                 oneOf(ofLane(
                           {"scaler.on_overflow", "Overflow", "",
                            "What a step does whose gradients hold inf or nan: skip leaves weights "
                            "and optimizer as they are; step takes it all the same, as Apex does "
                            "at a static scale, and the weights become nan."},
                           [](auto& lane) -> auto& { return lane.scaler.onOverflow; }),
                       namesUpTo(OverflowAction::Step))),
        in(ofRules(
               {"scaler.floor", "Floor", "",
                "A backoff goes no lower than this; 0 is no floor: then enough overflows in a "
                "row bring the scale to 0, from where it never grows."},
               [](auto& rules) -> auto& { return rules.floor; }),
           {0, kFloatMax, Bound::Closed, true}),
        oneOf(ofRules(
                  {"scaler.at_floor", "Overflow at the floor", "",
                   "What an overflow does that finds the scale at its floor: the training "
                   "continues there, or stops, because no lower scale is left to try."},
                  [](auto& rules) -> auto& { return rules.atFloor; }),
              namesUpTo(FloorAction::Stop)),
        in(ofRules(
               {"scaler.hysteresis", "Hysteresis", "overflows",
                "The overflow that makes the scale fall: 1 is the first, with 2 one overflow "
                "is forgiven. Its step is skipped all the same."},
               [](auto& rules) -> auto& { return rules.hysteresis; }),
           {1, kMostSteps, Bound::Closed, true}),
        oneOf(ofRules(
                  {"scaler.refill", "Hysteresis starts anew", "",
                   "When earlier overflows are forgotten: at a growth of the scale (Megatron, "
                   "DeepSpeed), or at any clean step, so that only overflows in a row count."},
                  [](auto& rules) -> auto& { return rules.refill; }),
              namesUpTo(HysteresisRefill::AtCleanStep)),
        in(ofRules(
               {"scaler.tolerance", "Tolerance", "",
                "The share of steps since the scale last changed that must have overflowed "
                "before it falls (fairseq); 0 lets it fall at once."},
               [](auto& rules) -> auto& { return rules.tolerance; }),
           {0, 1}),
        whenLane(scales, ofLane(
                             {"scaler.check_unscaled", "Check after unscaling", "",
                              "Also skips steps whose gradients become inf or nan in the division "
                              "by a tiny scale. PyTorch checks before it only, and then writes nan "
                              "into the weights."},
                             [](auto& lane) -> auto& { return lane.scaler.checkUnscaled; })),
        whenLane(scales, ofLane(
                             {"scaler.hold_schedule", "Hold the schedule on a skip", "",
                              "A skipped step does not advance the learning rate schedule. In "
                              "PyTorch's recipe it does; Keras, DeepSpeed and Megatron hold it."},
                             [](auto& lane) -> auto& { return lane.scaler.holdSchedule; })),
    };
}

} // namespace

std::vector<Field> scalerFields() {
    std::vector<Field> fields;
    for (const std::vector<Field>& part : {startFields(), growthFields(), guardFields()})
        for (const Field& field : part)
            fields.push_back(field.key == kFirstScale ? field : live(field));
    return fields;
}

} // namespace halfscope
