// Reads one line at a time and skips lines without any value.
#include "engine/data/csv_fields.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

/// Refuses what would otherwise be read as a table of other columns, or of no lines.
void checkStart(const std::string& path, std::string_view record,
                const std::vector<std::string>& names) {
    if (record.starts_with("\xFF\xFE") || record.starts_with("\xFE\xFF"))
        throw InputError(phrase("Data", "%1: the text is UTF-16; save the table as UTF-8"),
                         pathText(path));
    if (record.find('\0') != record.npos)
        throw InputError(
            phrase("Data", "%1: this is not a csv table: it has bytes that no text has"),
            pathText(path));
    if (names.size() == 2 && names[0] == "sep=" && names[1].empty())
        throw InputError(phrase("Data", "%1: its first line, %2, is for Excel alone; remove it, so "
                                        "that the first line names the columns"),
                         pathText(path), quotedText(record));
    const size_t end = record.find('\r');
    if (end != record.npos && end + 1 < record.size() && record[end + 1] != '\n')
        throw InputError(phrase("Data", "%1: the lines end with CR alone, as on old Macs; save the "
                                        "table with LF or CR LF at the ends of its lines"),
                         pathText(path));
}

} // namespace

bool isMissing(std::string_view text) {
    return std::find(kMissingWords.begin(), kMissingWords.end(), text) != kMissingWords.end();
}

std::optional<float> truthOf(std::string_view text) {
    constexpr size_t kLongest = 5;
    if (text.size() > kLongest) return std::nullopt;
    const std::string word = lowerCase(std::string(text));
    if (word == "true" || word == "yes") return 1.0f;
    if (word == "false" || word == "no") return 0.0f;
    return std::nullopt;
}

double numberOf(std::string_view text, bool commas) {
    double value = NAN;
    return NumberText(text, commas).read(value) == std::errc{} ? value : double{NAN};
}

CsvFile::CsvFile(const std::string& path)
    : m_path(path), m_reader(path, CsvReader::LastLine::MayLackEnd,
                             lowerCase(path).ends_with(".tsv") ? CsvReader::Separator::TabFirst
                                                               : CsvReader::Separator::AsHeader) {}

std::vector<std::string> CsvFile::readHeader() {
    if (!m_reader.next(fields))
        throw InputError(phrase("Data", "%1: the file is empty; its first line must name the "
                                        "columns"),
                         pathText(m_path));
    std::vector<std::string> names;
    for (const std::string_view field : fields)
        names.emplace_back(trimmed(field));
    checkStart(m_path, m_reader.text(), names);
    if (names.size() > kMostColumns)
        throw InputError(phrase("Data", "%1: %2 columns are not allowed: at most %3"), place(),
                         names.size(), kMostColumns);
    m_columns = names.size();
    return names;
}

bool CsvFile::next() {
    while (m_reader.next(fields)) {
        const auto isBlank = [](std::string_view field) { return trimmed(field).empty(); };
        if (std::all_of(fields.begin(), fields.end(), isBlank)) continue;
        if (fields.size() != m_columns)
            throw InputError(
                phrase("Data", "%1: %2 fields do not fit the %3 columns of the header"), place(),
                fields.size(), m_columns);
        return true;
    }
    return false;
}

} // namespace halfscope
