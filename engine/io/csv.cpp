// Takes lines out of large blocks; a record continues over line ends while a quotation mark is
// open.
#include "engine/io/csv.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

namespace halfscope {
namespace {

/// Returns how many fields spaces outside quotation marks separate.
size_t spacedFields(std::string_view line) {
    size_t fields = 0;
    bool quoted = false, inside = false;
    for (const char c : line) {
        const bool space = !quoted && (c == ' ' || c == '\t' || c == '\r');
        if (c == '"') quoted = !quoted;
        if (!space && !inside) ++fields;
        inside = !space;
    }
    return fields;
}

/// Whether two numbers or more stand between two tabs with nothing but spaces between them.
bool hasSpacedNumbers(std::string_view line) {
    constexpr std::string_view kSpaces = " \r";
    int numbers = 0; // since the last tab
    for (size_t at = 0; (at = line.find_first_not_of(kSpaces, at)) != line.npos;) {
        const size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
        double value = 0;
        const auto [last, code] = std::from_chars(line.data() + at, line.data() + end, value);
        numbers += code == std::errc{} && last == line.data() + end ? 1 : 0;
        if (numbers > 1) return true;
        if (line[at] == '\t') numbers = 0;
        at = std::max(end, at + 1);
    }
    return false;
}

/// Whether spaces separate the fields of a table whose header has `tabs`: the lines that follow it
/// have as many fields. A title above a table has spaces, too, but another number of fields. A
/// table with tabs may have spaces in its fields, but seldom between numbers.
bool spacesSeparate(std::string_view header, std::string_view below, int64_t tabs) {
    const int64_t most = tabs > 0 ? 20 : 1; // lines
    const size_t fields = spacedFields(header);
    if (fields < 2 || static_cast<int64_t>(fields) <= tabs + 1) return false;
    int64_t lines = 0;
    while (lines < most && !below.empty()) {
        const size_t end = std::min(below.find('\n'), below.size());
        const std::string_view line = below.substr(0, end);
        const bool whole = end < below.size();
        below.remove_prefix(whole ? end + 1 : end);
        if (spacedFields(line) == 0) continue;
        if (lines > 0 && !whole) break; // only its beginning may be known
        if (spacedFields(line) != fields || (tabs > 0 && !hasSpacedNumbers(line))) return false;
        ++lines;
    }
    return lines > 0;
}

/// Returns the separator that the header has, see CsvReader::Separator; `below` begins with the
/// line that follows.
char separatorOf(std::string_view header, std::string_view below, bool tabFirst) {
    constexpr std::string_view kAll = ",\t;";
    std::array<int64_t, kAll.size()> counts{};
    bool quoted = false;
    for (const char c : header) {
        if (c == '"') quoted = !quoted;
        const size_t at = quoted ? kAll.npos : kAll.find(c);
        if (at != kAll.npos) ++counts[at];
    }
    if (tabFirst && counts[kAll.find('\t')] > 0) return '\t';
    const auto most = std::max_element(counts.begin(), counts.end()); // the first of equal ones
    const int64_t tabs = counts[kAll.find('\t')];
    if (*most == tabs && counts[kAll.find(',')] == 0 && spacesSeparate(header, below, tabs))
        return ' ';
    return kAll[static_cast<size_t>(most - counts.begin())];
}

/// Returns the separator that a line such as sep=; names; nothing for any other line.
std::optional<char> namedSeparator(std::string_view line) {
    constexpr std::string_view kBegin = "sep=", kAll = ",\t;";
    const bool quoted = line.size() > 1 && line.starts_with('"') && line.ends_with('"');
    if (quoted) line = line.substr(1, line.size() - 2);
    const bool names = line.size() == kBegin.size() + 1 && line.starts_with(kBegin) &&
                       kAll.find(line.back()) != kAll.npos;
    return names ? std::optional(line.back()) : std::nullopt;
}

Phrase textAfterMark(char separator) {
    switch (separator) {
    case ';':
        return phrase("Files", "%1: %2 has text after a closing quotation mark; only a semicolon "
                               "may follow");
    case '\t':
        return phrase("Files",
                      "%1: %2 has text after a closing quotation mark; only a tab may follow");
    case ' ':
        return phrase("Files",
                      "%1: %2 has text after a closing quotation mark; only a space may follow");
    default:
        return phrase("Files",
                      "%1: %2 has text after a closing quotation mark; only a comma may follow");
    }
}

} // namespace

CsvReader::CsvReader(std::string path, LastLine lastLine, Separator separator)
    : m_path(std::move(path)), m_file(std::in_place, m_path), m_lastLine(lastLine),
      m_rule(separator) {}

CsvReader::CsvReader(std::string name, std::string_view content, LastLine lastLine,
                     Separator separator)
    : m_path(std::move(name)), m_lastLine(lastLine), m_rule(separator), m_block(content),
      m_behind(1) {}

double CsvReader::share() const {
    if (m_block.empty()) return m_behind;
    const double taken = static_cast<double>(m_at) / static_cast<double>(m_block.size());
    return m_before + (m_behind - m_before) * taken;
}

bool CsvReader::fill() {
    if (!m_file) return false;
    m_at = 0;
    m_before = m_behind;
    const bool more = m_file->next(m_block);
    m_behind = m_file->share();
    return more;
}

bool CsvReader::appendLine() {
    const size_t before = m_record.size();
    for (;;) {
        if (m_at == m_block.size() && !fill()) {
            m_cutOff = m_record.size() > before;
            return false;
        }
        const size_t end = m_block.find('\n', m_at);
        const size_t count = std::min(end, m_block.size()) - m_at;
        const auto from = m_block.begin() + static_cast<std::ptrdiff_t>(m_at);
        m_marks +=
            static_cast<size_t>(std::count(from, from + static_cast<std::ptrdiff_t>(count), '"'));
        m_record.append(m_block, m_at, count);
        m_at = std::min(end, m_block.size() - 1) + 1;
        if (m_record.size() - before > kMostLineBytes)
            throw InputError(phrase("Files", "%1: %2 is too long: a line has at most %3 bytes"),
                             place(), quotedText(m_record), kMostLineBytes);
        if (end == std::string::npos) continue;
        ++m_lines;
        return true;
    }
}

bool CsvReader::takeLine() {
    if (appendLine()) return true;
    if (!m_cutOff || m_lastLine == LastLine::MustEnd) return false;
    m_cutOff = false;
    ++m_lines;
    return true;
}

/// Takes the lines of the next record.
bool CsvReader::takeRecord() {
    m_firstLine = m_lines + 1;
    m_record.clear();
    m_marks = 0;
    if (!takeLine()) return false;
    while (m_marks % 2 != 0) {
        m_record += '\n';
        const bool more = m_record.size() <= kMostLineBytes && takeLine();
        if (m_cutOff) return false;
        if (!more)
            throw InputError(phrase("Files", "%1: %2 has an unmatched quotation mark"), place(),
                             quotedLine());
    }
    if (m_record.ends_with('\r')) m_record.pop_back(); // written on Windows
    return true;
}

bool CsvReader::next(std::vector<std::string_view>& fields) {
    m_texts.clear();
    fields.clear();
    if (!takeRecord()) return false;
    if (m_rule != Separator::Comma && !takeHeader()) return false;
    split(fields);
    return true;
}

/// Moves on to the record that is the header, which decides for all records.
bool CsvReader::takeHeader() {
    m_record.erase(0, m_record.size() - withoutByteOrderMark(m_record).size());
    const std::optional<char> named = m_firstLine == 1 ? namedSeparator(m_record) : std::nullopt;
    m_hasSeparatorLine = named.has_value();
    if (named && !takeRecord()) return false;
    const bool tabsCount = m_rule == Separator::TabFirstKept;
    while (trimmed(m_record).empty() && !(tabsCount && m_record.find('\t') != m_record.npos))
        if (!takeRecord()) return false;
    m_separator = named ? *named : separatorOf(m_record, ahead(), m_rule != Separator::AsHeader);
    m_rule = Separator::Comma;
    return true;
}

void CsvReader::splitAtSpaces(std::vector<std::string_view>& fields) {
    constexpr std::string_view kSpaces = " \t";
    const std::string_view record = m_record;
    for (size_t at = 0; (at = record.find_first_not_of(kSpaces, at)) != record.npos;) {
        if (record[at] == '"') {
            fields.push_back(quotedField(at));
        } else {
            const size_t end = std::min(record.find_first_of(kSpaces, at), record.size());
            fields.push_back(record.substr(at, end - at));
            at = end;
        }
    }
}

void CsvReader::split(std::vector<std::string_view>& fields) {
    if (m_separator == ' ') return splitAtSpaces(fields);
    const std::string_view record = m_record;
    for (size_t at = 0;;) {
        if (at < record.size() && record[at] == '"') {
            fields.push_back(quotedField(at));
        } else {
            const size_t end = std::min(record.find(m_separator, at), record.size());
            fields.push_back(record.substr(at, end - at));
            at = end;
        }
        if (at == record.size()) return;
        ++at; // skips the separator
    }
}

/// Returns the first line of the record: after an open quotation mark, a record may be all that
/// follows in the file.
std::string CsvReader::quotedLine() const {
    return quotedText(std::string_view(m_record).substr(0, m_record.find('\n')));
}

/// Returns the text of a quoted field. Moves `at` from the opening quotation mark to the separator
/// behind the closing one.
std::string_view CsvReader::quotedField(size_t& at) {
    std::string& text = m_texts.emplace_back();
    for (++at;; ++at) {
        const size_t mark = m_record.find('"', at);
        if (mark == std::string::npos) // its pair is inside an unquoted field
            throw InputError(phrase("Files", "%1: %2 has an unmatched quotation mark"), place(),
                             quotedLine());
        text.append(m_record, at, mark - at);
        at = mark + 1;
        if (at == m_record.size() || m_record[at] == m_separator) return text;
        if (m_separator == ' ' && m_record[at] == '\t') return text; // see splitAtSpaces()
        if (m_record[at] == '\r') throw InputError(kEndsWithCr, pathText(m_path));
        if (m_record[at] != '"')
            throw InputError(textAfterMark(m_separator), place(), quotedLine());
        text += '"';
    }
}

} // namespace halfscope
