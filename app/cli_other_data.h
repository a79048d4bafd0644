// Says where the data that weights are judged on, or their settings, are not those of the training.
#pragma once

#include "app/cli_scores.h"

#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/settings/run_config.h"
#include "engine/train/data_record.h"

#include <string>

namespace halfscope::cli {

/// Tells what of the data and of their settings differs from `trained`. `weights` is the file of
/// weights, of which nobody knows whether they are of these data at all; empty for those of a run.
void tellOtherData(const RunConfig&, const DataRecord& trained, const Judged& lane,
                   const std::string& weights);

/// Returns the error to throw for weights that do not fit the network for the data: what differs in
/// the settings of these comes first or, where the data are read and are those of the weights' run,
/// that they have changed.
InputError misfitOf(const RunConfig&, const DataRecord& trained, const Dataset* data,
                    const InputError& why);

} // namespace halfscope::cli
