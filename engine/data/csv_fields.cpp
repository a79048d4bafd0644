// Reads one line at a time and skips lines without any value.
#include "engine/data/csv_fields.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/shipped_data.h"
#include "engine/data/sparse_lines.h"
#include "engine/data/standardiser.h"
#include "engine/io/text_input.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace halfscope {

namespace {

/// Returns how many digits follow one another from there on.
size_t digitsAt(std::string_view text, size_t at) {
    const size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    return end - std::min(at, end);
}

/// Replaces the spaces that do not break lines, which separate thousands in much of Europe, and the
/// minus sign of typesetters.
std::string withPlainSigns(std::string_view field) {
    constexpr std::array<std::pair<std::string_view, const char*>, 3> kPlain{
        {{"\u00A0", " "}, {"\u202F", " "}, {kMinus, "-"}}};
    std::string text(field);
    for (const auto& [sign, plain] : kPlain)
        for (size_t at = 0; (at = text.find(sign, at)) != text.npos;)
            text.replace(at, sign.size(), plain);
    return text;
}

/// Whether the mark in a number is its decimal mark. Such as 1,234 and 1.234 may also be whole.
bool isDecimal(std::string_view field, const NumberText& number) {
    if (number.mark == 0 || !number.isNumber()) return false;
    const bool below1 = number.text.starts_with('0') || number.text.starts_with("-0");
    return hasPointsAndComma(field) || below1 || !isFormattedNumber(field);
}

/// Removes signs of currency, a percent sign, and the sign of the number; returns whether there was
/// any of the first two.
bool removeMarks(std::string_view& text) {
    constexpr std::array<std::string_view, 12> kMarks{"%",   "$",   "€",   "£",   "¥",  "₹",
                                                      "EUR", "USD", "GBP", "CHF", "kr", "zł"};
    const auto removeSign = [&text] {
        if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    };
    bool marked = text.starts_with('(') && text.ends_with(')'); // a negative sum in accounts
    if (marked) text = trimmed(text.substr(1, text.size() - 2));
    removeSign();
    for (const std::string_view mark : kMarks) {
        const bool before = text.starts_with(mark), after = !before && text.ends_with(mark);
        if (before) text.remove_prefix(mark.size());
        if (after) text.remove_suffix(mark.size());
        marked = marked || before || after;
    }
    text = trimmed(text);
    removeSign();
    return marked;
}

/// Refuses the files of Excel and LibreOffice, whatever their names end with.
void checkIsNoSpreadsheet(const std::string& path) {
    constexpr std::string_view kOldExcel = "\xD0\xCF\x11\xE0", kZip = "PK\x03\x04";
    constexpr size_t kName = 30; // where a zip archive has the name of its first file
    constexpr std::array<std::string_view, 5> kFirst{"[Content_Types].xml", "_rels/", "docProps/",
                                                     "xl/", "mimetype"};
    std::array<char, 64> start{};
    UnpackedFile file(path);
    const std::string_view begins(start.data(), file.read(start));
    const bool zipped = begins.starts_with(kZip) &&
                        std::any_of(kFirst.begin(), kFirst.end(), [&](std::string_view name) {
                            return begins.substr(std::min(kName, begins.size())).starts_with(name);
                        });
    if (zipped || begins.starts_with(kOldExcel)) throw InputError(kSpreadsheet, pathText(path));
}

/// Refuses what would otherwise be read as a table of other columns, or of no lines. `ahead` is
/// what follows the first record.
void checkStart(const std::string& path, std::string_view record, std::string_view ahead) {
    if (record.find('\0') != record.npos)
        throw InputError(
            phrase("Data", "%1: this is not a csv table: it has bytes that no text has"),
            pathText(path));
    if (areSparseLines(record, ahead))
        throw InputError(phrase("Data", "%1: tables in the sparse form of LIBSVM (index:value) are "
                                        "not read; sklearn.datasets.load_svmlight_file() reads x "
                                        "and y, and numpy.savez('data.npz', x=x.toarray(), y=y) "
                                        "saves them to train on"),
                         pathText(path));
    const size_t end = record.find('\r');
    if (end != record.npos && end + 1 < record.size() && record[end + 1] != '\n')
        throw InputError(kEndsWithCr, pathText(path));
}

CsvReader::Separator separatorFor(const std::string& path, bool firstLineCounts) {
    const bool tabs = lowerCase(std::string(unpackedName(path))).ends_with(".tsv");
    if (!tabs && !isUnicodeTable(path)) return CsvReader::Separator::AsHeader;
    return firstLineCounts ? CsvReader::Separator::TabFirstKept : CsvReader::Separator::TabFirst;
}

} // namespace

bool isMissing(std::string_view text) {
    return std::find(kMissingWords.begin(), kMissingWords.end(), text) != kMissingWords.end();
}

bool isGapWord(std::string_view text) {
    constexpr size_t kLongest = 13;
    return text.size() <= kLongest &&
           std::ranges::find(kGapWords, lowerCase(std::string(text))) != kGapWords.end();
}

bool hasPointsAndComma(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    size_t at = digitsAt(text, 0);
    if (at == 0 || at > 3 || text.front() == '0') return false;
    const size_t first = at;
    while (at < text.size() && text[at] == '.' && digitsAt(text, at + 1) == 3)
        at += 4;
    if (at == first || at >= text.size() || text[at] != ',') return false;
    const size_t decimals = digitsAt(text, at + 1);
    return decimals > 0 && at + 1 + decimals == text.size();
}

std::optional<float> truthOf(std::string_view text) {
    constexpr size_t kLongest = 5;
    if (text.size() > kLongest) return std::nullopt;
    const std::string word = lowerCase(std::string(text));
    if (word == "true" || word == "yes") return 1.0f;
    if (word == "false" || word == "no") return 0.0f;
    return std::nullopt;
}

double numberOf(std::string_view text, bool commas) {
    double value = NAN;
    return NumberText(text, commas).read(value) == std::errc{} ? value : double{NAN};
}

bool isBeyondFloat(std::string_view text, bool commas) {
    const NumberText number(text, commas);
    double value = 0;
    const std::errc code = number.read(value);
    if (code == std::errc{}) return std::abs(value) >= kFloatEnds; // false for "-nan"
    if (code != std::errc::result_out_of_range) return false;
    long double wide = 0; // so that 1e-400 is not beyond it
    const std::errc again = number.read(wide);
    return again != std::errc{} || std::abs(wide) >= kFloatEnds;
}

bool isFormattedNumber(std::string_view field) {
    if (field.find_first_of("0123456789") == field.npos) return false;
    const std::string spaced = withPlainSigns(field);
    std::string_view text = spaced;
    const bool marked = removeMarks(text);
    const size_t first = digitsAt(text, 0);
    size_t at = first;
    const char separator = first > 0 && first <= 3 && at < text.size() ? text[at] : '\0';
    bool groups = false;
    if (std::string_view(".,' ").find(separator) != std::string_view::npos)
        for (; at < text.size() && text[at] == separator && digitsAt(text, at + 1) == 3; at += 4)
            groups = true;
    const bool decimals = at < text.size() && (text[at] == '.' || text[at] == ',') &&
                          !(groups && text[at] == separator);
    if (decimals) at += 1 + digitsAt(text, at + 1);
    return first > 0 && at == text.size() && (marked || groups);
}

bool isUnreadNumber(std::string_view text, bool commas) {
    if (isFormattedNumber(text)) return true;
    const NumberText number(text, true);
    return !commas && number.mark == ',' && number.isNumber();
}

bool mayTakeCommas(char separator, char trained) {
    return separator == '\t' || separator == trained;
}

std::vector<std::string> tellApart(std::vector<std::string>& names) {
    std::set<std::string> all(names.begin(), names.end());
    std::map<std::string, size_t> times; // that a name was met
    std::vector<std::string> renamed;
    for (std::string& name : names) {
        size_t& met = times[name];
        if (const std::string first = name; !first.empty() && met > 0) {
            while (!all.insert(name = first + "." + std::to_string(met)).second)
                ++met;
            renamed.push_back(name);
        }
        ++met;
    }
    return renamed;
}

CsvFile::CsvFile(std::string path, bool header, BlankLines blank)
    : m_path(std::move(path)), m_ships(false), m_header(header), m_blank(blank),
      m_reader(m_path, CsvReader::LastLine::MayLackEnd,
               separatorFor(m_path, !header && blank == BlankLines::Kept)) {}

CsvFile::CsvFile(std::string name, std::string_view content)
    : m_path(std::move(name)), m_ships(true), m_header(true),
      m_reader(m_path, content, CsvReader::LastLine::MayLackEnd, CsvReader::Separator::AsHeader) {}

std::vector<std::string> CsvFile::readHeader() {
    if (!m_ships) checkIsNoSpreadsheet(m_path);
    if (!m_reader.next(fields))
        throw InputError(m_header ? phrase("Data", "%1: the file is empty; its first line must "
                                                   "name the columns")
                                  : phrase("Data", "%1: the file is empty"),
                         pathText(m_path));
    std::vector<std::string> names;
    for (const std::string_view field : fields)
        names.emplace_back(trimmed(field));
    checkStart(m_path, m_reader.text(), m_reader.ahead());
    if (names.size() > kMostColumns)
        throw InputError(phrase("Data", "%1: %2 columns are not allowed: at most %3"), place(),
                         names.size(), kMostColumns);
    m_columns = names.size();
    m_commas = separator() == ';' || (separator() == '\t' && findsCommas()) ||
               (separator() == ',' && findsQuotedCommas());
    m_counts = Counts::of(names);
    m_isAhead = !m_header;
    for (size_t i = 0; !m_header && i < names.size(); ++i)
        names[i] = "c" + std::to_string(i + 1);
    for (std::string& name : names)
        name = onOneLine(name);
    m_renamed = tellApart(names);
    const auto isAsRead = [](std::string_view field, const std::string& name) {
        return trimmed(field) == name;
    };
    m_namesAsRead = m_header && std::ranges::equal(fields, names, isAsRead);
    return names;
}

/// A table with tabs may be of either kind. Such as 1,234 and 1.234 tell nothing.
bool CsvFile::findsCommas() const {
    int64_t commas = 0, points = 0;
    const auto count = [&](std::string_view field) {
        if (field.size() > 1 && field.starts_with('"') && field.ends_with('"'))
            field = field.substr(1, field.size() - 2);
        const NumberText number(field, true);
        if (isDecimal(field, number)) ++(number.mark == ',' ? commas : points);
    };
    std::string_view rest = m_reader.ahead();
    while (!rest.empty()) {
        const size_t end = std::min(rest.find_first_of("\t\n"), rest.size());
        count(trimmed(rest.substr(0, end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    for (const std::string_view field : fields)
        if (!m_header) count(trimmed(field));
    return commas > points;
}

/// Commas separate the columns, so that such numbers are in quotation marks.
bool CsvFile::findsQuotedCommas() const {
    constexpr int64_t kLines = 1000;
    struct Column {
        bool numbers = true, commas = false, grouped = false; // grouped: perhaps by thousands
    };
    std::vector<Column> columns(m_columns);
    bool points = false;
    const auto see = [&](std::string_view field, Column& column) {
        field = trimmed(field);
        if (isMissing(field) || isGapWord(field)) return;
        const NumberText number(field, true);
        column.numbers = column.numbers && number.isNumber();
        const bool decimal = isDecimal(field, number);
        column.commas = column.commas || (number.mark == ',' && decimal);
        column.grouped = column.grouped || (number.mark == ',' && !decimal);
        points = points || (number.mark == '.' && number.isNumber());
    };
    if (m_reader.ahead().find('"') == std::string_view::npos) return false; // as usual
    CsvReader lines(m_path, m_reader.ahead(), CsvReader::LastLine::MayLackEnd,
                    CsvReader::Separator::Comma);
    std::vector<std::string_view> read = m_header ? std::vector<std::string_view>() : fields;
    try {
        for (int64_t line = 0; line == 0 || (line < kLines && lines.next(read)); ++line)
            for (size_t i = 0; i < std::min(read.size(), columns.size()) && !points; ++i)
                see(read[i], columns[i]);
    } catch (const InputError&) { // the lines that are ahead may end within a field
    }
    const auto areDecimal = [](const Column& column) { return column.numbers && column.commas; };
    const auto mayBeWhole = [](const Column& column) {
        return column.numbers && column.grouped && !column.commas;
    };
    return !points && std::ranges::any_of(columns, areDecimal) &&
           std::ranges::none_of(columns, mayBeWhole);
}

CsvFile::Counts CsvFile::Counts::of(const std::vector<std::string>& names) {
    constexpr size_t kCounts = 2;
    Counts counts;
    const auto isWord = [](const std::string& name) {
        return !name.empty() && !NumberText(name, false).isNumber();
    };
    const bool found = names.size() > kCounts + 1 &&
                       NumberText(names[0], false).read(counts.samples) == std::errc{} &&
                       NumberText(names[1], false).read(counts.features) == std::errc{} &&
                       std::all_of(names.begin() + kCounts, names.end(), isWord);
    return found ? counts : Counts{};
}

/// Refuses a table whose first line counts, when the current line has a number for each feature and
/// for the class.
void CsvFile::checkFollows(const Counts& counts) const {
    const auto isNumber = [](std::string_view field) {
        return NumberText(trimmed(field), false).isNumber();
    };
    if (counts.features == 0 || fields.size() != counts.features + 1 ||
        !std::ranges::all_of(fields, isNumber))
        return;
    throw InputError(phrase("Data", "%1: the first line counts samples, %2, and features, %3, and "
                                    "names the classes, as in scikit-learn's own tables; write the "
                                    "names of the columns in its place, or remove it"),
                     pathText(m_path), counts.samples, counts.features);
}

bool CsvFile::next() {
    while (std::exchange(m_isAhead, false) || m_reader.next(fields)) {
        const bool kept =
            m_blank == BlankLines::Kept && !record().empty() && fields.size() == m_columns;
        if (record().find('\0') != std::string_view::npos)
            throw InputError(phrase("Data", "%1: it has a zero byte, which no text has"), place());
        if (isBlank() && !kept) continue;
        checkFollows(m_counts);
        if (fields.size() != m_columns)
            throw InputError(
                phrase("Data", "%1: the number of fields in %2 is %3, but must be %4, as in the "
                               "first line; empty lines are skipped"),
                place(), quotedText(record()), fields.size(), m_columns);
        return true;
    }
    return false;
}

bool CsvFile::isBlank() const {
    return std::ranges::all_of(fields,
                               [](std::string_view field) { return trimmed(field).empty(); });
}

bool namesTable(const std::string& path) {
    const std::string name = lowerCase(std::string(unpackedName(path)));
    return name.ends_with(".csv") || name.ends_with(".tsv") || name.ends_with(".data");
}

bool isUnicodeTable(const std::string& path) {
    if (!lowerCase(path).ends_with(".txt")) return false;
    try {
        TextInput file(path);
        std::string text;
        if (!file.isUtf16() || !file.next(text)) return false;
        return std::string_view(text).substr(0, text.find('\n')).find('\t') != text.npos;
    } catch (const InputError&) { // whoever reads it tells
        return false;
    }
}

CsvFile tableOf(const TaskConfig& task) {
    const bool ships = task.kind == TaskKind::TextClasses && task.path.empty();
    return ships ? CsvFile(kWordsFile, sampleWords()) : CsvFile(task.path, task.header);
}

bool readsCommas(const TaskConfig& task) {
    CsvFile file = tableOf(task);
    file.readHeader();
    return file.commas();
}

CsvFile predictedTableOf(const TaskConfig& task) {
    return CsvFile(task.predictFile, task.header, CsvFile::BlankLines::Kept);
}

void takeCommasOfTrained(const TaskConfig& task, CsvFile& predicted) {
    if (task.kind != TaskKind::Csv || predicted.commas()) return;
    try {
        CsvFile trained = tableOf(task);
        trained.readHeader();
        if (trained.commas() && mayTakeCommas(predicted.separator(), trained.separator()))
            predicted.takeCommas();
    } catch (const InputError&) { // it is gone since it was trained on: the first lines tell
    }
}

} // namespace halfscope
