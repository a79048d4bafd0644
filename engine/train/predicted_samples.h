// What a lane predicts for samples of another file: of a table, the table with one more column; of
// arrays, an array; of pictures, a table of their classes.
#pragma once

#include "engine/core/error.h"
#include "engine/train/experiment.h"
#include "engine/train/run_weights.h"

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace halfscope {

constexpr int kEveryLane = -1; ///< in place of a lane

/// Whether other samples can be predicted: those of tables, arrays and pictures.
bool canPredictFile(TaskKind);
/// Whether what is predicted of them is a table, which holds several lanes; of arrays, it is an
/// array of one.
bool predictsTables(TaskKind);
/// Reads the names of columns only. Throws InputError when task.predictFile, a table, lacks a
/// column that the network was trained on; of other kinds it says nothing. Can be cancelled.
void checkColumnsToPredict(const TaskConfig&);
/// Whether these are pictures, in a folder or in one file.
bool predictsPictures(TaskKind);

/// Returns a sentence when the training data are no longer what they were: `trained` and `now` are
/// results of dataPrint(), empty where nothing is known.
std::optional<Message> changedSince(const TaskConfig&, const std::string& trained,
                                    const std::string& now);
/// Returns the error to throw for weights that do not fit the network for the training data. Where
/// these are no longer what they were, that comes first: the number of columns or classes may be
/// another one.
InputError misfit(const TaskConfig&, const std::string& trained, const std::string& now,
                  const InputError& why);

/// Returns a sentence when the samples in task.predictFile are those that the networks, one or
/// several, were trained on: how well they predict them tells little of others.
std::optional<Message> trainedOn(const TaskConfig&, size_t networks);
/// Returns what is told of predictions with weights that were drawn.
Message untrainedNote(size_t networks);

/// Returns .npy of what a lane predicts: float32, or float64 where Predictions::exact() is set.
std::string predictionsNpy(const Predictions&);
/// Returns one of its values or targets as text, with the digits that are known.
std::string predictedText(const Predictions&, double value);

/// The classes that a lane takes pictures for; both texts are empty where it could not tell.
struct PredictedClass {
    std::string name, probability;
};
/// Returns them by sample; `classes` are the names of the classes.
std::vector<PredictedClass> predictedClasses(const Predictions&,
                                             std::span<const std::string> classes);

/// What a lane computes for the samples.
struct LanePredictions {
    std::string lane;
    const Predictions& all;
};
/// Whether a sample of task.predictFile could be read: only those that could not have nan in place
/// of their target, which is not known of any.
bool wasRead(const Predictions&, size_t sample);
/// Whether all values that are predicted for a sample are finite.
bool isFinitelyPredicted(const Predictions&, size_t sample);
/// Returns a sentence on the samples for which the lane computes inf or nan; nothing where there
/// are none.
std::optional<Message> notFiniteNote(const LanePredictions&);
/// Returns that sentence about `odd` of so many samples.
std::optional<Message> notFiniteNote(const std::string& lane, int64_t odd, int64_t samples);
/// Returns the table of what lanes predict for the samples in task.predictFile, which are lines of
/// a table or pictures: see predictedSamples(). The names of the columns end with the lane's where
/// there are several. `classes` are the names of the classes; null where targets are numbers.
std::string predictedTable(const TaskConfig&, std::span<const LanePredictions>,
                           const std::vector<std::string>* classes);
/// Returns the name of the column that is predicted, of a table or of texts with classes.
std::string targetName(const TaskConfig&);
/// Returns what is known of the samples in task.predictFile beside what is known of the training
/// data.
std::vector<Message> notesOnPredicted(const TaskConfig&);

struct PredictedSamples {
    std::string bytes; ///< of the file
    /// What users should know about the samples, in whole sentences: words that the training data
    /// lack, for example, that the training data changed or are these samples, that nothing was
    /// trained yet, or how good the predictions are where the file has the targets, too.
    std::vector<Message> notes{};
};

/// Returns the lines of the table `samples` as they stand there, with the lane's predictions behind
/// them, classes with their probabilities; a line that lacks a value has none, unless data.missing
/// is mean. Of arrays,
/// predictionsNpy(), (samples, outputs). Of pictures, a table in csv: name, class and its
/// probability. `lane` may be kEveryLane where predictsTables(): the names of the columns then end
/// with the lane's, if there are several. Pictures that cannot be decoded are named in the notes
/// and have neither. Reads the training data, too: words, means and deviations are theirs. Builds a
/// network of its own, so nothing of the training changes. Returns nothing when `stop` asks for it.
/// Throws InputError when the file does not fit.
std::optional<PredictedSamples> predictedSamples(Experiment&, int lane, const std::string& samples,
                                                 const std::stop_token& stop = {});
/// Returns what a lane of a saved run predicts, as the other one does; all of its lanes where the
/// name is empty.
std::optional<PredictedSamples> predictedSamples(const RunWeights&, const std::string& lane,
                                                 const std::string& samples,
                                                 const std::stop_token& stop = {});

} // namespace halfscope
