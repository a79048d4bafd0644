// A first experiment on data of the user's: what to try when all that is known is the data.
#pragma once

#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_config.h"

#include <optional>
#include <span>
#include <string>

namespace halfscope {

/// Of a file or folder that a data set can be made of (DataSetInfo::opens): the data set, a loss
/// that fits its targets, a small network, Adam and about a thousand steps, in the lanes fp32 and
/// amp-fp16. Nothing where no data set knows the path. Reads what the facts need, from any thread.
/// `given` are settings that the user chose: those of the data and the task, such as the column to
/// predict, hold before anything is fitted to them; others are left to the caller. InputError where
/// the data cannot be used.
std::optional<RunConfig> experimentOn(const std::string& path,
                                      std::span<const Assignment> given = {});
/// Of a file that experimentOn() does not know: returns where it can be an experiment's, else
/// InputError says what would help.
void checkCanBeExperiment(const std::string& path);
/// Of a folder that holds neither such data nor a saved run.
InputError nothingInFolder(const std::string& path);

/// model.layers for samples of indices with a class each: two layers of a transformer's encoder, or
/// where each position has a class, causal ones.
std::string encoderLayers(const DataFacts&);

} // namespace halfscope
