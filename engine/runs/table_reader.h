// Reads a csv file of a run row by row. Columns are found by name, in any order. An error names the
// file, the line, the column, the value and what is allowed, in one sentence.
#pragma once

#include "engine/core/message.h"
#include "engine/io/csv.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Every function may throw InputError.
class TableReader {
public:
    /// The limit of a table; more rows would not fit into a common machine's memory.
    static constexpr int64_t kMostRows = int64_t{1} << 25;
    static constexpr size_t kMostColumns = 256;

    /// Reads the header: names of plain text, each only once. A file without a complete first line
    /// has no columns.
    explicit TableReader(const std::string& path);
    TableReader(const TableReader&) = delete;
    TableReader& operator=(const TableReader&) = delete;

    const std::vector<std::string>& columns() const { return m_columns; }
    /// Returns the place of a column, or -1 when the file has none of that name.
    int find(std::string_view name) const;
    /// Does the same for a column that the file must have.
    int wanted(std::string_view name) const;

    /// Reads the next row, past empty lines; false at the end, and where the file was cut off.
    bool next();
    bool cutOff() const { return m_reader.cutOff(); }

    std::string_view text(int column) const { return m_fields[static_cast<size_t>(column)]; }
    /// Returns a field of the row, also of one that next() refused; empty where it has none.
    std::string_view fieldFound(int column) const;
    int64_t whole(int column, int64_t least, int64_t most) const;
    /// Returns a share from 0 to 1; a sum of roundings may exceed 1 by `rounding`.
    float share(int column, float rounding) const;
    /// Returns a number in Number's precision: float or double.
    template <class Number>
    Number number(int column) const {
        Number value = 0;
        if (!parsed(text(column), value))
            refuse(column, phrase("Files", "a number, nan, inf or -inf"));
        return value;
    }
    /// Returns a scale or a time, which is neither negative nor nan.
    template <class Number>
    Number numberFromZero(int column) const {
        Number value = 0;
        if (!parsed(text(column), value) || !(value >= 0))
            refuse(column, phrase("Files", "a number from 0 or inf"));
        return value;
    }
    /// Returns the index of a lane's name, or -1 for "all" when that is allowed.
    int32_t lane(int column, std::span<const std::string> names, bool mayBeAll) const;

    [[noreturn]] void refuse(int column, const Message& allowed) const;
    /// Returns "PATH, line 4" for the row.
    std::string place() const { return m_reader.place(); }
    /// The share of the file that is read, 0 to 1.
    double shareRead() const { return m_reader.share(); }

private:
    template <class Number>
    static bool parsed(std::string_view field, Number& value) {
        const char* const last = field.data() + field.size();
        const auto [end, error] = std::from_chars(field.data(), last, value);
        return error == std::errc() && end == last;
    }

    CsvReader m_reader;
    std::vector<std::string> m_columns;
    std::vector<std::string_view> m_fields;
    int64_t m_rows = 0;
};

} // namespace halfscope
