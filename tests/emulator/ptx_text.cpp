// Statements, words, parts and numbers of PTX, and its functions.
#include "tests/emulator/ptx_text.h"

#include <algorithm>
#include <stdexcept>

namespace halfscope::test::ptx {
namespace {

constexpr std::string_view kOpening = "{[(", kClosing = "}])";

/// The last word of each parameter: its name, and in brackets its number of bytes.
std::vector<std::string> namesOf(std::string_view parameters) {
    std::vector<std::string> names;
    for (const std::string_view parameter : parts(parameters)) {
        const std::string_view last = parameter.substr(parameter.find_last_of(kBlanks) + 1);
        names.emplace_back(last.substr(0, last.find('[')));
    }
    return names;
}

/// `.func (results) name (parameters)`
Function functionOf(std::string_view header) {
    Function made;
    std::string_view rest = trimmed(header.substr(header.find(".func") + 5));
    if (rest.starts_with("(")) {
        made.results = namesOf(rest.substr(1, rest.find(')') - 1));
        rest = trimmed(rest.substr(rest.find(')') + 1));
    }
    const size_t open = rest.find('(');
    made.name = std::string(trimmed(rest.substr(0, open)));
    if (open != std::string_view::npos)
        made.parameters = namesOf(rest.substr(open + 1, rest.rfind(')') - open - 1));
    return made;
}

/// A directive that ends with its line.
bool isBare(std::string_view statement) {
    constexpr std::string_view kWords[] = {".version",      ".target",  ".address_size", ".maxntid",
                                           ".minnctapersm", ".maxnreg", ".reqntid"};
    return std::any_of(std::begin(kWords), std::end(kWords),
                       [&](std::string_view word) { return statement.starts_with(word); });
}

} // namespace

std::string_view trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::pair<std::string_view, std::string_view> firstWord(std::string_view text) {
    const size_t end = std::min(text.find_first_of(kBlanks), text.size());
    return {text.substr(0, end), trimmed(text.substr(end))};
}

std::vector<std::string_view> parts(std::string_view text) {
    std::vector<std::string_view> found;
    int depth = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && kOpening.find(text[i]) != std::string_view::npos) ++depth;
        if (i < text.size() && kClosing.find(text[i]) != std::string_view::npos) --depth;
        if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
        if (const std::string_view part = trimmed(text.substr(begin, i - begin)); !part.empty())
            found.push_back(part);
        begin = i + 1;
    }
    return found;
}

int bytesOfType(std::string_view type) {
    if (type == ".pred") return 4;
    const size_t digits = type.find_first_of("0123456789");
    if (digits == std::string_view::npos) return 0;
    return std::stoi(std::string(type.substr(digits))) / 8;
}

std::optional<uint64_t> literal(std::string_view text) {
    if (text.empty() || text.find_first_of("0123456789") > (text[0] == '-' ? 1u : 0u)) return {};
    const bool isFloat = text.starts_with("0f") || text.starts_with("0F") ||
                         text.starts_with("0d") || text.starts_with("0D");
    const std::string digits(text.substr(isFloat ? 2 : 0));
    size_t read = 0;
    const uint64_t bits = digits[0] == '-' ? static_cast<uint64_t>(std::stoll(digits, &read, 0))
                                           : std::stoull(digits, &read, isFloat ? 16 : 0);
    if (read != digits.size() && digits.substr(read) != "U")
        throw std::runtime_error("a number in a form that is not known: " + std::string(text));
    return bits;
}

Declaration declarationIn(std::string_view statement) {
    Declaration made;
    std::string_view rest = statement;
    while (!rest.empty() && rest[0] == '.') {
        const auto [word, after] = firstWord(rest);
        rest = after;
        if (word == ".align") {
            made.align = std::stoull(std::string(rest));
            rest = firstWord(rest).second;
        } else if (word == ".extern") {
            made.isExtern = true;
        } else if (word == ".global" || word == ".shared" || word == ".local" || word == ".const" ||
                   word == ".param") {
            made.space = word;
        } else if (word != ".visible" && word != ".weak") {
            made.bytes = bytesOfType(word);
            if (made.bytes == 0) throw std::runtime_error("a directive that is not known");
        }
    }
    const size_t equals = rest.find('=');
    const std::string_view declared = trimmed(rest.substr(0, equals));
    const size_t bracket = declared.find('[');
    made.name = declared.substr(0, bracket);
    if (bracket != std::string_view::npos)
        made.count = declared[bracket + 1] == ']'
                         ? 0
                         : std::stoull(std::string(declared.substr(bracket + 1)));
    if (equals == std::string_view::npos) return made;
    std::string_view values = trimmed(rest.substr(equals + 1));
    if (values.starts_with("{")) values = values.substr(1, values.size() - 2);
    for (const std::string_view value : parts(values))
        made.values.push_back(literal(value).value());
    return made;
}

bool Statements::next() {
    m_statement.clear();
    m_isLabel = false;
    int depth = 0;
    const auto taken = [&](size_t end) {
        m_at = end;
        return true;
    };
    for (; m_at < m_text.size(); ++m_at) {
        const char c = m_text[m_at];
        if (c == '\n') ++m_lineAt;
        if (c == '/' && m_text.substr(m_at, 2) == "//") {
            m_at = std::min(m_text.find('\n', m_at), m_text.size()) - 1;
            continue;
        }
        const std::string_view soFar = trimmed(m_statement);
        const bool blank = soFar.empty();
        if (blank && kBlanks.find(c) == std::string_view::npos) m_line = m_lineAt;
        const bool header = soFar.find(".entry") != std::string_view::npos;
        if (c == '{' && header) return taken(m_at); // the body comes next
        if ((c == '{' && blank) || (c == '}' && depth == 0)) {
            m_statement = c;
            return taken(m_at + 1);
        }
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        m_isLabel = c == ':' && depth == 0 && soFar.starts_with("$") &&
                    m_text.substr(m_at, 2) != "::" && m_statement.back() != ':';
        if (header && c == ')') m_statement += c;
        if (m_isLabel || c == ';' || (c == '\n' && isBare(soFar)) || (header && c == ')'))
            return taken(m_at + 1);
        m_statement += c;
    }
    return false;
}

std::map<std::string, Function> takeFunctions(std::string& text) {
    std::map<std::string, Function> functions;
    for (size_t at = 0; (at = text.find(".func", at)) != std::string::npos;) {
        size_t end = text.find_first_of(";{", at);
        if (end == std::string::npos) throw std::runtime_error("PTX: a function without end");
        Function made = functionOf(std::string_view(text).substr(at, end - at));
        if (text[end] == '{') {
            const size_t begin = end + 1;
            made.line =
                1 + static_cast<int>(std::count(
                        text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
            for (int depth = 1; depth > 0;) {
                end = text.find_first_of("{}", end + 1);
                if (end == std::string::npos) throw std::runtime_error("PTX: no end of a body");
                depth += text[end] == '{' ? 1 : -1;
            }
            made.body = text.substr(begin, end - begin);
            functions[made.name] = std::move(made);
        }
        for (; at <= end; ++at) // lines keep their numbers
            if (text[at] != '\n') text[at] = ' ';
    }
    return functions;
}

} // namespace halfscope::test::ptx
