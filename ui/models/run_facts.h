// What views need to know about a run and its settings. Knows no widgets.
#pragma once

#include "engine/runs/run.h"

#include <QStringList>

#include <vector>

namespace halfscope {

/// Whether a lane has a loss scale.
bool laneScales(const RunConfig&, int lane);
/// Clean steps before its loss scale grows; 0: it has no dynamic scaler.
int64_t growthIntervalOf(const RunConfig&, int lane);
/// Whether it grows at that number alone, as in PyTorch, and not beyond it.
bool growsExactly(const RunConfig&, int lane);
/// "amp-fp16", by lane, as the settings are now.
QStringList laneTitlesOf(const RunSnapshot&);
/// What each lane's precision is, in a sentence.
QStringList laneAbouts(const RunConfig&);
/// The metrics that are worth a plot of their own, from above: those that the run measures or that
/// every run does; learning rate and gradient norm where the settings make them change.
std::vector<MetricId> plottedMetrics(const RunSnapshot&);
/// The lane of `other` that a run's lane is compared with: the same one where there are as many,
/// else the one of the same name; -1: none.
int laneLike(const RunSnapshot&, int lane, const RunSnapshot& other);
/// The last loss is shown with the median of so many steps, which a single spike does not move.
inline constexpr int kTrailingSteps = 25;
double trailingLoss(const RunSnapshot&, int lane);
/// "epoch 3 of 10, batch 12 of 157" at the step that every lane has finished; before the first one
/// what is to come, "10 epochs of 157 batches". Empty where every step is an epoch, and where the
/// run tells none.
QString epochText(const RunSnapshot&);
/// How long the run trained, in seconds, pauses left out.
double trainedSeconds(const RunSnapshot&);

} // namespace halfscope
