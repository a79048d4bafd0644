// What views need to know about a run and its settings. Knows no widgets.
#pragma once

#include "engine/runs/run_store.h"

#include <QStringList>

#include <cstdint>
#include <optional>
#include <vector>

namespace halfscope {

/// Whether a lane has a loss scale.
bool laneScales(const RunConfig&, int lane);
/// Whether what a lane's column has at a step is a loss scale: the past of a fork is that of its
/// parent, which may have none.
bool scalesAt(const RunSnapshot&, int lane, int64_t step);
/// Whether gradients that were counted after the lane's newest step have another loss scale than
/// that step left: it was set by hand, and no step has used it yet.
bool haveNewScale(const GradientRange&, const RunSnapshot&, int lane);
/// Whether a lane has a loss scale, had one earlier in the run, or may have one: settings may
/// describe fewer lanes than a saved run has.
bool someLaneScales(const RunSnapshot&);
/// Whether a lane computes gradients in 16 bits or fewer, or may do so, by a policy of the user's.
bool laneIsHalf(const RunConfig&, int lane);
/// Returns the settings of a lane; null where they are not known: they may describe fewer lanes
/// than a saved run has.
const LaneConfig* laneConfigOf(const RunConfig&, int lane);
/// Returns the clean steps before the lane's loss scale grows; 0 when it has no dynamic scaler.
int64_t growthIntervalOf(const RunConfig&, int lane);
/// Whether the scale grows at exactly that number of clean steps, as in PyTorch, and not beyond it.
bool growsExactly(const RunConfig&, int lane);
/// Returns the lane that a lane of a recorded run continues; -1 for none.
int parentOfLane(const RunConfig& recorded, int lane);
/// Whether a lane was forked after this step or a later one: it has no value of its own there.
bool forkedSince(const RunSnapshot&, std::optional<int64_t> step);
/// Returns the title of each lane, such as "amp-fp16", under the present settings.
QStringList laneTitlesOf(const RunSnapshot&);
/// Returns what a run learns from, where the user's name for it in the list does not tell: "Two
/// moons", or "wine.csv". Else empty.
QString untoldDataOf(const RunStore::Entry&);
/// Returns a sentence for each lane that says what its precision is.
QStringList laneAbouts(const RunConfig&);
/// What stays the same about a lane for a whole run.
struct LaneFacts {
    bool scales = true; ///< has a loss scale
    MemoryUse memory{}; ///< empty when it is not known
    QString about{};    ///< its precision in a sentence
    bool live = true;   ///< the lane is trained here, so its settings can be edited
    /// Which value of its validation is worth showing; Not when there is no validation.
    enum class Judged { Not, ByLoss, ByAccuracy, ByError } judged = Judged::Not;
    bool half = false;    ///< computes gradients in 16 bits or fewer
    bool watched = false; ///< its weights are watched, see run.watch_weights
    bool counted = false; ///< its gradients were counted here, also where it is no longer trained
    QString loss{};       ///< what the loss is called where it is a critic's, and what it means
    QString lossAbout{};
};
/// Returns the facts of the lanes that the run has now. `live`: see LaneFacts.
std::vector<LaneFacts> laneFactsOf(const RunSnapshot&, bool live);
/// Returns the metrics that are worth a plot of their own, from top to bottom: those that this run
/// measures, and those that every run has. Learning rate and gradient norm are among them when the
/// settings make them change, loss scale and skipped steps when a lane scales its loss or did so.
std::vector<MetricId> plottedMetrics(const RunSnapshot&);
/// Returns the lane of `other` with which a run's lane is compared: the same one when both runs
/// have equally many lanes, else the one of the same name; -1 when there is none.
int laneLike(const RunSnapshot&, int lane, const RunSnapshot& other);
/// Returns how many steps an epoch of the run has, by its rows; nothing before its second epoch,
/// and when it does not record epochs.
std::optional<int64_t> epochLengthOf(const RunSnapshot&);
/// Returns "epoch 3 of 10, batch 12 of 157" at the step that every lane has finished; before the
/// first step what is to come, "10 epochs of 157 batches". Empty when every step is an epoch, and
/// when the run does not record epochs.
QString epochText(const RunSnapshot&);
/// Returns what it says at the end of the run, which takes the most room.
QString longestEpochText(const RunSnapshot&);
/// Returns the pace at which the last steps of a run were trained; 0 when none held them back, as
/// on the command line, which trains at full speed whatever run.pace says.
double paceOf(const RunSnapshot&);
/// Returns the seconds between two of the last steps after `begin`, with what comes between them,
/// such as validations; infinite when they are not known.
double lateSecondsPerStep(const RunSnapshot&, int64_t begin);
/// Returns how long the run trained, in seconds, without pauses.
double trainedSeconds(const RunSnapshot&);
/// Returns the rows of all lanes together.
int64_t rowsOf(const RunSnapshot&);

} // namespace halfscope
