// Reads the samples of csv tables, as the layout of their columns says.
#pragma once

#include "engine/data/csv_columns.h"

#include <set>

namespace halfscope {

struct CsvTable {
    CsvLayout layout;
    /// (samples, inputs); nan until a mean replaces it. In double, because float32 would round
    /// times in seconds or long ids before they are standardised.
    std::vector<double> x;
    std::vector<double> numbers;      ///< the targets, unless they are classes
    std::vector<int32_t> labels;      ///< the targets as indices of classes
    std::vector<std::string> classes; ///< as written in the file
    bool wholeClasses = false;        ///< all classes are whole numbers
    Message equalClasses;             ///< see CsvClasses
    /// The places of the samples among the lines of the file, from 0; empty lines do not count.
    std::vector<int64_t> places;
    int64_t samples = 0;
    int64_t dropped = 0;  ///< lines left out because a value is missing
    int64_t keepable = 0; ///< those of them that have a target: data.missing mean would keep them
    int64_t filled = 0;   ///< missing values in x
    bool filledWords = false;             ///< some of them are words
    std::set<std::string> missingWords{}; ///< stood for missing values, filled or left out
    /// The samples with words that the training data lack: the inputs of such a column are 0.
    std::vector<int64_t> unknown;
    Message firstUnknown; ///< "PATH, line 4: "teal" in the column "colour""
    /// Words that are neither true nor false, where the training data have only these: they count
    /// as missing values.
    int64_t untrue = 0;
    Message firstUntrue; ///< likewise
    Message formatted;   ///< likewise the first number that is read as a word, see Formatted
};

/// Returns the note on the lines of a table that data.missing leaves out, and on the value of it
/// that keeps more of them, where one does.
Message droppedNote(const CsvTable&);
/// Whether a note is such a one.
bool isDroppedNote(const Message&);

/// Returns the note on missing values, of which there are some, that data.missing mean replaces.
Message filledNote(const CsvTable&);

/// Reads task.path. Cancellable. Throws InputError with the path and the line.
CsvTable readCsvTable(const TaskConfig&);
/// Reads the samples of another file from the columns with the names in the layout of `trained`, a
/// table without lines to predict; their targets are known, and classes have its numbers. Throws
/// InputError, with the path, when a column is missing, and for values that do not fit: classes
/// that `trained` lacks, and what readCsvTable() refuses. Words that it lacks are counted.
CsvTable readCsvLike(const TaskConfig&, const std::string& path, const CsvTable& trained);
/// Reads the inputs of another file, task.predictFile, from the columns with the names in `like`;
/// no target is needed. Throws InputError when a column is missing. Words that `like` does not have
/// are counted, and so are lines that lack a value, which are left out unless means fill them.
CsvTable readCsvInputs(const TaskConfig&, const CsvLayout& like);

/// Throws what readCsvInputs() throws for a missing column; reads no lines.
void checkNewColumns(const TaskConfig&);
/// Throws what readCsvLike() throws for the columns of a table; reads no lines.
void checkColumnsLike(const TaskConfig&, const std::string& path, const CsvLayout& trained);

} // namespace halfscope
