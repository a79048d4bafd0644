// Looks at many lines: one alone may be a row of a table.
#include "engine/data/sparse_lines.h"

#include "engine/data/csv_fields.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace halfscope {

namespace {

/// The pairs of the lines so far.
struct Pairs {
    size_t most = 0;   ///< in a line
    bool times = true; ///< each could be a time
};

/// Removes the first word of a line and returns it; empty when there is none.
std::string_view takeWord(std::string_view& line) {
    constexpr std::string_view kSpaces = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(kSpaces), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(kSpaces));
    line.remove_prefix(word.size());
    return word;
}

/// Whether it is "05" to "59", as minutes and seconds are written.
bool areMinutes(std::string_view text) {
    const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
    return text.size() == 2 && text[0] <= '5' && std::ranges::all_of(text, isDigit);
}

/// Returns the index of a pair whose value is a number; -1 for other words.
int64_t indexOf(std::string_view pair) {
    int64_t index = -1;
    const size_t colon = pair.find(':');
    if (colon == pair.npos || pair.front() == '-') return -1;
    const auto [end, code] = std::from_chars(pair.data(), pair.data() + colon, index);
    const bool whole = code == std::errc{} && end == pair.data() + colon;
    return whole && NumberText(pair.substr(colon + 1), false).isNumber() ? index : -1;
}

/// Adds the pairs of a line; returns false when it has another form.
bool add(std::string_view line, Pairs& pairs) {
    line = line.substr(0, line.find('#')); // a comment
    const std::string_view target = takeWord(line);
    if (target.empty()) return true;
    if (!NumberText(target, false).isNumber()) return false;
    size_t count = 0;
    int64_t last = -1;
    for (std::string_view word; !(word = takeWord(line)).empty(); ++count) {
        if (count == 0 && word.starts_with("qid:")) continue; // the query, in rankings
        const int64_t index = indexOf(word);
        if (index <= last) return false;
        last = index;
        pairs.times = pairs.times && areMinutes(word.substr(word.find(':') + 1));
    }
    pairs.most = std::max(pairs.most, count);
    return true;
}

} // namespace

bool areSparseLines(std::string_view first, std::string_view ahead) {
    constexpr int kLines = 100;
    Pairs pairs;
    if (!add(first, pairs)) return false;
    ahead = ahead.substr(0, ahead.rfind('\n') + 1); // nothing, if no line has ended
    for (int line = 1; line < kLines && !ahead.empty(); ++line) {
        const size_t end = ahead.find('\n');
        if (!add(ahead.substr(0, end), pairs)) return false;
        ahead.remove_prefix(end + 1);
    }
    return pairs.most > 1 && !pairs.times;
}

} // namespace halfscope
