// Reads the header, rows and fields of a run's tables, and words the errors.
#include "engine/runs/table_reader.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>

namespace halfscope {
namespace {
constexpr const char* kAllLanes = "all";
constexpr size_t kMostNameBytes = 100;
} // namespace

TableReader::TableReader(const std::string& path) : m_reader(path) {
    if (!m_reader.next(m_fields)) m_fields.clear();
    if (m_fields.size() > kMostColumns)
        throw InputError(phrase("Files", "%1: %2 columns are not allowed: at most %3"), place(),
                         m_fields.size(), kMostColumns);
    for (const std::string_view name : m_fields) {
        const std::string column =
            place() + ", column " + std::to_string(m_columns.size() + 1) + ": " + quotedText(name);
        if (name.empty() || name.size() > kMostNameBytes || !isPlainText(name))
            throw InputError(
                phrase("Files", "%1 is not allowed: a name of 1 to %2 bytes on one line"), column,
                kMostNameBytes);
        if (find(name) >= 0) throw InputError(phrase("Files", "%1 appears twice"), column);
        m_columns.emplace_back(name);
    }
}

int TableReader::find(std::string_view name) const {
    const auto found = std::find(m_columns.begin(), m_columns.end(), name);
    return found == m_columns.end() ? -1 : static_cast<int>(found - m_columns.begin());
}

int TableReader::wanted(std::string_view name) const {
    const int found = find(name);
    if (found < 0)
        throw InputError(phrase("Files", "%1: there is no column %2, which every such file has"),
                         place(), name);
    return found;
}

bool TableReader::next() {
    do // a line that is empty or has only spaces is no row, as for pandas
        if (!m_reader.next(m_fields)) return false;
    while (trimmed(m_reader.text()).empty());
    if (m_fields.size() != m_columns.size())
        throw InputError(phrase("Files", "%1: the number of fields in %2 is %3, but must be %4, as "
                                         "in the first line; empty lines are skipped"),
                         place(), quotedText(m_reader.text()), m_fields.size(), m_columns.size());
    if (++m_rows > kMostRows)
        throw InputError(phrase("Files", "%1: at most %2 rows are read"), place(), kMostRows);
    return true;
}

std::string_view TableReader::fieldFound(int column) const {
    if (static_cast<size_t>(column) < m_fields.size()) return text(column);
    // a quotation mark without its pair leaves the row undivided
    const std::string_view row = m_reader.text();
    std::string_view rest = row.substr(0, row.find('"'));
    for (;; --column) {
        const size_t end = rest.find(',');
        if (end == std::string_view::npos) return {};
        if (column == 0) return rest.substr(0, end);
        rest.remove_prefix(end + 1);
    }
}

int64_t TableReader::whole(int column, int64_t least, int64_t most) const {
    int64_t value = 0;
    if (!parsed(text(column), value) || value < least || value > most)
        refuse(column, least == most ? Message::number(least)
                                     : Message(phrase("Engine", "a whole number from %1 to %2"),
                                               least, most));
    return value;
}

float TableReader::share(int column, float rounding) const {
    float value = 0;
    if (!parsed(text(column), value) || !(value >= 0 && value <= 1 + rounding))
        refuse(column, phrase("Files", "a number from 0 to 1"));
    return value;
}

int32_t TableReader::lane(int column, std::span<const std::string> names, bool mayBeAll) const {
    const std::string_view field = text(column);
    if (mayBeAll && field == kAllLanes) return -1;
    const auto found = std::find(names.begin(), names.end(), field);
    if (found != names.end()) return static_cast<int32_t>(found - names.begin());
    std::vector<Message> known;
    for (const std::string& name : names)
        known.push_back(Message::data(name));
    if (mayBeAll) known.push_back(Message::data(kAllLanes));
    refuse(column, {phrase("Files", "one of the lanes of experiment.json, %1"),
                    listed(known, phrase("Files", "%1 or %2"))});
}

void TableReader::refuse(int column, const Message& allowed) const {
    throw InputError(phrase("Files", "%1, %2: %3 is not allowed: %4"), place(),
                     m_columns[static_cast<size_t>(column)], quotedText(text(column)), allowed);
}

} // namespace halfscope
