// What halfscope-cli evaluate found out, as text for people and as files.
#pragma once

#include "engine/core/message.h"
#include "engine/data/class_counts.h"
#include "engine/io/output_folder.h"
#include "engine/runs/step_record.h"
#include "engine/train/trainer.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope::cli {

/// A lane on the samples that nothing trains on.
struct Judged {
    std::string lane, weights; ///< its name; the file of its weights
    Validation validation;
    /// e to the power of the loss, where that is the cross entropy of every character of a text.
    std::optional<double> perplexity{};
    ClassCounts counts;               ///< no classes where targets are numbers
    std::vector<std::string> classes; ///< their names
    int64_t samples = 0;              ///< that could be read
    std::vector<Message> leftOut;     ///< why others could not
    Predictions predictions;          ///< empty where nobody asked for them
};

/// A line for each lane, and, of few classes, how often each was taken for which.
std::string scoresTable(std::span<const Judged>);
/// Writes samples.csv and the predictions of each lane, for samples whose targets are not known.
void writePredictions(const OutputFolder&, std::span<const Judged>);
/// Writes scores.json, samples.csv and the predictions of each lane.
void writeScores(const OutputFolder&, std::span<const Judged>);

} // namespace halfscope::cli
