// How good predictions for other samples are, where their file has the targets, too: a column of
// the table, an array y, or the names of the folders in which pictures lie.
#pragma once

#include "engine/train/predicted_samples.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// How good the predictions are for the samples whose target is known and which could be read.
struct KnownTargets {
    std::string name{};   ///< of the column or array; empty for pictures
    std::string file{};   ///< that has the targets; empty: the one of the samples
    bool classes = false; ///< targets are classes
    int64_t samples = 0;  ///< as many
    int64_t values = 0;   ///< of all known samples and outputs; not counted of classes
    /// By lane, of numbers: the samples of which all outputs are finite; `error` and
    /// `determination` are theirs. Where there are none, the errors are nan.
    std::vector<int64_t> finite{};
    /// By lane: of classes, as many have the predicted class; with a loss that takes targets from 0
    /// to 1, where all of them are 0 or 1, as many values have a logit on the right side of 0; else
    /// empty.
    std::vector<int64_t> right{};
    /// By lane, of numbers: the mean absolute error; of logits, that of their sigmoid.
    std::vector<double> error{};
    bool logits = false; ///< predictions are logits, whose sigmoid is compared
    /// By lane, of numbers: 1 - squared errors / squared distances from the mean, the coefficient
    /// of determination; over several outputs, of their sums. nan where all targets are equal.
    std::vector<double> determination{};

    /// Of classes: as many of `samples` have one that the network does not know, and these are the
    /// first of their names, up to kMostNamed and one more.
    int64_t unknown = 0;
    std::vector<std::string> unknownNames{};
    static constexpr size_t kMostNamed = 3;

    /// Returns a sentence on those; nothing where there are none.
    std::optional<Message> unknownSentence() const;
    /// Returns a sentence on one lane. With `lane`, it begins with that name.
    Message sentence(size_t index, const std::string& lane = {}) const;

private:
    Message classesSentence(size_t index) const;
    Message logitsSentence(size_t index) const;
    Message numbersSentence(size_t index) const;
    /// Returns how many samples the scores of a lane are of.
    Message countOf(size_t index) const;
};

/// What came of a comparison with targets.
struct TargetScores {
    std::optional<KnownTargets> known{}; ///< nothing where no targets are known
    Message reason{};    ///< a sentence on targets that are there but do not fit; else empty
    bool logits = false; ///< predictions are logits
};

/// Compares what lanes predict for the samples in task.predictFile with the targets in it.
/// `classes` as for predictedTable(). A class that the network does not know counts as one that is
/// not predicted right, and so does a prediction of nan. Throws InputError when the file cannot be
/// read.
TargetScores knownTargets(const TaskConfig&, std::span<const LanePredictions>,
                          const std::vector<std::string>* classes);

/// Whether the sentences on scores begin with the name of the lane.
enum class LaneNamed : bool { No, Yes };
/// Returns what is told of predictions, in whole sentences: for how many samples each lane computes
/// inf or nan, how good the others are or why there are no scores, and the classes that the network
/// does not know.
std::vector<Message> predictionNotes(std::span<const LanePredictions>, const TargetScores&,
                                     LaneNamed);

} // namespace halfscope
