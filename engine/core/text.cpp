// Implements the text helpers. Numbers go through std::to_chars, which knows no locale.
#include "engine/core/text.h"

#include "engine/core/escape.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

namespace halfscope {

namespace {

// A longer word is not a misspelling; without this limit the cost would grow with its length.
constexpr size_t kLongestTypo = 100;

template <class Number>
std::string shortest(Number x) {
    std::array<char, 64> buffer{};
    const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x);
    return {buffer.data(), code == std::errc{} ? end : buffer.data()};
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

} // namespace

std::string numberText(double x) { return std::isnan(x) ? "nan" : shortest(x); }
std::string numberText(float x) { return std::isnan(x) ? "nan" : shortest(x); }
std::string numberText(int64_t x) { return shortest(x); }

std::string sizeText(size_t bytes) {
    constexpr std::array<const char*, 4> kUnits{" B", " KiB", " MiB", " GiB"};
    auto amount = static_cast<double>(bytes);
    size_t unit = 0;
    for (; amount >= 1023.5 && unit + 1 < kUnits.size(); ++unit) // 1024, once it is rounded
        amount /= 1024;
    if (amount >= 99.95) return numberText(int64_t{std::llround(amount)}) + kUnits[unit];
    const double parts = amount < 9.995 ? 100 : 10;
    return numberText(std::round(amount * parts) / parts) + kUnits[unit];
}

std::string quotedText(std::string_view text) { return '"' + escapedText(text) + '"'; }
std::string pathText(std::string_view text) { return escapedEnds(text); }

std::string shellWord(std::string_view text) {
    const auto isPlain = [](char c) { // of no meaning to a shell
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return letter || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80 ||
               std::string_view("/._-+=:,@%").find(c) != std::string_view::npos;
    };
    if (!text.empty() && std::ranges::all_of(text, isPlain)) return std::string(text);
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string shellText(std::string_view path) { return shellWord(pathText(path)); }

std::string_view withoutByteOrderMark(std::string_view text) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
    return text;
}

std::string_view trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string onOneLine(std::string_view text) {
    const auto isControl = [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return code < 0x20 || code == 0x7F;
    };
    std::string line;
    for (size_t i = 0; i < text.size(); ++i) {
        if (!isControl(text[i]))
            line += text[i];
        else if (i == 0 || !isControl(text[i - 1]))
            line += ' ';
    }
    return std::string(trimmed(line));
}

std::string lowerCase(std::string text) {
    for (char& c : text)
        c = lower(c);
    return text;
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
        const bool c1 = first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
        if (c1) return false;
        text.remove_prefix(length);
    }
    return true;
}

size_t editDistance(std::string_view word, std::string_view known) {
    const auto sameLetter = [](char a, char b) { return lower(a) == lower(b); };
    if (word.size() > 1 && word.size() < known.size() &&
        std::equal(word.begin(), word.end(), known.begin(), sameLetter))
        return 1;
    std::vector<size_t> before(known.size() + 1), row(before), next(before);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < word.size(); ++i) {
        next[0] = i + 1;
        for (size_t j = 0; j < known.size(); ++j) {
            const size_t replaced = row[j] + (sameLetter(word[i], known[j]) ? 0 : 1);
            next[j + 1] = std::min({next[j] + 1, row[j + 1] + 1, replaced});
            const bool swapped = i > 0 && j > 0 && sameLetter(word[i], known[j - 1]) &&
                                 sameLetter(word[i - 1], known[j]);
            if (swapped) next[j + 1] = std::min(next[j + 1], before[j - 1] + 1);
        }
        before.swap(row);
        row.swap(next);
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
