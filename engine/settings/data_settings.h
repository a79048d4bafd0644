// Tells whether the settings of the data are those that a network was trained with.
#pragma once

#include "engine/settings/run_config.h"

#include <string>
#include <vector>

namespace halfscope {

/// Returns the settings of the data on which it depends what a network sees of a sample and which
/// samples are held back, as an object of JSON with a text for each. Paths are not among them: data
/// may be moved. Columns that the settings leave open have the names that the table gives them.
std::string dataSettings(const RunConfig&);

/// Whether means of the samples to train on, or their deviations, are part of what a network sees
/// of each sample, or of its target.
bool learnsMeans(const TaskConfig&);

struct ChangedSetting {
    std::string key;     ///< "data.standardise"
    std::string was, is; ///< "true"
    bool holdsBack;      ///< it says which samples are held back, not what is seen of them
};
/// Returns those that differ from `trained`, a result of dataSettings(): of those that both have,
/// in the order of the table of settings. Empty where `trained` is no such text.
std::vector<ChangedSetting> changedDataSettings(const std::string& trained, const RunConfig&);

} // namespace halfscope
