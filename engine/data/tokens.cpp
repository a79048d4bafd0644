// Walks over bytes: those of a character that is not ASCII all count as letters.
#include "engine/data/tokens.h"

#include "engine/core/escape.h"

#include <algorithm>
#include <numeric>

namespace halfscope {

namespace {

bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool isVisible(char c) { return c > ' ' && c <= '~'; }

/// Returns where the word that begins at `at` ends.
size_t endOfWord(std::string_view text, size_t at) {
    const auto letterAt = [text](size_t i) { return i < text.size() && isLetter(text[i]); };
    while (letterAt(at) || (at < text.size() && text[at] == '\'' && letterAt(at + 1)))
        ++at;
    return at;
}

void forWords(std::string_view text, const std::function<bool(std::string_view)>& use) {
    std::string lower;
    for (size_t at = 0; at < text.size();) {
        const size_t end = isLetter(text[at]) ? endOfWord(text, at) : at + 1;
        lower.assign(text.substr(at, end - at));
        at = end;
        for (char& c : lower)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        const bool token = isLetter(lower[0]) || isVisible(lower[0]);
        if (token && !use(lower)) return;
    }
}

void forCharacters(std::string_view text, const std::function<bool(std::string_view)>& use) {
    while (!text.empty()) {
        const size_t length = std::max<size_t>(sequenceLength(text), 1);
        if (!use(text.substr(0, length))) return;
        text.remove_prefix(length);
    }
}

} // namespace

void forTokens(std::string_view text, Tokens kind,
               const std::function<bool(std::string_view)>& use) {
    kind == Tokens::Words ? forWords(text, use) : forCharacters(text, use);
}

int32_t TokenNumbers::add(std::string_view token) {
    const int32_t known = find(token);
    if (known >= 0) return known;
    const auto next = static_cast<int32_t>(m_tokens.size());
    m_tokens.push_back(&m_numbers.emplace(token, next).first->first);
    return next;
}

int32_t TokenNumbers::find(std::string_view token) const {
    const auto found = m_numbers.find(token);
    return found == m_numbers.end() ? -1 : found->second;
}

Vocabulary::Vocabulary(const TokenNumbers& tokens, std::span<const int64_t> counts, int64_t most) {
    std::vector<int32_t> known(tokens.size());
    std::iota(known.begin(), known.end(), 0);
    const auto count = [counts](int32_t token) { return counts[static_cast<size_t>(token)]; };
    std::erase_if(known, [&](int32_t token) { return count(token) < 2; });
    std::sort(known.begin(), known.end(), [&](int32_t a, int32_t b) {
        return count(a) != count(b) ? count(a) > count(b) : tokens.token(a) < tokens.token(b);
    });
    known.resize(std::min(known.size(), static_cast<size_t>(std::max<int64_t>(most - kFirst, 0))));
    for (const int32_t token : known)
        m_known.add(tokens.token(token));
}

int32_t Vocabulary::indexOf(std::string_view token) const {
    const int32_t found = m_known.find(token);
    return found < 0 ? kUnknown : kFirst + found;
}

} // namespace halfscope
