// What the columns of a csv table become: inputs, the target, or nothing. Leaves what the numbers
// are shown and trained as to csv_table.
#pragma once

#include "engine/core/message.h"
#include "engine/data/task_spec.h"

#include <cstdint>
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
    Words   ///< an input of 0 and 1 for each word
};

struct CsvColumn {
    std::string name;
    ColumnUse use = ColumnUse::Number;
    std::vector<std::string> words{}; ///< sorted
    size_t input = 0;                 ///< the first of its inputs

    size_t inputs() const; ///< how many it has
};

/// The columns of a file. Inputs are in the order of pandas.get_dummies: numbers and truths as they
/// stand in the file, then the words of each column of them.
struct CsvLayout {
    char separator = ',';
    bool decimalComma = false; ///< 1,5 was found, in a table with semicolons
    std::vector<CsvColumn> columns{};
    size_t inputs = 0;

    /// "colour" of a column of numbers, "colour_red" of one of words.
    std::vector<std::string> inputNames() const;
    /// Whether data.missing leaves out the line at hand.
    bool drops(const CsvFile&, Missing) const;
};

/// Whether a column has no name, also in the words of pandas, which reads one as "Unnamed: 0".
bool isUnnamed(std::string_view name);
/// The columns by the header and the settings: all inputs are numbers until useWords(). InputError.
CsvLayout csvLayout(const TaskConfig&, CsvFile&);
/// Looks through task.path for the columns that hold words. InputError for those with too many
/// different ones.
void useWords(const TaskConfig&, CsvLayout&);

/// data.drop with the columns added that hold too many different words to be inputs; as it was
/// where there are none, or no others. InputError.
std::string dropWithManyWords(const TaskConfig&);
/// The names in data.drop: commas between them, those with a comma in quotation marks.
std::vector<std::string> droppedColumns(std::string_view text);

/// What became of the columns, in whole sentences.
std::vector<Message> columnNotes(const CsvLayout&, const TaskConfig&);

} // namespace halfscope
