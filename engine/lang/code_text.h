// Reads the text of a Python program word by word, past strings, comments and brackets, and parts
// it into statements. Knows nothing of models.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace halfscope::lang {

inline constexpr size_t kNowhere = std::string_view::npos;
inline constexpr std::string_view kBlanks = " \t";

/// Returns where the comment or the string ends that begins here; `at` where none does.
size_t pastNoCode(std::string_view text, size_t at);
/// Whether there is no code in a text; a docstring is none.
bool isEmptyCode(std::string_view text);
/// Returns the code without blanks and line ends around it.
std::string_view withoutEnds(std::string_view code);

/// Returns the place of the bracket that closes the one here; kNowhere when it stays open.
size_t closingBracket(std::string_view text, size_t at);
/// Returns where the bracket ends that stands here; the end of the code when it stays open.
size_t bracketEnd(std::string_view code, size_t at);
/// Returns the place of the first such sign outside brackets and strings; kNowhere without one.
size_t signOutside(std::string_view code, char sign, size_t at = 0);

/// Returns where the name ends that begins here, with what dots join to it.
size_t dottedEnd(std::string_view text, size_t at);
/// Returns where the name with dots ends that begins here, if one does.
size_t nameEnd(std::string_view text, size_t at);
size_t blanksEnd(std::string_view text, size_t at);
/// Returns the place of the "=" of a "model = " or "model: nn.Module = " that begins here; kNowhere
/// where none does.
size_t assignmentAt(std::string_view text, size_t at);
/// Returns the words of a program, names with their dots, but not those from `begin` to `end`.
std::vector<std::string_view> wordsAround(std::string_view program, size_t begin, size_t end);
/// Returns all words of a piece of code.
std::vector<std::string_view> wordsOf(std::string_view code);
/// Whether a word is one name, without dots.
bool isPlainName(std::string_view word);

/// A statement, without the comment after it and without the lines of a block below it.
struct Statement {
    std::string_view code;
    bool first = true; ///< in its line
    bool alone = true; ///< no other one stands in its lines
};

/// Hands the statements of a program to `take`, in their order.
template <class Take>
void eachStatement(std::string_view program, Take&& take) {
    size_t begin = 0;
    bool first = true; // in its line
    const auto hand = [&](size_t end, bool last) {
        const std::string_view code = program.substr(begin, end - begin);
        if (!isEmptyCode(code)) take({code, first, first && last});
    };
    for (size_t at = 0; at < program.size();) {
        const char c = program[at];
        if (c == '\n' || c == ';' || c == '#') {
            hand(at, c != ';');
            at = c == '#' ? pastNoCode(program, at) : at + 1;
            begin = at;
            first = c != ';';
        } else if (c == '\\') { // the next line belongs to this one
            at += program.substr(at, 3) == "\\\r\n" ? size_t{3} : size_t{2};
        } else if (c == '(' || c == '[' || c == '{') {
            at = bracketEnd(program, at);
        } else {
            at = std::max(pastNoCode(program, at), at + 1);
        }
    }
    if (begin < program.size()) hand(program.size(), true);
}

} // namespace halfscope::lang
