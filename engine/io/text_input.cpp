// Converts UTF-16 block by block; half of a character at the end of one waits for the next one.
#include "engine/io/text_input.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/array_limits.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace halfscope {
namespace {

constexpr size_t kTextBlock = size_t{1} << 18; // bytes
constexpr size_t kUnit = 2;                    // bytes of UTF-16

constexpr bool beginsPair(unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; }
constexpr bool endsPair(unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; }

void appendUtf8(std::string& text, unsigned code) {
    const auto put = [&text](unsigned byte) { text += static_cast<char>(byte); };
    const auto follow = [&](int bits) { put(0x80 | (code >> bits & 0x3F)); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
        put(0xC0 | code >> 6);
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        follow(6);
    } else {
        put(0xF0 | code >> 18);
        follow(12);
        follow(6);
    }
    follow(0);
}

/// Whether every other byte is zero often enough for UTF-16 of a European language, or of numbers.
bool looksLikeUtf16(std::string_view bytes) {
    constexpr size_t kSeen = 512, kShare = 4;
    const std::string_view seen = bytes.substr(0, kSeen);
    size_t zeros[kUnit] = {0, 0};
    for (size_t i = 0; i < seen.size(); ++i)
        zeros[i % kUnit] += seen[i] == '\0';
    const auto [fewer, more] = std::minmax(zeros[0], zeros[1]);
    return seen.size() >= 2 * kUnit && fewer == 0 && more * kUnit * kShare >= seen.size();
}

} // namespace

TextInput::TextInput(std::string path) : m_file(std::move(path)) {
    fill();
    tellForm();
}

void TextInput::tellForm() {
    if (m_bytes.starts_with("\xFF\xFE"))
        m_form = Form::LittleEndian;
    else if (m_bytes.starts_with("\xFE\xFF"))
        m_form = Form::BigEndian;
    else if (looksLikeUtf16(m_bytes))
        throw InputError(phrase("Files", "%1: the text is UTF-16 without a byte order mark; save "
                                         "it as UTF-8"),
                         pathText(m_file.path()));
    if (!isUtf16()) return;
    m_bytes.erase(0, kUnit);
    m_converted = kUnit;
}

/// Appends bytes of the file up to a whole block, or all that are left.
void TextInput::fill() {
    size_t have = m_bytes.size();
    m_bytes.resize(kTextBlock);
    while (have < m_bytes.size()) {
        const size_t count = m_file.read(std::span(m_bytes).subspan(have));
        if (count == 0) break;
        have += count;
    }
    m_bytes.resize(have);
    if (packed())
        checkUnpacked(pathText(m_file.path()), m_file.taken(), m_file.size(),
                      phrase("Files", "gunzip unpacks the file."));
}

bool TextInput::next(std::string& text) {
    text.clear();
    if (!isUtf16()) {
        if (m_bytes.empty()) fill();
        text.swap(m_bytes); // neither is copied
        return !text.empty();
    }
    fill();
    convert(text);
    if (text.empty() && !m_bytes.empty())
        throw InputError(phrase("Files", "%1: the UTF-16 text ends in the middle of a character: "
                                         "it was cut off"),
                         pathText(m_file.path()));
    return !text.empty();
}

unsigned TextInput::unitAt(size_t at) const {
    const auto byte = [this](size_t i) { return static_cast<unsigned char>(m_bytes[i]); };
    const bool little = m_form == Form::LittleEndian;
    return static_cast<unsigned>(byte(little ? at + 1 : at) << 8 | byte(little ? at : at + 1));
}

/// Takes whole characters out of m_bytes.
void TextInput::convert(std::string& text) {
    size_t at = 0;
    while (at + kUnit <= m_bytes.size()) {
        unsigned code = unitAt(at);
        size_t next = at + kUnit;
        if (beginsPair(code) && next + kUnit > m_bytes.size()) break;
        const unsigned second = beginsPair(code) ? unitAt(next) : 0;
        if (endsPair(code) || (beginsPair(code) && !endsPair(second)))
            throw InputError(phrase("Files", "%1: byte %2 is not text in UTF-16: it begins half of "
                                             "a character; save the text as UTF-8"),
                             pathText(m_file.path()), m_converted + static_cast<int64_t>(at));
        if (beginsPair(code)) {
            code = 0x10000 + ((code & 0x3FF) << 10 | (second & 0x3FF));
            next += kUnit;
        }
        appendUtf8(text, code);
        at = next;
    }
    m_bytes.erase(0, at);
    m_converted += static_cast<int64_t>(at);
}

} // namespace halfscope
