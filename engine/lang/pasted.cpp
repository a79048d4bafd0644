// Looks only at how lines begin: no line of a model begins as these do.
#include "engine/lang/pasted.h"

#include "engine/lang/syntax.h"

#include <algorithm>
#include <array>

namespace halfscope::lang {

namespace {

constexpr std::array<std::string_view, 2> kFences{"```", "~~~"};
constexpr std::array<std::string_view, 2> kPrompts{">>>", "..."};

/// Returns how many bytes at the beginning of a line, which has no spaces before them, are marks.
size_t markOf(std::string_view line) {
    const auto begins = [line](std::string_view mark) { return line.starts_with(mark); };
    if (std::ranges::any_of(kFences, begins)) return line.size();
    const bool ends = line.size() == 3 || (line.size() > 3 && (line[3] == ' ' || line[3] == '\r'));
    return ends && std::ranges::any_of(kPrompts, begins) ? 3 : 0;
}

} // namespace

std::string withoutMarks(std::string_view text) {
    std::string plain(text);
    for (size_t begin = 0; begin < plain.size();) {
        const std::string_view rest = text.substr(begin);
        const std::string_view toNewline = rest.substr(0, rest.find('\n'));
        const size_t length = std::min(toNewline.find(kLineSeparator), toNewline.size());
        const std::string_view line = rest.substr(0, length);
        const size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
        const size_t mark = markOf(line.substr(indent));
        std::fill_n(plain.begin() + static_cast<std::ptrdiff_t>(begin + indent), mark, ' ');
        const bool wide = rest.substr(length).starts_with(kLineSeparator);
        begin += length + (wide ? kLineSeparator.size() : 1);
    }
    return plain;
}

std::string withLineEnds(std::string text) {
    std::string lines;
    size_t begin = 0;
    for (size_t at = 0; (at = text.find(kLineSeparator, begin)) != text.npos;) {
        lines.append(text, begin, at - begin).push_back('\n');
        begin = at + kLineSeparator.size();
    }
    return begin == 0 ? text : lines.append(text, begin);
}

} // namespace halfscope::lang
