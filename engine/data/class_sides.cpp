// Compares the two sides class by class.
#include "engine/data/class_sides.h"

#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/data/losses.h"
#include "engine/data/target_scale.h"
#include "engine/data/targets.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace halfscope {

namespace {

/// The share of one class from which an accuracy says little.
constexpr double kMost = 0.8;

} // namespace

ClassSides::ClassSides(const HeldBack& splits, std::span<const int32_t> labels, size_t classes)
    : trained(classes), judged(classes) {
    const auto classOf = [labels](int32_t sample) {
        return static_cast<size_t>(labels[static_cast<size_t>(sample)]);
    };
    for (const int32_t sample : splits.train)
        ++trained[classOf(sample)];
    for (const int32_t sample : splits.validation)
        ++judged[classOf(sample)];
}

std::vector<Message> notesOn(const ClassSides& sides, std::span<const std::string> classes,
                             const TaskConfig& task) {
    std::vector<Message> notes;
    std::vector<std::string> unknown, unjudged;
    bool divisible = false; // some of them have samples for both sides
    for (size_t i = 0; i < classes.size(); ++i) {
        if ((sides.trained[i] == 0) == (sides.judged[i] == 0)) continue;
        (sides.trained[i] == 0 ? unknown : unjudged).push_back(classes[i]);
        divisible = divisible || sides.trained[i] + sides.judged[i] > 1;
    }
    if (!unknown.empty())
        notes.push_back({phrase("Data", "All samples of these classes are held back to validate "
                                        "on, so the network does not learn them: %1."),
                         someOf(unknown)});
    const int64_t judged = std::accumulate(sides.judged.begin(), sides.judged.end(), int64_t{0});
    if (judged == 0) return notes;
    if (!unjudged.empty())
        notes.push_back({phrase("Data", "These classes have no sample to validate on, so the "
                                        "accuracy tells nothing about them: %1."),
                         someOf(unjudged)});
    if (divisible && canStratify(task) && !task.stratify)
        notes.push_back({phrase("Data", "To hold back the same share of each class, %1."),
                         Message(kSetToTrue, "data.stratify")});
    const auto most = std::ranges::max_element(sides.judged);
    if (static_cast<double>(*most) >= kMost * static_cast<double>(judged) && *most < judged)
        notes.push_back({infoOf(task.loss.kind).hasWeights
                             ? phrase("Data", "Of %1 samples to validate on, %2 are %3: a network "
                                              "that always predicts %3 has an accuracy of %4 %. "
                                              "The setting task.class_weights can make the others "
                                              "count for more.")
                             : phrase("Data", "Of %1 samples to validate on, %2 are %3: a network "
                                              "that always predicts %3 has an accuracy of %4 %."),
                         judged, *most,
                         quotedText(classes[static_cast<size_t>(most - sides.judged.begin())]),
                         numberText(int64_t{100} * *most / judged)});
    return notes;
}

std::vector<Message> notesOnNumbered(const ClassSides& sides, const TaskConfig& task) {
    std::vector<std::string> classes, missing;
    for (size_t i = 0; i < sides.trained.size(); ++i) {
        classes.push_back(std::to_string(i));
        if (sides.trained[i] == 0 && sides.judged[i] == 0) missing.push_back(classes.back());
    }
    std::vector<Message> notes;
    if (classes.size() == 1)
        notes.push_back(kOneClass);
    else if (missing.size() == 1 && missing.front() == "0")
        notes.push_back(phrase("Data", "No sample to train or validate on has the class 0, from "
                                       "which classes are counted. If the labels count from 1, "
                                       "subtract 1 from each of them."));
    else if (!missing.empty())
        notes.push_back({phrase("Data", "No sample to train or validate on has these classes: %1. "
                                        "Labels are the numbers of classes, from 0 to %2, and the "
                                        "network has an output for each of them."),
                         someOf(missing), classes.size() - 1});
    std::ranges::move(notesOn(sides, classes, task), std::back_inserter(notes));
    return notes;
}

} // namespace halfscope
