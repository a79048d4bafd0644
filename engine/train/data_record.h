// What a training keeps of its data, for programs that use its networks later.
#pragma once

#include "engine/data/dataset.h"
#include "engine/settings/run_config.h"

#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Parts are empty where they are not known.
struct DataRecord {
    std::string print{};                ///< see dataPrint()
    std::string settings{};             ///< see dataSettings()
    std::vector<std::string> classes{}; ///< names, by number
};

/// Returns the print and the classes of data that were made from the settings; no classes where
/// they come from no files, where the format fixes what their numbers mean, and where the names are
/// too long to be kept.
DataRecord dataRecordOf(const RunConfig&, const Dataset& data);
/// Returns it with the settings, where the data come from files.
DataRecord withSettings(DataRecord, const RunConfig&);

/// Returns a sentence without its full stop when the data have other classes than those that a
/// network was trained on, or have them in another order; else an empty message. Names are compared
/// as files have them, and in tables equal numbers are one name, see isSameClass().
Message otherClasses(std::span<const std::string> trained, std::span<const std::string> now,
                     const TaskConfig&);

/// Returns names as a list of JSON, and reads one; anything else becomes no names.
std::string namesText(std::span<const std::string> names);
std::vector<std::string> namesFromText(const std::string& text);

} // namespace halfscope
