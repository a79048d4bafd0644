// The words of a sample occur again below it; those of a header hardly ever do.
#include "engine/data/csv_header.h"

#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/data/csv_fields.h"
#include "engine/data/csv_seen.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace halfscope {

namespace {

/// A field of the first line, and what stands below it.
struct Below {
    std::string name;
    std::optional<double> number{}; ///< the name, when it is one
    SeenFields fields{};

    bool isFraction() const {
        return number && std::isfinite(*number) && *number != std::trunc(*number);
    }
    bool isAboveNumbers() const { return fields.areNumbers(); }
    bool isMetAgain() const { return fields.hasWord(name); }
    /// Nothing follows from not meeting it again.
    bool isAmongUnique() const {
        return fields.areWords() && (fields.hasManyWords() || fields.areAllDifferent());
    }
};

std::vector<Below> firstLines(const std::string& path) {
    constexpr int kLines = 1000;
    CsvFile file(path, true);
    std::vector<Below> columns;
    file.readHeader();
    for (const std::string_view field : file.fields) // as it stands there, also a second time
        columns.push_back({std::string(trimmed(field))});
    for (Below& column : columns) {
        const NumberText text(column.name, file.commas());
        if (text.isNumber()) column.number = numberOf(column.name, file.commas());
    }
    for (int line = 0; line < kLines && file.next(); ++line)
        for (size_t i = 0; i < columns.size(); ++i)
            columns[i].fields.add(file, i);
    return columns;
}

/// Words are a sample's when one of them is met again and nothing speaks against the others.
bool areWordsOfASample(const std::vector<Below>& columns) {
    const auto fits = [](const Below& column) {
        if (column.number && column.isAboveNumbers()) return true;
        if (column.number) return column.isMetAgain();
        return isMissing(column.name) || column.isMetAgain() || column.isAmongUnique();
    };
    return std::ranges::all_of(columns, fits) && std::ranges::any_of(columns, &Below::isMetAgain);
}

} // namespace

bool namesColumns(const std::string& path) {
    std::vector<Below> columns;
    try {
        columns = firstLines(path);
    } catch (const InputError&) { // whoever reads it tells
        return true;
    }
    // pandas and R leave the column of the index without a name
    if (!columns.empty() && columns.front().name.empty()) return true;
    const auto isFractionAboveNumbers = [](const Below& column) {
        return column.isFraction() && column.isAboveNumbers();
    };
    if (std::ranges::any_of(columns, isFractionAboveNumbers)) return false;
    if (!std::ranges::all_of(columns,
                             [](const Below& column) { return column.number.has_value(); }))
        return !areWordsOfASample(columns);
    const bool rises = std::ranges::is_sorted(columns, std::ranges::less_equal{}, &Below::number);
    return rises || !std::ranges::all_of(columns, &Below::isAboveNumbers);
}

Message renamedNote(std::span<const std::string> renamed) {
    return {phrase("Data", "Names of columns stand in the first line more than once; those after "
                           "the first are called: %1."),
            someOf(renamed)};
}

} // namespace halfscope
