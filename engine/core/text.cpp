// Implements the text helpers. Numbers go through std::to_chars, which knows no locale.
#include "engine/core/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

namespace halfscope {

namespace {

// A longer word is no misspelling; without the cut its cost would grow with its length.
constexpr size_t kLongestTypo = 100;

template <class Number>
std::string shortest(Number x) {
    std::array<char, 64> buffer{};
    const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x);
    return {buffer.data(), code == std::errc{} ? end : buffer.data()};
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Bytes of the UTF-8 sequence at the front; 0 when it is not one.
size_t sequenceLength(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    for (size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
    }
    // The second byte decides overlong forms (E0, F0), surrogates (ED) and values above 10FFFF
    // (F4).
    const unsigned char second = byte(1);
    if (first == 0xE0 && second < 0xA0) return 0;
    if (first == 0xED && second > 0x9F) return 0;
    if (first == 0xF0 && second < 0x90) return 0;
    if (first == 0xF4 && second > 0x8F) return 0;
    return length;
}

} // namespace

std::string numberText(double x) { return std::isnan(x) ? "nan" : shortest(x); }
std::string numberText(float x) { return std::isnan(x) ? "nan" : shortest(x); }
std::string numberText(int64_t x) { return shortest(x); }

std::string plainLine(std::string_view text, size_t most) {
    std::string out;
    size_t shown = 0;
    while (shown < text.size() && shown < most) {
        const size_t length = sequenceLength(text.substr(shown));
        const bool plain =
            length > 0 && static_cast<unsigned char>(text[shown]) >= 0x20 && text[shown] != 0x7F;
        out += plain ? text.substr(shown, length) : std::string_view("?");
        shown += std::max<size_t>(length, 1);
    }
    return out + (shown < text.size() ? "..." : "");
}

std::string quotedText(std::string_view text) { return '"' + plainLine(text, 60) + '"'; }

std::string_view trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> partsOf(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (size_t at = 0; at != std::string_view::npos;) {
        at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at != std::string_view::npos) text.remove_prefix(at + 1);
    }
    return parts;
}

bool isPlainText(std::string_view text) {
    while (!text.empty()) {
        const size_t length = sequenceLength(text);
        const auto first = static_cast<unsigned char>(text.front());
        if (length == 0 || first < 0x20 || first == 0x7F) return false;
        text.remove_prefix(length);
    }
    return true;
}

size_t editDistance(std::string_view word, std::string_view known) {
    const auto sameLetter = [](char a, char b) { return lower(a) == lower(b); };
    if (word.size() > 1 && word.size() < known.size() &&
        std::equal(word.begin(), word.end(), known.begin(), sameLetter))
        return 1;
    std::vector<size_t> row(known.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < word.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < known.size(); ++j) {
            const size_t replace = diagonal + (sameLetter(word[i], known[j]) ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replace});
        }
    }
    return row.back();
}

std::string nearestOf(std::string_view word, std::span<const std::string> candidates) {
    const std::string_view cut = word.substr(0, kLongestTypo);
    std::string best;
    size_t fewest = std::numeric_limits<size_t>::max();
    for (const std::string& candidate : candidates) {
        const size_t edits = editDistance(cut, candidate);
        if (edits < fewest) {
            fewest = edits;
            best = candidate;
        }
    }
    return best;
}

bool isNear(std::string_view word, std::string_view known) {
    return editDistance(word, known) <= 1 + word.size() / 4;
}

Message nearestHint(std::string_view word, std::span<const std::string> candidates,
                    Phrase nearest) {
    const std::string best = nearestOf(word, candidates);
    if (isNear(word.substr(0, kLongestTypo), best)) return {nearest, best};
    std::string list;
    for (const std::string& candidate : candidates)
        list += (list.empty() ? "" : ", ") + candidate;
    return {phrase("Engine", "; there are: %1"), list};
}

} // namespace halfscope
