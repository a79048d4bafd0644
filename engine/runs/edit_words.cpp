// The sentences about edits, by the kind of the setting.
#include "engine/runs/edit_words.h"

#include "engine/settings/run_length.h"
#include "engine/step/schedule.h"

namespace halfscope {
namespace {

/// Returns "50 steps": a number with the unit of its field, if it has one.
Message amountOf(const Field& field, const FieldValue& value) {
    if (field.unit.empty()) return valueMessage(value);
    const bool one = valueText(value) == "1";
    if (one && field.unit == phrase("Settings", "steps")) return phrase("Events", "1 step");
    if (one && field.unit == phrase("Settings", "epochs")) return phrase("Events", "1 epoch");
    if (one && field.unit == phrase("Settings", "validations"))
        return phrase("Events", "1 validation");
    return {phrase("Events", "%1 %2"), valueMessage(value), field.unit};
}

Message lengthOf(const RunConfig& config) {
    const Field& field = *findField(config.epochs > 0 ? "run.epochs" : "run.steps");
    return amountOf(field, field.get(config, -1));
}

/// Returns what becomes of the run's length and, where the run now outlasts its schedule, of the
/// learning rate: often it is too small by then for anything to be learnt.
Message lengthWords(const RunConfig& before, const RunConfig& after) {
    const ScheduleConfig schedule = scheduleOf(after);
    const int64_t end = schedule.totalSteps * after.gradients.accumulate;
    const bool stays = schedule.kind != ScheduleKind::Constant &&
                       schedule.kind != ScheduleKind::Cosine &&
                       schedule.kind != ScheduleKind::Plateau;
    if (!stays || stepsOf(after) <= end) return {kLengthChange, lengthOf(after), lengthOf(before)};
    const double rate = learningRate(schedule, after.optimizer.lr, schedule.totalSteps);
    return {kLengthBeyondSchedule, lengthOf(after), lengthOf(before), end,
            static_cast<float>(rate)};
}

} // namespace

Message editWords(const Field& field, const FieldValue& value, const RunConfig& before,
                  const RunConfig& after, int lane) {
    if (field.apply == FieldApply::Length) return lengthWords(before, after);
    const Message name = field.label.empty() ? Message::data(field.key) : field.label;
    if (const bool* on = std::get_if<bool>(&value)) return {*on ? kSwitchedOn : kSwitchedOff, name};
    return {kSettingChange, name, amountOf(field, value), valueMessage(field.get(before, lane))};
}

} // namespace halfscope
