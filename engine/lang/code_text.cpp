// Goes through the program byte by byte; strings and comments are left out at their marks.
#include "engine/lang/code_text.h"

#include "engine/lang/scanner.h"

#include <algorithm>

namespace halfscope::lang {

namespace {

/// Returns where the string ends whose quotation mark is here. One that stays open ends with its
/// line, or with the text where three marks began it.
size_t stringEnd(std::string_view text, size_t at) {
    const std::string_view three = text.substr(at, 3);
    const bool isLong = three == R"(""")" || three == "'''";
    const std::string_view mark = isLong ? three : three.substr(0, 1);
    for (at += mark.size(); at < text.size(); ++at) {
        if (text.substr(at, mark.size()) == mark) return at + mark.size();
        if (text[at] == '\n' && !isLong) return at;
        if (text[at] == '\\') ++at;
    }
    return text.size();
}

} // namespace

size_t pastNoCode(std::string_view text, size_t at) {
    const char c = text[at];
    if (c == '#') return std::min(text.find('\n', at), text.size());
    return c == '"' || c == '\'' ? stringEnd(text, at) : at;
}

bool isEmptyCode(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        const size_t past = pastNoCode(text, at);
        if (past == at && std::string_view(" \t\r\n").find(text[at]) == kNowhere) return false;
        at = std::max(past, at + 1);
    }
    return true;
}

size_t closingBracket(std::string_view text, size_t at) {
    for (int depth = 0; at < text.size();) {
        if (const size_t past = pastNoCode(text, at); past != at) {
            at = past;
            continue;
        }
        const char c = text[at];
        depth += c == '(' || c == '[' || c == '{' ? 1 : 0;
        depth -= c == ')' || c == ']' || c == '}' ? 1 : 0;
        if (depth == 0) return at;
        ++at;
    }
    return kNowhere;
}

size_t dottedEnd(std::string_view text, size_t at) {
    while (at < text.size() && (isNamePart(text[at]) || text[at] == '.'))
        ++at;
    return at;
}

size_t nameEnd(std::string_view text, size_t at) {
    return at < text.size() && isNameStart(text[at]) ? dottedEnd(text, at) : at;
}

size_t blanksEnd(std::string_view text, size_t at) {
    return std::min(text.find_first_not_of(' ', at), text.size());
}

size_t assignmentAt(std::string_view text, size_t at) {
    const size_t name = nameEnd(text, at);
    if (name == at) return kNowhere;
    at = blanksEnd(text, name);
    if (at < text.size() && text[at] == ':')
        at = blanksEnd(text, nameEnd(text, blanksEnd(text, at + 1)));
    return at < text.size() && text[at] == '=' ? at : kNowhere;
}

std::string_view withoutEnds(std::string_view code) {
    constexpr std::string_view kAround = " \t\r\n";
    code.remove_prefix(std::min(code.find_first_not_of(kAround), code.size()));
    return code.substr(0, code.find_last_not_of(kAround) + 1);
}

size_t bracketEnd(std::string_view code, size_t at) {
    const size_t close = closingBracket(code, at);
    return close == kNowhere ? code.size() : close + 1;
}

size_t signOutside(std::string_view code, char sign, size_t at) {
    while (at < code.size() && code[at] != sign) {
        const char c = code[at];
        at = c == '(' || c == '[' || c == '{' ? bracketEnd(code, at)
                                              : std::max(pastNoCode(code, at), at + 1);
    }
    return at < code.size() ? at : kNowhere;
}

std::vector<std::string_view> wordsAround(std::string_view program, size_t begin, size_t end) {
    std::vector<std::string_view> words;
    for (size_t at = 0; at < program.size();) {
        if (at >= begin && at < end) at = end;
        if (at == program.size()) break;
        const size_t past = pastNoCode(program, at);
        const size_t next = past != at ? past : std::max(dottedEnd(program, at), at + 1);
        if (past == at && isNameStart(program[at])) words.push_back(program.substr(at, next - at));
        at = next;
    }
    return words;
}

std::vector<std::string_view> wordsOf(std::string_view code) {
    return wordsAround(code, code.size(), code.size());
}

bool isPlainName(std::string_view word) {
    return !word.empty() && isNameStart(word[0]) && std::ranges::all_of(word, isNamePart);
}

} // namespace halfscope::lang
