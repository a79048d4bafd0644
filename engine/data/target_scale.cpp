// Chooses the words by how many numbers a target has.
#include "engine/data/target_scale.h"

#include "engine/data/targets.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace halfscope {

namespace {

/// Returns the number with four digits, which are enough to recognise a column by.
double rounded(double value) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.4g", value);
    return std::strtod(text.data(), nullptr);
}

constexpr const char* kSetting = "data.standardise_target";

Message standardisedNote(std::span<const Spread> spreads) {
    const Message undo(kSetToFalse, kSetting);
    if (spreads.size() > 1)
        return {phrase("Data", "The %1 numbers of a target are standardised by their means and "
                               "deviations over the training samples: the loss has no unit, but "
                               "mean absolute errors and predictions are in the targets' own. To "
                               "learn the targets as they are, %2."),
                spreads.size(), undo};
    return {phrase("Data", "The target is standardised (mean %1, deviation %2 over the training "
                           "samples): the loss has no unit, but mean absolute errors and "
                           "predictions are in the target's own. To learn the target as it is, "
                           "%3."),
            rounded(spreads[0].mean), rounded(spreads[0].deviation), undo};
}

constexpr Phrase kAllFarOff =
    phrase("Data", "Numbers of the targets have means or deviations far from 0 and 1, which are "
                   "hard to learn; to standardise them, %1.");
constexpr Phrase kFarOff =
    phrase("Data", "The target has the mean %1 and the deviation %2, far from 0 and 1, which is "
                   "hard to learn; to standardise it, %3.");

Message farOffNote(std::span<const Spread> spreads) {
    const Message remedy(kSetToTrue, kSetting);
    if (spreads.size() > 1) return {kAllFarOff, remedy};
    return {kFarOff, rounded(spreads[0].mean), rounded(spreads[0].deviation), remedy};
}

} // namespace

std::optional<Message> targetScaleNote(const Standardiser& scale, const TaskConfig& task) {
    if (standardisesTarget(task)) return standardisedNote(scale.spreads());
    if (scale.isFarOff()) return farOffNote(scale.spreads());
    return std::nullopt;
}

bool tellsFarOff(const Message& note) {
    return note.format() == kFarOff || note.format() == kAllFarOff;
}

std::string scaleTargetPython(const TaskConfig& task, const std::string& name,
                              const Shape& sample) {
    if (!standardisesTarget(task)) return {};
    return standardisePython(name, sample) + "    SCALE.update(mean=mean, deviation=deviation)\n";
}

PythonData withTargetScale(PythonData python, const TaskConfig& task) {
    if (!standardisesTarget(task)) return python;
    python.code =
        "SCALE = {}  # of the targets, measured by samples() or read from a file\n" + python.code;
    python.judged =
        R"(        error = (prediction.float() - target).abs() * SCALE["deviation"].to(DEVICE)
        text += f", mean absolute error {error.mean().item():.6g} in the units of the data"
)";
    return python;
}

} // namespace halfscope
