// Rows and fields of a run's tables, and the words in which they are refused.
#include "engine/runs/saved_table.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>

namespace halfscope {
namespace {
constexpr const char* kAllLanes = "all";
} // namespace

SavedTable::SavedTable(const std::string& path, std::string_view header)
    : m_reader(path), m_header(header.substr(0, header.size() - 1)) {
    m_columns = partsOf(m_header, ',');
    if (!m_reader.next(m_fields)) m_fields.clear();
    const auto [found, wanted] =
        std::mismatch(m_fields.begin(), m_fields.end(), m_columns.begin(), m_columns.end());
    if (found == m_fields.end() && wanted == m_columns.end()) return;
    // the first that is wrong: all of seventy columns would hide it
    throw InputError(place() + ", column " + std::to_string(found - m_fields.begin() + 1) + ": " +
                     quotedText(found == m_fields.end() ? "" : *found) +
                     " is not allowed: in this version " +
                     (wanted == m_columns.end() ? "the columns end before it"
                                                : "it is " + std::string(*wanted)));
}

bool SavedTable::next() {
    if (!m_reader.next(m_fields)) return false;
    if (m_fields.size() != m_columns.size())
        throw InputError(place() + ": " + quotedText(m_reader.text()) + " has " +
                         std::to_string(m_fields.size()) +
                         " fields: " + std::to_string(m_columns.size()) + " are wanted");
    if (++m_rows > kMostRows)
        throw InputError(place() + ": at most " + std::to_string(kMostRows) + " rows are read");
    m_column = 0;
    return true;
}

int64_t SavedTable::whole(int64_t least, int64_t most) {
    const std::string_view field = text();
    int64_t value = 0;
    if (!parsed(field, value) || value < least || value > most)
        refuse(least == most ? std::to_string(least)
                             : "a whole number from " + std::to_string(least) + " to " +
                                   std::to_string(most));
    return value;
}

std::optional<int64_t> SavedTable::wholeOrNothing(int64_t least, int64_t most) {
    if (!m_fields[m_column].empty()) return whole(least, most);
    ++m_column;
    return std::nullopt;
}

float SavedTable::share(float rounding) {
    float value = 0;
    if (!parsed(text(), value) || !(value >= 0 && value <= 1 + rounding))
        refuse("a number from 0 to 1");
    return value;
}

int32_t SavedTable::lane(std::span<const std::string> names, bool mayBeAll) {
    const std::string_view field = text();
    if (mayBeAll && field == kAllLanes) return -1;
    const auto found = std::find(names.begin(), names.end(), field);
    if (found != names.end()) return static_cast<int32_t>(found - names.begin());
    std::string allowed = "of the lanes of experiment.json";
    for (const std::string& name : names)
        allowed += (&name == names.data() ? ", " : " or ") + name;
    refuse("one " + allowed + (mayBeAll ? " or all" : ""));
}

void SavedTable::refuse(const std::string& allowed) const {
    const size_t column = m_column - 1;
    throw InputError(place() + ", " + std::string(m_columns[column]) + ": " +
                     quotedText(m_fields[column]) + " is not allowed: " + allowed);
}

} // namespace halfscope
