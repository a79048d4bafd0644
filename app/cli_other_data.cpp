// Compares the settings first: where these differ, most data cannot be compared.
#include "app/cli_other_data.h"

#include "app/cli_output.h"

#include "engine/core/escape.h"
#include "engine/core/text.h"
#include "engine/data/data_print.h"
#include "engine/data/own_files.h"
#include "engine/settings/data_settings.h"
#include "engine/settings/fields.h"
#include "engine/train/predicted_samples.h"

#include <algorithm>
#include <vector>

namespace halfscope::cli {

namespace {

/// Returns a value as it can be told in a line: texts may hold anything.
std::string shownValue(const ChangedSetting& of, const std::string& value) {
    const Field* const field = findField(of.key);
    if (value.empty()) return "empty";
    return field && field->kind != FieldKind::Text ? escapedText(value) : quotedText(value);
}

/// Returns "data.standardise is false (true in the training)", one for each.
std::string settingsText(const std::vector<ChangedSetting>& changed) {
    std::string text;
    for (const ChangedSetting& each : changed)
        text += (text.empty() ? "" : ", ") + each.key + " is " + shownValue(each, each.is) + " (" +
                shownValue(each, each.was) + " in the training)";
    return text;
}

/// Returns what follows from settings that differ.
std::string consequences(const TaskConfig& task, const std::vector<ChangedSetting>& changed) {
    const bool seen = !std::ranges::all_of(changed, &ChangedSetting::holdsBack);
    const bool held = std::ranges::any_of(changed, &ChangedSetting::holdsBack);
    std::string text;
    if (seen)
        text = " The networks learnt from other numbers, so the results may be wrong.";
    else if (infoOf(task.kind).has("data.vocabulary"))
        text = " " + std::string(task.tokens == Tokens::Words ? "Words" : "Characters") +
               " may have other numbers than in the training, so the results may be wrong.";
    if (!held) return text;
    if (learnsMeans(task))
        text += " Means and deviations may be those of other samples than in the training.";
    const bool apart = !task.predictFile.empty() || validatesOwn(task);
    return apart ? text
                 : text + " Samples that the networks were trained on may be among those that "
                          "judge them.";
}

void tellPrint(const RunConfig& config, const DataRecord& trained, const Judged& lane,
               const std::string& weights) {
    if (weights.empty() || !predictsOtherwise(trained.print, lane.data)) {
        if (const auto others = changedSince(config.task, trained.print, lane.data))
            printNote(others->english() + "\n");
        return;
    }
    const std::string data = shownPlaceOfData(config.task);
    printNote("The weights in " + pathText(weights) + " were trained on other data than " + data +
              ": either " + data +
              " has changed since, or they are of another experiment. Classes, words, means and "
              "deviations are those of " +
              data + " as it is now, so the results may be wrong.\n");
}

/// Whether the checksum of the data is as it would be with the settings of the training: that of a
/// table sees its file, whichever lines are held back and however numbers are scaled.
bool canCompare(const RunConfig& config, const std::vector<ChangedSetting>& changed) {
    const bool table = infoOf(config.task.kind).targets == Targets::AsTheLoss;
    return std::ranges::all_of(changed, [table](const ChangedSetting& each) {
        return table && (each.holdsBack || each.key.starts_with("data.standardise"));
    });
}

} // namespace

void tellOtherData(const RunConfig& config, const DataRecord& trained, const Judged& lane,
                   const std::string& weights) {
    const auto changed = changedDataSettings(trained.settings, config);
    if (!changed.empty())
        printNote("Data: " + settingsText(changed) + "." + consequences(config.task, changed) +
                  "\n");
    if (canCompare(config, changed)) tellPrint(config, trained, lane, weights);
    if (!predictsOtherwise(trained.print, lane.data)) return;
    const Message classes = otherClasses(trained.classes, lane.classes, config.task);
    if (!classes.empty()) printNote("Classes: " + classes.english() + ".\n");
}

InputError misfitOf(const RunConfig& config, const DataRecord& trained, const Dataset* data,
                    const InputError& why) {
    const auto changed = changedDataSettings(trained.settings, config);
    if (!changed.empty())
        return InputError(Message::data(settingsText(changed) + ": " + why.what()));
    return data ? misfit(config.task, trained.print, dataPrint(config.task, *data), why) : why;
}

} // namespace halfscope::cli
