// Reads the samples of csv tables, by what their columns are.
#pragma once

#include "engine/data/csv_columns.h"

namespace halfscope {

struct CsvTable {
    CsvLayout layout;
    std::vector<float> x;             ///< (samples, inputs); nan where a mean takes its place
    std::vector<float> numbers;       ///< targets, one of the two
    std::vector<int32_t> labels;      ///< indices of classes
    std::vector<std::string> classes; ///< as they stand in the file
    bool wholeClasses = false;        ///< all of them are whole numbers
    int64_t samples = 0;
    int64_t dropped = 0; ///< lines that lack a value
    int64_t filled = 0;  ///< values that are missing in x
};

/// Reads task.path. Cancellable. InputError with path and line.
CsvTable readCsvTable(const TaskConfig&);
/// The inputs of another file, task.predict, by the names of the columns that `like` has; it needs
/// no target. InputError for a column that is not there and for words that `like` does not have.
CsvTable readCsvInputs(const TaskConfig&, const CsvLayout& like);

} // namespace halfscope
