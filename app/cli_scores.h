// The results of halfscope-cli evaluate, as text for people and as files.
#pragma once

#include "engine/core/message.h"
#include "engine/data/class_counts.h"
#include "engine/data/task_spec.h"
#include "engine/io/output_folder.h"
#include "engine/runs/step_record.h"
#include "engine/train/known_targets.h"
#include "engine/train/trainer.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope::cli {

/// How a lane does on the samples that no training uses.
struct Judged {
    std::string lane, weights; ///< the lane's name, and the file of its weights
    Validation validation;
    ClassCounts counts;               ///< has no classes when the targets are numbers
    std::vector<std::string> classes; ///< their names
    std::string data{};               ///< Experiment::dataPrint() of the training data as they are
    int64_t samples = 0;              ///< how many could be read
    int64_t notFinite = 0;            ///< see JudgedSamples
    bool test = false;                ///< whether they are those of the test
    std::vector<Message> leftOut;     ///< why others could not be read
    Predictions predictions;          ///< empty when nobody asked for them
};

/// Returns the names of the files that the functions below write or remove, for lanes of these
/// names.
std::vector<std::string> scoreFileNames(std::span<const std::string> lanes);
/// Throws InputError when a folder has files called as the tables of scores, but no predictions, so
/// that no evaluation has written them.
void checkScores(const std::string& folder);
/// Returns a line for each lane and, when there are few classes, how often each class was taken for
/// which. Then it says for how many samples a lane that has lost the loss predicts inf or nan.
std::string scoresTable(std::span<const Judged>);
/// Writes samples.csv and the predictions of each lane, for samples whose targets are not known: of
/// tables and pictures, the table that the window writes, with columns for each lane. Where the
/// file has the targets after all, writes scores.json, too.
TargetScores writePredictions(const OutputFolder&, std::span<const Judged>, const TaskConfig&);
/// Writes scores.json, samples.csv and the predictions of each lane; `texts` are the samples
/// themselves where they are texts of a table, otherwise none.
void writeScores(const OutputFolder&, std::span<const Judged>, std::span<const std::string> texts);

} // namespace halfscope::cli
