// A first experiment on a user's data: what to try when nothing but the data is known.
#pragma once

#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_config.h"

#include <optional>
#include <span>
#include <string>

namespace halfscope {

/// Makes an experiment for a file or folder that a data set can be made of (DataSetInfo::opens):
/// that data set, a loss that fits its targets, a small network, Adam and about a thousand steps,
/// in the lanes fp32 and amp-fp16. Returns nothing when no data set knows the path. Reads what the
/// facts need; any thread may call it. `given` are settings that the user chose: those of the data
/// and the task, such as the column to predict, apply before anything is fitted to them; others are
/// left to the caller. Throws InputError when the data cannot be used.
std::optional<RunConfig> experimentOn(const std::string& path,
                                      std::span<const Assignment> given = {});
/// Returns the experiment with another column of its table to predict, data.target; empty: the last
/// one. The loss, the columns left out, the lines that lack values and the scale of the target are
/// chosen as experimentOn() does. Reads the table. Throws InputError when the column cannot be
/// predicted.
RunConfig predicting(RunConfig, const std::string& column);
/// Checks a file that experimentOn() does not know. Returns if it can be an experiment file;
/// otherwise throws InputError that says what would help.
void checkCanBeExperiment(const std::string& path);
/// Returns the error for a folder that holds neither such data nor a saved run. It names files in
/// the folder that could be opened. Throws InputError itself for a folder with some files of MNIST.
InputError nothingInFolder(const std::string& path);

/// Tells whether a path ends as those of pictures do that can be read.
bool namesPicture(const std::string& path);
/// Returns the experiment with a network that paints the picture; where it paints none so far, the
/// preset "picture" takes its place.
RunConfig painting(RunConfig, const std::string& picture);
/// Returns a title for experiments on these data: the name of their file or folder or, when they
/// come from none, "Regression, own settings": of the data set on screen. Empty when that name is
/// no title.
Message titleOfData(const TaskConfig&);

/// Returns model.layers for samples of indices that have classes: two layers of a transformer's
/// encoder, which are causal when each position has a class.
std::string encoderLayers(const DataFacts&);

} // namespace halfscope
