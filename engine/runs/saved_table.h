// A csv file of a run, read field by field with the bounds of what a run can write; every refusal
// is a sentence with file, line, column, value and what is allowed.
#pragma once

#include "engine/io/csv.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// A table with the header that its writer gives it, and fields that are taken one after the other.
/// All of it throws InputError.
class SavedTable {
public:
    /// Of a table; more would not fit into a common machine's memory.
    static constexpr int64_t kMostRows = int64_t{1} << 25;

    /// `header` with its line end.
    SavedTable(const std::string& path, std::string_view header);
    SavedTable(const SavedTable&) = delete;
    SavedTable& operator=(const SavedTable&) = delete;

    /// The next row; false at the end.
    bool next();

    std::string_view text() { return m_fields[m_column++]; }
    int64_t whole(int64_t least, int64_t most);
    /// Nothing for an empty field.
    std::optional<int64_t> wholeOrNothing(int64_t least, int64_t most);
    /// From 0 to 1; a sum of roundings may be so much larger.
    float share(float rounding);
    template <class Number>
    Number number() {
        Number value = 0;
        if (!parsed(text(), value)) refuse("a number, nan, inf or -inf");
        return value;
    }
    /// A scale or a time: neither negative nor nan.
    template <class Number>
    Number numberFromZero() {
        Number value = 0;
        if (!parsed(text(), value) || !(value >= 0)) refuse("a number from 0 or inf");
        return value;
    }
    /// The index of a name; -1 for "all" where that may be.
    int32_t lane(std::span<const std::string> names, bool mayBeAll);

    /// Throws about the field that was taken last.
    [[noreturn]] void refuse(const std::string& allowed) const;
    /// "PATH, line 4" of the row.
    std::string place() const { return m_reader.place(); }
    /// Of the file, 0 to 1.
    double shareRead() const { return m_reader.share(); }

private:
    template <class Number>
    static bool parsed(std::string_view field, Number& value) {
        const char* const last = field.data() + field.size();
        const auto [end, error] = std::from_chars(field.data(), last, value);
        return error == std::errc() && end == last;
    }

    CsvReader m_reader;
    std::string m_header; ///< without its line end
    std::vector<std::string_view> m_columns, m_fields;
    size_t m_column = 0; ///< the next one
    int64_t m_rows = 0;
};

} // namespace halfscope
