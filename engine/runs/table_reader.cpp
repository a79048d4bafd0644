// Header, rows and fields of a run's tables, and the words in which they are refused.
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
        throw InputError(place() + ": " + std::to_string(m_fields.size()) +
                         " columns are not allowed: at most " + std::to_string(kMostColumns));
    for (const std::string_view name : m_fields) {
        const std::string column =
            place() + ", column " + std::to_string(m_columns.size() + 1) + ": " + quotedText(name);
        if (name.empty() || name.size() > kMostNameBytes || !isPlainText(name))
            throw InputError(column + " is not allowed: a name of 1 to " +
                             std::to_string(kMostNameBytes) + " bytes on one line");
        if (find(name) >= 0) throw InputError(column + " is there twice");
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
        throw InputError(place() + ": there is no column " + std::string(name) +
                         ", which every such file has");
    return found;
}

bool TableReader::next() {
    if (!m_reader.next(m_fields)) return false;
    if (m_fields.size() != m_columns.size())
        throw InputError(place() + ": " + quotedText(m_reader.text()) + " has " +
                         std::to_string(m_fields.size()) +
                         " fields: " + std::to_string(m_columns.size()) + " are expected");
    if (++m_rows > kMostRows)
        throw InputError(place() + ": at most " + std::to_string(kMostRows) + " rows are read");
    return true;
}

int64_t TableReader::whole(int column, int64_t least, int64_t most) const {
    int64_t value = 0;
    if (!parsed(text(column), value) || value < least || value > most)
        refuse(column, least == most ? std::to_string(least)
                                     : "a whole number from " + std::to_string(least) + " to " +
                                           std::to_string(most));
    return value;
}

float TableReader::share(int column, float rounding) const {
    float value = 0;
    if (!parsed(text(column), value) || !(value >= 0 && value <= 1 + rounding))
        refuse(column, "a number from 0 to 1");
    return value;
}

int32_t TableReader::lane(int column, std::span<const std::string> names, bool mayBeAll) const {
    const std::string_view field = text(column);
    if (mayBeAll && field == kAllLanes) return -1;
    const auto found = std::find(names.begin(), names.end(), field);
    if (found != names.end()) return static_cast<int32_t>(found - names.begin());
    std::string allowed = "one of the lanes of experiment.json";
    for (const std::string& name : names)
        allowed += (&name == names.data() ? ", " : " or ") + name;
    refuse(column, allowed + (mayBeAll ? " or all" : ""));
}

void TableReader::refuse(int column, const std::string& allowed) const {
    throw InputError(place() + ", " + m_columns[static_cast<size_t>(column)] + ": " +
                     quotedText(text(column)) + " is not allowed: " + allowed);
}

} // namespace halfscope
