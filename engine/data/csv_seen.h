// What the fields of a csv column hold, seen one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

class CsvFile;

/// Most different words in a column of inputs.
inline constexpr size_t kMostWords = 100;

/// Whether the name is that of a column that numbers lines: "id", "user_id", "PassengerId", "No.".
bool namesIndex(std::string_view name);

/// The kinds of fields that a column has.
class SeenFields {
public:
    using Texts = std::set<std::string, std::less<>>;

    /// Takes a field of the file's current line; missing values are passed over.
    void add(const CsvFile&, size_t column);
    bool hasNothing() const { return m_fields == 0; }
    /// Returns the number of different texts, as far as they were kept.
    size_t values() const { return m_words.size() + m_numbers.size(); }
    /// Whether the text is one of the words, as far as they were kept.
    bool hasWord(std::string_view text) const {
        return m_words.contains(text) || (areWords() && m_numbers.contains(text));
    }
    bool hasWords() const { return !m_words.empty(); }
    bool areNumbers() const { return m_fields > 0 && (m_words.empty() || hasGaps()); }
    /// Whether words stand for missing values: all others are numbers, see isGapWord().
    bool hasGaps() const { return hasBoth() && m_gapFields == m_wordFields; }
    /// Whether a number has this decimal mark, '.' or ','; see NumberText.
    bool hasMark(char mark) const { return mark == ',' ? m_commas : m_points; }
    /// Whether each different text is a word, those of numbers too: all fields are words, or ten of
    /// them and a tenth, as in a column of 4, f and r, or of the answers 1, 2 and "1,2".
    bool areWords() const;
    /// Whether words are there, but too few of them for areWords(): they may be mistakes.
    bool areMixed() const { return hasBoth() && !areWords() && !m_onlyUnread; }
    /// Whether all are numbers, of which float32 does not hold one.
    bool areBeyondFloat() const { return areNumbers() && m_beyondFloat; }
    /// Whether all are dates, see isDate().
    bool areDates() const { return !m_words.empty() && m_numbers.empty() && m_allDates; }
    bool areTruths() const { return areWords() && m_allTruths && m_numbers.empty(); }
    bool hasManyWords() const { return (areWords() ? values() : m_words.size()) > kMostWords; }
    /// Whether all words are numbers with separators or signs, see isUnreadNumber().
    bool hasFormatted() const { return m_wordFields > m_gapFields && m_onlyUnread; }
    /// Likewise, beside plain numbers, and too few of them for areWords() if they may be words.
    bool areSomeFormatted() const { return hasFormatted() && hasBoth() && !areWords(); }
    /// Whether no text was met twice, as far as they were kept.
    bool areAllDifferent() const { return m_fields == values(); }
    /// Returns the words in their order; those of numbers too.
    std::vector<std::string> words() const;

private:
    bool hasBoth() const { return !m_words.empty() && !m_numbers.empty(); }

    size_t m_fields = 0, m_wordFields = 0, m_gapFields = 0;
    bool m_allTruths = true, m_allDates = true; ///< of the words
    bool m_onlyFormatted = true;                ///< of those that are no gaps
    bool m_onlyUnread = true; ///< likewise; "1,2" may be one, and the answers 1 and 2
    bool m_beyondFloat = false, m_commas = false,
         m_points = false;    ///< of the numbers, one is or has
    Texts m_words, m_numbers; ///< different texts; at most one more than is allowed of each
};

/// A number of a column, and how many lines have it.
struct RepeatedNumber {
    double value = 0;
    int64_t count = 0;
};

/// The numbers of a column, from the first line to the last.
class SeenNumbers {
public:
    void add(double);
    /// Whether they only count the lines, perhaps with gaps: whole numbers that rise from line to
    /// line by 1, or seldom more, and that are no years or other times. In a column whose name is
    /// that of an index, such as "id" or "PassengerId", they may be in any order.
    bool countLines(std::string_view name) const;
    bool areWhole() const { return m_whole; }
    /// Whether there are numbers, all of which have one value.
    bool areEqual() const { return m_count > 0 && least() == most(); }
    double least() const { return -m_lowest.value; }
    double most() const { return m_highest.value; }
    /// Returns the number that seems to stand for missing values, as -999 does between 0 and 100:
    /// the lowest or the highest one, in a hundredth of the lines and at least two, which lies as
    /// far from the next one as the others reach. It is -99 or less, or has no digit but 9.
    std::optional<RepeatedNumber> placeholder() const;

private:
    /// The numbers at one end, which is the upper one once the lower one has changed its sign.
    struct End {
        double value = 0, next = 0; ///< the outermost number, and the nearest to it
        int64_t count = 0;          ///< of the outermost one

        void add(double);
    };

    int64_t m_count = 0;
    double m_last = 0;
    End m_lowest, m_highest;
    bool m_whole = true, m_rising = true;
};

} // namespace halfscope
