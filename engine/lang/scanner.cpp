// Every byte is examined a bounded number of times.
#include "engine/lang/scanner.h"

#include "engine/core/escape.h"
#include "engine/core/text.h"

#include <array>

namespace halfscope::lang {

namespace {

/// What looks like a space or like nothing in text that was copied from pages and documents: a
/// no-break space, a zero-width space, a byte order mark.
constexpr std::array<std::string_view, 3> kOtherSpaces{"\xC2\xA0", "\xE2\x80\x8B", "\xEF\xBB\xBF"};

} // namespace

void Scanner::requirePlainLines() const {
    Place place;
    for (const std::string_view line : partsOf(m_text, '\n')) {
        std::string text(line);
        std::erase_if(text, [](char c) { return c == '\t' || c == '\r'; });
        if (!isPlainText(text))
            refuseAt(place, phrase("Model", "the line has bytes that are not plain UTF-8 text"));
        ++place.line;
    }
}

void Scanner::step() {
    const char c = m_text[m_at++];
    if (c == '\n') {
        ++m_place.line;
        m_place.column = 1;
    } else if (atEnd() || isLead(m_text[m_at])) {
        ++m_place.column;
    }
}

bool Scanner::skipLineSeparator() {
    if (!rest().starts_with(kLineSeparator)) return false;
    m_at += kLineSeparator.size();
    ++m_place.line;
    m_place.column = 1;
    return true;
}

/// Skips a backslash that ends its line.
bool Scanner::skipContinuation() {
    if (here() != '\\') return false;
    const std::string_view next = m_text.substr(m_at + 1);
    const bool ends =
        next.starts_with('\n') || next.starts_with("\r\n") || next.starts_with(kLineSeparator);
    if (ends) step();
    return ends;
}

bool Scanner::skipOtherSpace() {
    for (const std::string_view space : kOtherSpaces) {
        if (!rest().starts_with(space)) continue;
        for (const size_t end = m_at + space.size(); m_at < end;)
            step();
        return true;
    }
    return false;
}

void Scanner::skipSpace() {
    for (;;) {
        const char c = here();
        if (!atEnd() && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
            step();
        } else if (c == '#') {
            while (!atEnd() && !atLineEnd())
                step();
        } else if (!skipContinuation() && !skipLineSeparator() && !skipOtherSpace()) {
            return;
        }
    }
}

Message Scanner::found() const {
    if (atEnd()) return phrase("Model", "the end of the text");
    size_t end = m_at;
    while (end < m_text.size() && (isNamePart(m_text[end]) || m_text[end] == '.'))
        ++end;
    if (end == m_at) {
        ++end;
        while (end < m_text.size() && !isLead(m_text[end]))
            ++end;
    }
    return Message::data(quotedText(m_text.substr(m_at, end - m_at)));
}

void Scanner::refuseHere(const Message& allowed) const {
    refuseAt(m_place, {phrase("Model", "found %1, where %2 is allowed"), found(), allowed});
}

} // namespace halfscope::lang
