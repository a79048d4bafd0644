// Walks through text by characters.
#include "engine/core/escape.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace halfscope {
namespace {

constexpr const char* kCut = "...";

uint32_t codePoint(std::string_view sequence) {
    constexpr std::array<uint32_t, 5> kFirstBits{0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = static_cast<uint8_t>(sequence[0]) & kFirstBits[sequence.size()];
    for (size_t i = 1; i < sequence.size(); ++i)
        code = (code << 6) | (static_cast<uint8_t>(sequence[i]) & 0x3FU);
    return code;
}

bool isShown(uint32_t code) {
    if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return false;
    if (code == 0x61C || code == 0x200E || code == 0x200F) return false; // marks of direction
    if (code >= 0x2028 && code <= 0x202E) return false; // line and paragraph ends, overrides
    if (code >= 0x2066 && code <= 0x2069) return false; // isolates
    return code != 0x200B && code != 0xFEFF && code != 0xFFFE && code != 0xFFFF; // invisible
}

std::string hex(uint32_t value, int digits) {
    std::string text;
    for (int i = digits - 1; i >= 0; --i)
        text += "0123456789abcdef"[(value >> (4 * i)) & 0xFU];
    return text;
}

/// Takes the first character, or the first byte when it begins no character, and returns it as it
/// is shown.
std::string takeOne(std::string_view& text) {
    const size_t length = sequenceLength(text);
    const std::string_view sequence = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(sequence.size());
    if (length == 0) return "\\x" + hex(static_cast<uint8_t>(sequence[0]), 2);
    const uint32_t code = codePoint(sequence);
    if (isShown(code)) return std::string(sequence);
    if (code == '\n') return "\\n";
    if (code == '\r') return "\\r";
    if (code == '\t') return "\\t";
    return "\\u" + hex(code, 4);
}

/// Returns how many characters takeOne() made of one.
size_t widthOf(std::string_view piece) {
    return sequenceLength(piece) == piece.size() ? 1 : piece.size(); // an escape is plain ASCII
}

/// Returns the front as it is shown, in at most `most` characters, and removes it from the text.
std::string takeFirst(std::string_view& text, size_t most) {
    std::string shown;
    while (!text.empty()) {
        std::string_view rest = text;
        const std::string piece = takeOne(rest);
        if (widthOf(piece) > most) break;
        most -= widthOf(piece);
        shown += piece;
        text = rest;
    }
    return shown;
}

/// Returns the last `count` characters, starting at a byte that begins one.
std::string_view lastOf(std::string_view text, size_t count) {
    size_t at = text.size();
    while (count > 0 && at > 0) {
        --at;
        const bool begins = (static_cast<uint8_t>(text[at]) & 0xC0U) != 0x80;
        if (begins || text.size() - at > 4 * count) --count;
    }
    return text.substr(at);
}

} // namespace

size_t sequenceLength(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    if (text.empty()) return 0;
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

std::string escapedText(std::string_view text, size_t most) {
    const std::string shown = takeFirst(text, most);
    return shown + (text.empty() ? "" : kCut);
}

std::string escapedEnds(std::string_view text, size_t most) {
    std::string_view rest = text;
    const std::string whole = takeFirst(rest, most);
    if (rest.empty()) return whole;
    rest = text;
    const std::string start = takeFirst(rest, most / 3);
    // From the end, pieces cannot be told; so those of more than enough are made, and the last
    // kept.
    std::vector<std::string> pieces;
    for (std::string_view end = lastOf(rest, most); !end.empty();)
        pieces.push_back(takeOne(end));
    size_t left = most - most / 3 - std::min(most - most / 3, std::string_view(kCut).size());
    auto first = pieces.end();
    while (first != pieces.begin() && widthOf(first[-1]) <= left)
        left -= widthOf(*--first);
    return std::accumulate(first, pieces.end(), start + kCut);
}

std::string messageText(std::string_view text) { return escapedEnds(text, kMostMessage); }

} // namespace halfscope
