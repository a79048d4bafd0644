// Damages files as mail, disks, editors and attackers do, by a seed. The tests decide what must
// come of them.
#pragma once

#include "engine/core/philox.h"

#include <QtGlobal>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>

namespace halfscope::test {

/// Returns how many cases a test tries: `usual`, times HALFSCOPE_MUTATIONS if that is set.
inline int mutationCases(int usual) {
    bool given = false;
    const int factor = qEnvironmentVariableIntValue("HALFSCOPE_MUTATIONS", &given);
    return given && factor > 0 ? usual * factor : usual;
}

class Mutations {
public:
    explicit Mutations(uint64_t seed) : m_random(seed, 77) {}

    uint64_t below(uint64_t bound) { return m_random.below(m_index++, bound); }
    double uniform() { return static_cast<double>(m_random.uniform(m_index++)); }

    /// Makes one to four changes of any kind.
    std::string bytes(std::string text) {
        for (uint64_t left = 1 + below(4); left > 0; --left)
            changeBytes(text);
        return text;
    }
    /// Makes one to four changes, most of them of whole words and numbers, so that the text often
    /// stays JSON.
    std::string json(std::string text) {
        for (uint64_t left = 1 + below(4); left > 0; --left) {
            if (below(8) == 0)
                changeBytes(text);
            else
                changeToken(text);
        }
        return text;
    }

private:
    static constexpr std::string_view kTokens[] = {"0",
                                                   "-1",
                                                   "1",
                                                   "7",
                                                   "-0.0",
                                                   "0.5",
                                                   "1e-46",
                                                   "1e-999",
                                                   "1e39",
                                                   "1e300",
                                                   "-1e300",
                                                   "1e999",
                                                   "4294967296",
                                                   "9007199254740993",
                                                   "9223372036854775807",
                                                   "9223372036854775808",
                                                   "-9223372036854775808",
                                                   "18446744073709551615",
                                                   "NaN",
                                                   "-Infinity",
                                                   "null",
                                                   "true",
                                                   "false",
                                                   "[]",
                                                   "{}",
                                                   "[[]]",
                                                   "[null]",
                                                   "{\"a\": 1}",
                                                   "\"\"",
                                                   "\"x\"",
                                                   "\"\\u0000\"",
                                                   "\"a\\nb\"",
                                                   "\"\\ud83d\"",
                                                   "\"\xc3\x28\"",
                                                   "\"\xe2\x80\xa8\"",
                                                   "\"fp32\"",
                                                   "\"float16\"",
                                                   "\"../../..\"",
                                                   "[[[[[[[[[[[[[[[[[[[[",
                                                   "]",
                                                   "}",
                                                   ",",
                                                   ":",
                                                   "\"",
                                                   "\\"};

    std::string token() {
        const uint64_t which = below(std::size(kTokens) + 1);
        return which < std::size(kTokens) ? std::string(kTokens[which])
                                          : '"' + std::string(5000, 'x') + '"';
    }
    /// Returns a start and a length inside the text, mostly a short one.
    std::pair<size_t, size_t> span(const std::string& text) {
        const size_t start = below(text.size() + 1);
        const size_t rest = text.size() - start;
        return {start, std::min<size_t>(rest, below(below(8) == 0 ? rest + 1 : 17))};
    }

    void changeBytes(std::string& text) {
        const auto [start, length] = span(text);
        const auto any = [this] { return static_cast<char>(below(256)); };
        switch (below(7)) {
        case 0:
            if (start < text.size()) text[start] = static_cast<char>(text[start] ^ (1 << below(8)));
            break;
        case 1:
            if (start < text.size()) text[start] = any();
            break;
        case 2: text.erase(start, length); break;
        case 3: text.insert(start, text.substr(start, length)); break;
        case 4: text.insert(start, token()); break;
        case 5:
            std::generate_n(text.begin() + static_cast<std::ptrdiff_t>(start), length, any);
            break;
        default:
            if (below(4) == 0) text.resize(start); // cut off
        }
    }

    static bool isWord(char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ||
               c == '+' || c == '_';
    }
    /// Returns where a quoted text or a word around a random place begins and ends; both are 0 when
    /// there is none.
    std::pair<size_t, size_t> someToken(const std::string& text) {
        if (text.empty()) return {0, 0};
        size_t start = below(text.size());
        while (start < text.size() && !isWord(text[start]))
            ++start;
        size_t end = start;
        while (start > 0 && isWord(text[start - 1]))
            --start;
        while (end < text.size() && isWord(text[end]))
            ++end;
        if (start > 0 && end < text.size() && text[start - 1] == '"' && text[end] == '"')
            return {start - 1, end + 1};
        return {start, end};
    }
    void changeToken(std::string& text) {
        const auto [start, end] = someToken(text);
        const auto [from, until] = someToken(text);
        const std::string other =
            below(3) == 0 ? text.substr(from, until - from) : token(); // one from elsewhere in the
                                                                       // text
        text.replace(start, end - start, other);
    }

    Philox m_random;
    uint64_t m_index = 0;
};

} // namespace halfscope::test
