// Reads a table once more to name a line.
#include "engine/data/csv_refusals.h"

#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/data/csv_fields.h"

#include <algorithm>

namespace halfscope {

namespace {

/// Throws the error for the first unread number of the columns, if there is one.
void refuseUnreadNumbers(const TaskConfig& task, const CsvLayout& layout,
                         const std::vector<std::string>& names) {
    CsvFile file = tableOf(task);
    const size_t columns = file.readHeader().size();
    while (columns == layout.columns.size() && file.next())
        for (size_t i = 0; i < columns; ++i)
            if (isUnreadNumber(file.text(i), file.commas()) &&
                std::ranges::count(names, layout.columns[i].name) > 0)
                throw unreadNumber(file, i, layout.columns[i].name);
}

} // namespace

InputError unreadNumber(const CsvFile& file, size_t column, const std::string& name) {
    const Phrase form =
        isFormattedNumber(file.text(column))
            ? phrase("Data", "%1: %2 in the column %3 is not allowed: a number without thousands "
                             "separators, percent signs and signs of currency; to use such values, "
                             "%4")
            : phrase("Data", "%1: %2 in the column %3 is not allowed: a number with a decimal "
                             "point; decimal commas are read only where no number of the table has "
                             "a point; to use such values, %4");
    return InputError(form, file.place(), quotedText(file.fields[column]), quotedText(name),
                      kFormatAsNumber);
}

void refuseManyWords(const TaskConfig& task, const CsvLayout& layout,
                     const std::vector<std::string>& many,
                     const std::vector<std::string>& formatted,
                     const std::optional<std::string>& drop) {
    const auto inputs = static_cast<size_t>(std::ranges::count(
        layout.columns, ColumnUse::Number, &CsvColumn::use)); // before words are found
    if (inputs == many.size()) {
        refuseUnreadNumbers(task, layout, formatted);
        throw InputError(phrase("Data", "%1: more than %2 different words are too many for columns "
                                        "of inputs: %3; there is no other column to be an input"),
                         pathText(task.path), kMostWords, someOf(many));
    }
    if (!drop)
        throw InputError(phrase("Data", "%1: more than %2 different words are too many for "
                                        "columns of inputs: %3; save the table without such "
                                        "columns"),
                         pathText(task.path), kMostWords, someOf(many));
    throw InputError(phrase("Data", "%1: more than %2 different words are too many for "
                                    "columns of inputs: %3; to leave such columns out, set "
                                    "data.drop to %4"),
                     pathText(task.path), kMostWords, someOf(many), *drop);
}

} // namespace halfscope
