// The words of PTX: what its parser reads statements with.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfscope::test::ptx {

inline constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view);
/// The words before and after the first blank.
std::pair<std::string_view, std::string_view> firstWord(std::string_view);
/// Parts between commas outside brackets of every kind.
std::vector<std::string_view> parts(std::string_view);
/// The bytes of a type such as ".b64"; .pred counts as 4, what is no type as 0.
int bytesOfType(std::string_view);
/// A number, or the bits of a float such as 0f3F800000. Throws std::runtime_error for one in a form
/// that is not known.
std::optional<uint64_t> literal(std::string_view);

/// A text's statements one after the other: each up to ';', or a brace or a label by itself, or a
/// directive that ends with its line.
class Statements {
public:
    Statements() = default;
    /// The text must outlive this. `line`: of its first character.
    Statements(std::string_view text, int line) : m_text(text), m_lineAt(line) {}

    /// False at the end.
    bool next();
    const std::string& text() const { return m_statement; }
    int line() const { return m_line; } ///< on which the statement begins
    bool isLabel() const { return m_isLabel; }

private:
    std::string_view m_text;
    size_t m_at = 0;
    std::string m_statement;
    bool m_isLabel = false;
    int m_line = 1, m_lineAt = 1;
};

/// `.space .align N .type name[count] = {...}`: memory that has a name.
struct Declaration {
    std::string_view space; ///< ".shared", ...; empty: of the module
    std::string name;
    bool isExtern = false;
    uint64_t align = 1, count = 1; ///< count: of elements; "[]" is none
    int bytes = 0;                 ///< of an element
    std::vector<uint64_t> values;  ///< of the first elements

    uint64_t size() const { return count * static_cast<uint64_t>(bytes); }
};
/// Throws std::runtime_error for words that are not known.
Declaration declarationIn(std::string_view statement);

/// A .func of the text: calls of it are written out where they stand.
struct Function {
    std::string name, body;
    std::vector<std::string> results, parameters;
    int line = 0; ///< of the body
};
/// By name; blanks take their places in the text.
std::map<std::string, Function> takeFunctions(std::string& text);

} // namespace halfscope::test::ptx
