// Rows of the table of settings for the loss scaler: preset, first scale, growth, backoff, guards.
#include "engine/scaler/scaler_presets.h"
#include "engine/settings/field_parts.h"

namespace halfscope {

using namespace field_parts;

namespace {

constexpr double kFloatMax = 3.4e38; // the largest float32, rounded down to a readable number
constexpr double kMostSteps = 1e9;   // counts are int32 on the device
constexpr const char* kFirstScale = "scaler.init_scale"; // the only field that needs a restart

bool amp(const LaneConfig& lane) { return presetOf(lane.precision).mayScale; }
bool scales(const LaneConfig& lane) {
    return amp(lane) && lane.scaler.rules.mode != ScalerMode::Off;
}
bool dynamic(const LaneConfig& lane) {
    return amp(lane) && lane.scaler.rules.mode == ScalerMode::Dynamic;
}

/// Makes the field of a rule of dynamic scaling.
template <class Access>
Field ofRules(const Words& words, Access at) {
    return whenLane(dynamic,
                    ofLane(
                        words, [at](auto& lane) -> auto& { return at(lane.scaler.rules); }));
}

/// The preset has no value of its own: it names the combination of the others.
Field presetField() {
    Field field = whenLane(
        amp,
        ofLane(
            {"scaler.preset", phrase("Settings", "Scaler rules"), kNoUnit,
             phrase("Settings",
                    "Takes over all rules and defaults of a known scaler. Its first scale takes "
                    "effect at a restart. Changing a rule afterwards makes the preset custom. In a "
                    "lane whose scaler is off, the rules change and the scaler stays off.")},
            [](auto& lane) -> auto& { return lane.scaler.rules.mode; }));
    for (const ScalerPreset& preset : scalerPresets())
        field.choices.emplace_back(preset.name);
    field.choices.emplace_back(kCustomScaler);
    field = explaining(scalerPresets(), std::move(field));
    field.meanings.push_back({phrase("Settings", "%1: %2"), kCustomScaler,
                              phrase("Settings", "Rules that no known scaler has together.")});
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
        whenLane(
            amp,
            oneOf(ofLane(
                      {"scaler.mode", phrase("Settings", "Loss scaling"), kNoUnit,
                       phrase("Settings",
                              "How the loss is scaled. dynamic adapts the scale and skips steps "
                              "that overflow; static "
                              "keeps the scale; off does not scale the loss and never skips.")},
                      [](auto& lane) -> auto& { return lane.scaler.rules.mode; }),
                  namesUpTo(ScalerMode::Off))),
        whenLane(scales, in(ofLane(
                                {kFirstScale, phrase("Settings", "First scale"), kNoUnit,
                                 phrase("Settings",
                                        "The loss is multiplied by this before the backward pass, "
                                        "to lift small gradients above the smallest values of "
                                        "float16 (about 6e-8). Powers of two cause no rounding.")},
                                [](auto& lane) -> auto& { return lane.scaler.initScale; }),
                            {0, kFloatMax, Bound::AboveMinimum, true})),
    };
}

std::vector<Field> growthFields() {
    return {
        in(ofRules(
               {"scaler.growth_factor", phrase("Settings", "Growth factor"), kNoUnit,
                phrase("Settings",
                       "The scale is multiplied by this after enough clean steps in a row.")},
               [](auto& rules) -> auto& { return rules.growthFactor; }),
           {1, 1e6, Bound::AboveMinimum, true}),
        in(ofRules(
               {"scaler.backoff_factor", phrase("Settings", "Backoff factor"), kNoUnit,
                phrase("Settings", "The scale is multiplied by this after a step whose gradients "
                                   "contained inf or nan; that step is skipped.")},
               [](auto& rules) -> auto& { return rules.backoffFactor; }),
           {0, 1, Bound::Open}),
        in(ofRules(
               {"scaler.growth_interval", phrase("Settings", "Growth interval"),
                phrase("Settings", "steps"),
                phrase("Settings", "Number of clean steps in a row before the scale grows. Short "
                                   "intervals probe the limit more often and skip more steps.")},
               [](auto& rules) -> auto& { return rules.growthInterval; }),
           {1, kMostSteps, Bound::Closed, true}),
        oneOf(ofRules(
                  {kGrowthTest, phrase("Settings", "Growth test"), kNoUnit,
                   phrase("Settings",
                          "When the scale grows. exact: the scale grows when the number of clean "
                          "steps equals the interval, "
                          "as in PyTorch. If the interval is lowered below that number, the scale "
                          "does not grow before the next overflow. at-least: it grows then too.")},
                  [](auto& rules) -> auto& { return rules.growthTest; }),
              namesUpTo(GrowthTest::AtLeast)),
        in(ofRules(
               {"scaler.growth_delay", phrase("Settings", "Growth delay"),
                phrase("Settings", "steps"),
                phrase("Settings", "Number of clean steps after the start or an overflow that do "
                                   "not count towards the growth. 1 in DeepSpeed, 0 elsewhere.")},
               [](auto& rules) -> auto& { return rules.growthDelay; }),
           {0, kMostSteps, Bound::Closed, true}),
        oneOf(ofRules(
                  {"scaler.clamp", phrase("Settings", "Growth beyond float32"), kNoUnit,
                   phrase("Settings", "What happens at the largest scale. keep: if a growth would "
                                      "make the scale infinite, the scale "
                                      "stays as it is, as in PyTorch. none: the scale becomes "
                                      "infinite, and every later step is skipped.")},
                  [](auto& rules) -> auto& { return rules.clamp; }),
              namesUpTo(GrowthClamp::None)),
        in(ofRules(
               {"scaler.ceiling", phrase("Settings", "Ceiling"), kNoUnit,
                phrase("Settings", "The scale grows no higher than this; 0 means no ceiling. Apex "
                                   "uses 2^24 = 16777216.")},
               [](auto& rules) -> auto& { return rules.ceiling; }),
           {0, kFloatMax, Bound::Closed, true}),
    };
}

std::vector<Field> guardFields() {
    return {
        whenLane(
            scales,
            oneOf(
                ofLane(
                    {"scaler.on_overflow", phrase("Settings", "Overflow"), kNoUnit,
                     phrase(
                         "Settings",
                         "What happens at a step whose gradients contain inf or nan. skip: weights "
                         "and optimizer stay as they are. step: the step is taken all the same, as "
                         "in Apex with a static scale, and the weights become nan.")},
                    [](auto& lane) -> auto& { return lane.scaler.onOverflow; }),
                namesUpTo(OverflowAction::Step))),
        in(ofRules(
               {"scaler.floor", phrase("Settings", "Floor"), kNoUnit,
                phrase("Settings",
                       "The scale falls no lower than this. 0 means no floor: enough overflows in "
                       "a row then bring the scale to 0, from where it never grows again.")},
               [](auto& rules) -> auto& { return rules.floor; }),
           {0, kFloatMax, Bound::Closed, true}),
        oneOf(ofRules(
                  {"scaler.at_floor", phrase("Settings", "Overflow at the floor"), kNoUnit,
                   phrase(
                       "Settings",
                       "What an overflow does when the scale is already at its floor: the training "
                       "continues there, or it stops because no lower scale is left to try.")},
                  [](auto& rules) -> auto& { return rules.atFloor; }),
              namesUpTo(FloorAction::Stop)),
    };
}

std::vector<Field> patienceFields() {
    return {
        in(ofRules(
               {"scaler.hysteresis", phrase("Settings", "Hysteresis"),
                phrase("Settings", "overflows"),
                phrase("Settings",
                       "How many overflows make the scale fall: with 1 every overflow does, with 2 "
                       "one overflow is forgiven. Its step is skipped all the same.")},
               [](auto& rules) -> auto& { return rules.hysteresis; }),
           {1, kMostSteps, Bound::Closed, true}),
        oneOf(ofRules(
                  {"scaler.refill", phrase("Settings", "Hysteresis starts anew"), kNoUnit,
                   phrase(
                       "Settings",
                       "When earlier overflows are forgotten: when the scale grows (Megatron, "
                       "DeepSpeed), or at any clean step, so that only overflows in a row count.")},
                  [](auto& rules) -> auto& { return rules.refill; }),
              namesUpTo(HysteresisRefill::AtCleanStep)),
        in(ofRules(
               {"scaler.tolerance", phrase("Settings", "Tolerance"), kNoUnit,
                phrase("Settings",
                       "The share of the steps since the last change of the scale that must have "
                       "overflowed before the scale falls (fairseq). With 0 it falls at once.")},
               [](auto& rules) -> auto& { return rules.tolerance; }),
           {0, 1}),
        whenLane(
            scales,
            ofLane(
                {"scaler.check_unscaled", phrase("Settings", "Check after unscaling"), kNoUnit,
                 phrase("Settings", "Also skips steps whose gradients become inf or nan when they "
                                    "are divided by a tiny scale. PyTorch checks only before the "
                                    "division and then writes nan into the weights.")},
                [](auto& lane) -> auto& { return lane.scaler.checkUnscaled; })),
        whenLane(
            scales,
            saying(phrase("Settings", "schedule waits at a skip"),
                   phrase("Settings", "schedule goes on at a skip"),
                   ofLane(
                       {"scaler.hold_schedule", phrase("Settings", "Hold the schedule on a skip"),
                        kNoUnit,
                        phrase("Settings",
                               "A skipped step does not advance the learning rate schedule. In "
                               "PyTorch's recipe it does; Keras, DeepSpeed and Megatron hold the "
                               "schedule.")},
                       [](auto& lane) -> auto& { return lane.scaler.holdSchedule; }))),
    };
}

} // namespace

std::vector<Field> scalerFields() {
    std::vector<Field> fields;
    for (const std::vector<Field>& part :
         {startFields(), growthFields(), guardFields(), patienceFields()})
        for (const Field& field : part)
            fields.push_back(field.key == kFirstScale ? field : live(FieldApply::Scaler, field));
    return fields;
}

} // namespace halfscope
