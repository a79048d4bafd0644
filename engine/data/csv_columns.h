// Decides what the columns of a csv table become: inputs, the target, or nothing. How the numbers
// are shown and what they are trained as is left to csv_table.
#pragma once

#include "engine/core/message.h"
#include "engine/data/csv_seen.h"
#include "engine/data/task_spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

class CsvFile;

enum class ColumnUse : uint8_t {
    LeftOut, ///< by data.drop, or because it has no name
    Target,
    Number, ///< one input
    Truth,  ///< one input: true and yes are 1, false and no are 0
    Words   ///< one input for each word, 0 or 1
};

/// What users should know about the fields of a column.
enum class ColumnHint : uint8_t {
    None,
    NoValue,     ///< of a column that is left out
    ManyWords,   ///< likewise; too many to be inputs
    Mixed,       ///< likewise; numbers with a word here and there
    BeyondFloat, ///< likewise; numbers, one of which float32 does not hold
    OtherMark,   ///< likewise; numbers, some with points where others have decimal commas
    Dates,       ///< likewise; dates
    Formatted,   ///< numbers with separators or signs, which are read as words
    NamesLines,  ///< each line has another number, or another word
    OneValue     ///< all lines have the same number, truth or word
};

struct CsvColumn {
    std::string name;
    ColumnUse use = ColumnUse::Number;
    std::vector<std::string> words{};   ///< sorted
    bool gaps = false;                  ///< of numbers; words such as "-" are missing values
    size_t input = 0;                   ///< index of the column's first input
    ColumnHint hint = ColumnHint::None; ///< known once the samples are read
    /// Likewise, see SeenNumbers.
    std::optional<RepeatedNumber> placeholder{};
    /// Likewise the first word, and the first number that float32 does not hold, of a column that
    /// is left out: "PATH, line 4: "1e300" in the column "size"".
    Message firstWord{}, beyondFloat{};

    size_t inputs() const; ///< how many inputs the column has
};

/// The columns of a file. Inputs are in the order of pandas.get_dummies: first the numbers and
/// truths in the order of the file, then the words of each column that holds words.
struct CsvLayout {
    char separator = ',';
    bool commas = false;       ///< see CsvFile::commas()
    bool decimalComma = false; ///< a number such as 1,5 was found
    std::vector<CsvColumn> columns{};
    size_t inputs = 0;
    std::vector<std::string> renamed{}; ///< see CsvFile::renamed()

    /// Returns the names of all inputs: "colour" for a column of numbers, "colour_red" for a word
    /// in a column of words. One that is already there gets a number: "colour_red.1" where another
    /// column is called "colour_red".
    std::vector<std::string> inputNames() const;
    /// Whether the current line of the file has no value in a column. In one of numbers, the words
    /// that people write there count as none, see isGapWord().
    bool lacks(const CsvFile&, size_t column) const;
    /// Whether data.missing leaves out the current line of the file.
    bool drops(const CsvFile&, Missing) const;
};

/// Whether a column has no name. "Unnamed: 0" is none either: pandas writes it for a column without
/// a name.
bool isUnnamed(std::string_view name);
/// Returns the columns as the header and the settings have them: all inputs are numbers until
/// useWords() is called. Throws InputError for a header with fewer than 2 columns, for settings
/// that name wrong columns, and when no input is left.
CsvLayout csvLayout(const TaskConfig&, CsvFile&);
/// Looks through task.path and finds the columns that hold words, and those of numbers that have
/// words for missing values. Throws InputError when a column
/// has too many different words, or when the words make too many inputs.
void useWords(const TaskConfig&, CsvLayout&);

/// Returns data.drop with the columns added that cannot be inputs: those with too many different
/// words, those of numbers with a word here and there, with a number that float32 does not hold or
/// with another decimal mark than most, and those without any value; likewise those of dates, see
/// dropWithDates(). Returns it unchanged
/// when there are no such columns or no other inputs, and when the setting cannot hold their names.
/// Throws InputError as CsvFile and csvLayout() do.
std::string dropWithUnusable(const TaskConfig&);
/// Returns data.drop with the columns of dates added, however few there are: inputs of 0 and 1 for
/// days are of no use for any other day. Otherwise like dropWithUnusable().
std::string dropWithDates(const TaskConfig&);
/// Returns data.drop with this column added if it is one of dates, see dropWithDates(): once it is
/// no longer the target, it would become inputs that nobody asked for.
std::string dropIfDates(const TaskConfig&, std::string_view column);
/// Returns the name of the column to predict. Throws InputError as CsvFile does.
std::string targetColumn(const TaskConfig&);
/// Returns data.drop without one of its columns.
std::string dropWithout(const TaskConfig&, std::string_view column);
/// Returns the columns in which words stand for missing values, see CsvLayout::lacks(), in
/// task.path or the tables beside it. Reads these tables. Throws InputError as CsvFile and
/// csvLayout() do.
std::vector<std::string> columnsWithGaps(const TaskConfig&);
/// Returns the names of the columns of the table, in its order. Throws InputError as CsvFile does.
std::vector<std::string> columnNames(const TaskConfig&);
/// Returns the names in data.drop, which has commas between them; names with a comma are in
/// quotation marks.
std::vector<std::string> droppedColumns(std::string_view text);

/// Returns whole sentences that say what became of the columns of a table whose samples were read.
/// `formatted` is the place of the first number that was read as a word, if there is one.
std::vector<Message> columnNotes(const CsvLayout&, const Message& formatted, const TaskConfig&);

} // namespace halfscope
