// The lines of a csv table and what a field's text means: a number, a truth, a missing value.
#pragma once

#include "engine/data/task_spec.h"
#include "engine/io/csv.h"

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// A missing value, as spreadsheets, R and pandas write it.
inline constexpr std::array<std::string_view, 10> kMissingWords{
    "", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "?"};
bool isMissing(std::string_view text);
/// 1 and 0 of true, yes, false and no, in letters of either case; nothing else has one.
std::optional<float> truthOf(std::string_view text);

/// A field's text in the form that from_chars reads.
struct NumberText {
    std::string_view text;
    char mark = 0;     ///< '.' or ',', where there is one
    std::string own{}; ///< what the text views, where it is not the field's

    /// With a decimal comma in place of the point where `commas` allows it: 1,5 but not 1,234.5.
    NumberText(std::string_view field, bool commas) : text(field) {
        if (text.starts_with('+')) text.remove_prefix(1);
        if (!commas) return;
        const size_t comma = text.find(',');
        if (text.find('.') != text.npos) mark = '.';
        if (comma == text.npos || mark != 0) return;
        mark = ',';
        own = text;
        own[comma] = '.';
        text = own;
    }
    NumberText(const NumberText&) = delete;
    NumberText& operator=(const NumberText&) = delete;

    /// Whether all of it was read.
    template <class Number>
    std::errc read(Number& value) const {
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
        return end == text.data() + text.size() ? code : std::errc::invalid_argument;
    }
    bool isNumber() const {
        float value = 0;
        return read(value) != std::errc::invalid_argument;
    }
};

/// nan for what is no number.
double numberOf(std::string_view text, bool commas);

/// A file from its header to its last line.
class CsvFile {
public:
    /// InputError, see CsvReader. The path outlives it.
    explicit CsvFile(const std::string& path);

    /// The names of the columns. InputError for an empty file or too many of them.
    std::vector<std::string> readHeader();
    /// The next line with a value; false behind the last. InputError for one with more or fewer
    /// fields than the header.
    bool next();

    std::string_view text(size_t column) const { return trimmed(fields[column]); }
    bool lacks(size_t column) const { return isMissing(text(column)); }
    char separator() const { return m_reader.separator(); }
    /// Whether numbers may have decimal commas: they may where semicolons stand between columns.
    bool commas() const { return separator() == ';'; }
    /// "PATH, line 4"
    std::string place() const { return m_reader.place(); }

    std::vector<std::string_view> fields; ///< of the line at hand

    static constexpr size_t kMostColumns = 100'000;

private:
    const std::string& m_path;
    CsvReader m_reader;
    size_t m_columns = 0;
};

} // namespace halfscope
