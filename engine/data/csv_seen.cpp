// Keeps no more words than it takes to know that there are too many.
#include "engine/data/csv_seen.h"

#include "engine/core/text.h"
#include "engine/data/csv_fields.h"
#include "engine/data/date_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace halfscope {

namespace {

/// Whether the name is that of a column that counts time: "year", "model_year", "Time (s)".
bool namesTime(std::string_view name) {
    constexpr std::array<std::string_view, 12> kWords{"year",   "yr",   "month",  "week",
                                                      "day",    "hour", "minute", "second",
                                                      "season", "date", "time",   "jahr"};
    const std::string low = lowerCase(std::string(name));
    return std::any_of(kWords.begin(), kWords.end(), [&low](std::string_view word) {
        return low.starts_with(word) || low.ends_with(word) ||
               low.ends_with(std::string(word) + "s");
    });
}

/// Whether people write the number where they have none.
bool isPlaceholder(double number) {
    constexpr double kHighest = -99, kMostNines = 9'999'999; // more are hardly used
    if (number != std::trunc(number)) return false;
    if (number <= kHighest) return true;
    double nines = 99;
    while (nines < std::min(number, kMostNines))
        nines = 10 * nines + 9;
    return number == nines;
}

constexpr double kRounded = 0x1p53; ///< from there on, doubles do not tell all ids apart

} // namespace

bool namesIndex(std::string_view name) {
    constexpr std::array<std::string_view, 11> kNames{
        "id", "index", "idx", "nr", "nr.", "no", "no.", "#", "row", "line", "rownames"};
    const std::string low = lowerCase(std::string(name));
    if (std::find(kNames.begin(), kNames.end(), low) != kNames.end()) return true;
    return low.ends_with("_id") || low.ends_with(" id") || name.ends_with("Id") ||
           name.ends_with("ID");
}

void SeenFields::add(const CsvFile& file, size_t column) {
    if (file.lacks(column)) return;
    const std::string_view text = file.text(column);
    const NumberText read(text, file.commas());
    const bool number = read.isNumber(), gap = !number && isGapWord(text);
    Texts& texts = number ? m_numbers : m_words;
    if (texts.size() <= kMostWords) texts.emplace(text);
    ++m_fields;
    m_beyondFloat = m_beyondFloat || (number && isBeyondFloat(text, file.commas()));
    m_commas = m_commas || (number && read.mark == ',');
    m_points = m_points || (number && read.mark == '.');
    if (number) return;
    ++m_wordFields;
    m_gapFields += gap ? 1 : 0;
    m_allTruths = m_allTruths && truthOf(text);
    m_onlyFormatted = m_onlyFormatted && (gap || isFormattedNumber(text));
    m_onlyUnread = m_onlyUnread && (gap || isUnreadNumber(text, file.commas()));
    m_allDates = m_allDates && isDate(text);
}

bool SeenFields::areWords() const {
    constexpr size_t kShare = 10, kLeast = 10;
    if (m_words.empty() || !hasBoth()) return !m_words.empty();
    return !m_onlyFormatted && m_wordFields >= kLeast && kShare * m_wordFields >= m_fields;
}

std::vector<std::string> SeenFields::words() const {
    std::vector<std::string> all;
    std::ranges::set_union(m_words, m_numbers, std::back_inserter(all));
    return all;
}

void SeenNumbers::End::add(double number) {
    if (count == 0 || number > value) {
        next = count == 0 ? -INFINITY : value;
        value = number;
        count = 0;
    }
    if (number == value)
        ++count;
    else
        next = std::max(next, number);
}

void SeenNumbers::add(double value) {
    m_whole = m_whole && value == std::trunc(value);
    const bool rises = value > m_last || (value == m_last && value >= kRounded);
    m_rising = m_rising && (m_count == 0 || rises);
    m_lowest.add(-value);
    m_highest.add(value);
    m_last = value;
    ++m_count;
}

bool SeenNumbers::countLines(std::string_view name) const {
    constexpr int64_t kFew = 5; // that many numbers may rise by chance
    const double steps = most() - least(), fewest = static_cast<double>(m_count - 1);
    const double rounded =
        most() >= kRounded ? std::nextafter(most(), double{INFINITY}) - most() : 0;
    // numbers that are all different reach at least as far as there are lines
    if (m_count <= kFew || !m_whole || steps + rounded < fewest) return false;
    constexpr double kFirstYear = 1500, kLastYear = 2200;
    const bool years = least() >= kFirstYear && most() <= kLastYear;
    return namesIndex(name) || (m_rising && steps < 2 * fewest && !years && !namesTime(name));
}

std::optional<RepeatedNumber> SeenNumbers::placeholder() const {
    constexpr int64_t kShare = 100, kLeast = 2;
    for (const double sign : {-1.0, 1.0}) {
        const End& end = sign < 0 ? m_lowest : m_highest;
        const double range = end.next + (sign < 0 ? m_highest : m_lowest).value; // of the others
        const bool far = range > 0 && end.value - end.next >= range;
        if (far && end.count >= kLeast && kShare * end.count >= m_count &&
            isPlaceholder(sign * end.value))
            return RepeatedNumber{sign * end.value, end.count};
    }
    return std::nullopt;
}

} // namespace halfscope
