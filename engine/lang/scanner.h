// A place in a text that is read from its beginning to its end: spaces, comments and line ends of
// any kind are skipped, and lines and columns are counted. Knows no values.
#pragma once

#include "engine/lang/syntax.h"

namespace halfscope::lang {

inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isNameStart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool isNamePart(char c) { return isNameStart(c) || isDigit(c); }
/// Returns whether a byte begins a character of UTF-8.
inline bool isLead(char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }

class Scanner {
protected:
    explicit Scanner(std::string_view text) : m_text(text) {}

    /// Requires plain UTF-8, as in files and messages; tabs and line ends are the only controls
    /// allowed.
    void requirePlainLines() const;

    bool atEnd() const { return m_at >= m_text.size(); }
    char here() const { return atEnd() ? '\0' : m_text[m_at]; }
    char after(size_t n) const { return m_at + n < m_text.size() ? m_text[m_at + n] : '\0'; }
    bool atLineEnd() const { return here() == '\n' || rest().starts_with(kLineSeparator); }
    std::string_view rest() const { return m_text.substr(m_at); }

    void step();
    /// Skips one byte or line end, of any kind.
    void stepOver() {
        if (!skipLineSeparator()) step();
    }
    void skipSpace();

    /// Returns what stands here, for a message: a word, or a single character.
    Message found() const;
    [[noreturn]] void refuseHere(const Message& allowed) const;

    std::string_view m_text;
    size_t m_at = 0;
    Place m_place;

private:
    bool skipLineSeparator();
    bool skipContinuation();
    bool skipOtherSpace();
};

} // namespace halfscope::lang
