// What the fields of a csv column hold, seen one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace halfscope {

class CsvFile;

/// Most different words in a column of inputs.
inline constexpr size_t kMostWords = 100;

/// The kinds of fields that a column has.
struct SeenFields {
    bool numbers = false, allTruths = true;
    /// No field is a word that is not a number with separators or signs, see isFormattedNumber().
    bool onlyFormatted = true;
    std::set<std::string, std::less<>> words{}; ///< at most one more than is allowed

    /// Takes a field of the file's current line; missing values are passed over.
    void add(const CsvFile&, size_t column);
    bool hasNothing() const { return !numbers && words.empty(); }
    bool hasManyWords() const { return words.size() > kMostWords; }
    bool hasFormatted() const { return !words.empty() && onlyFormatted; }
};

/// The numbers of a column, from the first line to the last.
class SeenNumbers {
public:
    void add(double);
    /// Whether they only count the lines, perhaps with gaps: whole numbers that rise from line to
    /// line by 1, or seldom more, and that are no years or other times. In a column whose name is
    /// that of an index, such as "id" or "PassengerId", they may be in any order.
    bool countLines(std::string_view name) const;

private:
    int64_t m_count = 0;
    double m_last = 0, m_least = 0, m_most = 0;
    bool m_whole = true, m_rising = true;
};

} // namespace halfscope
