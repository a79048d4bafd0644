// Splits texts into tokens, and numbers the tokens that a network knows.
#pragma once

#include "engine/data/task_spec.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace halfscope {

/// Calls `use` with each token of a text in UTF-8, from its start, until `use` returns false. Words
/// are runs of letters, digits and characters that are not ASCII, with single apostrophes inside
/// ("don't"); A to Z count as a to z. Other visible ASCII characters are tokens of their own.
/// `use` is given views that end with its call.
void forTokens(std::string_view text, Tokens, const std::function<bool(std::string_view)>& use);

/// The form of a word token as a Python regular expression for re.findall().
inline constexpr std::string_view kWordsInPython =
    R"([a-z0-9\x80-\U0010ffff]+(?:'[a-z0-9\x80-\U0010ffff]+)*|[!-/:-@[-`{-~])";

/// Finds the number of a token by its text.
class TokenNumbers {
public:
    TokenNumbers() = default;
    TokenNumbers(TokenNumbers&&) = default; // moving keeps the keys where they are
    TokenNumbers& operator=(TokenNumbers&&) = default;
    ~TokenNumbers() = default;

    /// Returns the token's number; a new token gets the next one, from 0.
    int32_t add(std::string_view token);
    /// Returns -1 when the token is not there.
    int32_t find(std::string_view token) const;
    size_t size() const { return m_tokens.size(); }
    const std::string& token(int32_t number) const {
        return *m_tokens[static_cast<size_t>(number)];
    }

private:
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };
    std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> m_numbers;
    std::vector<const std::string*> m_tokens; ///< the keys of m_numbers
};

/// The tokens that a network has a vector for. Index 0 is padding and 1 stands for all unknown
/// tokens; the most frequent one has index 2.
class Vocabulary {
public:
    static constexpr int32_t kPadding = 0, kUnknown = 1, kFirst = 2;

    Vocabulary() = default;
    /// Takes, of the tokens that were counted more than once, the most frequent; on a tie, the
    /// first in the order of Unicode. Together with padding and the unknown one there are at most
    /// `most`. A token that was counted once is unknown, so that a network learns what unknown ones
    /// mean.
    Vocabulary(const TokenNumbers&, std::span<const int64_t> counts, int64_t most);

    int32_t indexOf(std::string_view token) const;
    /// How many indices there are.
    int64_t size() const { return kFirst + static_cast<int64_t>(m_known.size()); }
    /// Returns a known token by its index, which is at least kFirst.
    const std::string& token(int32_t index) const { return m_known.token(index - kFirst); }

private:
    TokenNumbers m_known;
};

} // namespace halfscope
