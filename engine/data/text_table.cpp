// Tells columns of texts by a look at the first lines; reads texts token by token.
#include "engine/data/text_table.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/core/text.h"
#include "engine/data/csv_classes.h"
#include "engine/data/csv_columns.h"
#include "engine/data/csv_fields.h"
#include "engine/data/csv_seen.h"
#include "engine/data/held_back.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace halfscope {

namespace {

constexpr size_t kMostTokens = 2'000'000; // different ones, which fit into half a gigabyte

size_t wordsIn(std::string_view text) {
    size_t words = 0;
    forTokens(text, Tokens::Words, [&words](std::string_view) { return ++words > 0; });
    return words;
}

/// What the first fields of a column hold.
class SeenColumn {
public:
    explicit SeenColumn(std::string name) : m_name(std::move(name)) {}

    void add(const CsvFile& file, size_t column) {
        const std::string_view text = file.text(column);
        if (text.empty()) return;
        ++m_count;
        m_bytes += text.size();
        m_words += wordsIn(text);
        m_letters += static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                   static_cast<unsigned char>(c) >= 0x80;
        }));
        if (m_values.size() <= kMostWords) m_values.emplace(text);
        const NumberText number(text, file.commas());
        m_allNumbers = m_allNumbers && number.isNumber();
        if (m_allNumbers) m_numbers.add(numberOf(text, file.commas()));
    }

    const std::string& name() const { return m_name; }
    bool isNothing() const {
        return m_count == 0 || isUnnamed(m_name) || (m_allNumbers && m_numbers.countLines(m_name));
    }
    /// Sentences that mostly differ, or more words than could be inputs of a table.
    bool isText() const {
        constexpr size_t kSentence = 3;
        const bool sentences = m_words >= kSentence * m_count && 2 * m_values.size() > m_count;
        return !m_allNumbers && 2 * m_letters > m_bytes &&
               (sentences || m_values.size() > kMostWords);
    }
    bool isClass() const {
        constexpr size_t kMostNumbers = 20, kLeastOfEach = 2;
        return m_values.size() <= (m_allNumbers ? kMostNumbers : kMostWords) &&
               m_count >= kLeastOfEach * m_values.size();
    }
    double words() const { return static_cast<double>(m_words) / static_cast<double>(m_count); }
    double bytes() const { return static_cast<double>(m_bytes) / static_cast<double>(m_count); }

private:
    std::string m_name;
    size_t m_count = 0, m_bytes = 0, m_words = 0, m_letters = 0; ///< of fields that are not empty
    std::set<std::string> m_values; ///< at most one more than kMostWords
    bool m_allNumbers = true;
    SeenNumbers m_numbers;
};

std::vector<SeenColumn> firstLines(const std::string& path, bool header) {
    constexpr int kLines = 1000;
    CsvFile file(path, header);
    std::vector<SeenColumn> columns;
    for (std::string& name : file.readHeader())
        columns.emplace_back(std::move(name));
    for (int line = 0; line < kLines && file.next(); ++line)
        for (size_t i = 0; i < columns.size(); ++i)
            columns[i].add(file, i);
    return columns;
}

std::string shownPath(const TaskConfig& task) {
    return task.path.empty() ? kWordsFile : pathText(task.path);
}

/// Returns the index of the column that a setting names.
size_t namedColumn(const TaskConfig& task, const char* setting, const std::string& name,
                   const std::vector<std::string>& names) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        throw InputError(phrase("Data", "%1: %2 has no column %3%4"), setting, shownPath(task),
                         quotedText(name), nearestHint(name, names));
    return static_cast<size_t>(found - names.begin());
}

/// Returns the column whose fields have the most bytes; `not_` is passed over.
size_t longestColumn(const TaskConfig& task, const std::vector<std::string>& names, size_t not_) {
    CsvFile file = tableOf(task);
    file.readHeader();
    std::vector<size_t> bytes(names.size());
    while (file.next())
        for (size_t i = 0; i < names.size(); ++i)
            if (i != not_ && !isUnnamed(names[i])) bytes[i] += file.text(i).size();
    return static_cast<size_t>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
}

/// The indices of the columns that matter.
struct Places {
    size_t text = 0, target = 0;
};

Places placesOf(const TaskConfig& task, const std::vector<std::string>& names) {
    const size_t none = names.size();
    size_t text = none, target = none;
    if (!task.target.empty()) target = namedColumn(task, "data.target", task.target, names);
    if (!task.textColumn.empty()) text = namedColumn(task, "data.text", task.textColumn, names);
    if (text == none) text = longestColumn(task, names, target);
    for (size_t i = 0; task.target.empty() && i < names.size(); ++i)
        if (i != text && !isUnnamed(names[i])) target = i;
    if (target == none)
        throw InputError(phrase("Data", "%1: there is no column of classes beside the column of "
                                        "texts, %2"),
                         shownPath(task), quotedText(names[text]));
    if (text == target)
        throw InputError(phrase("Data", "data.text: %1 is the column to predict (data.target)"),
                         quotedText(names[text]));
    return {text, target};
}

/// Reads the samples of one file.
class TextReader {
public:
    TextReader(const TaskConfig& task, CsvFile& file, std::string name, size_t text)
        : m_task(task), m_file(file), m_text(text) {
        m_table.columns.text = std::move(name);
    }
    void readClassesFrom(size_t column, std::string name) {
        m_target = column;
        m_table.columns.target = std::move(name);
    }

    TextTable read() {
        while (m_file.next()) {
            const bool lacks = text().empty() || (m_target && m_file.text(*m_target).empty());
            if (lacks) {
                ++m_table.dropped;
                continue;
            }
            m_table.places.push_back(m_table.samples() + m_table.dropped);
            if (m_target) m_table.labels.push_back(classOfLine());
            addTokens();
        }
        CsvClasses classes = sortClasses(m_indices, m_file.commas(), m_table.labels);
        m_table.classes = std::move(classes.names);
        m_table.wholeClasses = classes.whole;
        return std::move(m_table);
    }

private:
    std::string_view text() const { return m_file.text(m_text); }

    int32_t classOfLine() {
        const auto next = static_cast<int32_t>(m_indices.size());
        const int32_t found =
            m_indices.try_emplace(std::string(m_file.text(*m_target)), next).first->second;
        if (m_indices.size() > kMostClasses)
            throw InputError(phrase("Data", "%1: more than %2 classes in the column %3"),
                             m_file.place(), kMostClasses, quotedText(m_table.columns.target));
        return found;
    }

    void addTokens() {
        checkIsText();
        const auto most = static_cast<size_t>(m_task.context);
        size_t count = 0;
        forTokens(text(), m_task.tokens, [&](std::string_view token) {
            if (count++ < most) m_table.tokens.push_back(m_table.known.add(token));
            return true;
        });
        m_table.ends.push_back(m_table.tokens.size());
        m_table.allTokens += static_cast<int64_t>(count);
        m_table.cut += count > most;
        if (m_table.known.size() > kMostTokens)
            throw InputError(phrase("Data", "%1: more than %2 different words are not allowed"),
                             m_file.place(), kMostTokens);
    }
    void checkIsText() const {
        for (std::string_view rest = text(); !rest.empty();) {
            const size_t length = sequenceLength(rest);
            if (length == 0)
                throw InputError(phrase("Data", "%1: the text is not UTF-8; save the table as CSV "
                                                "(UTF-8)"),
                                 m_file.place());
            rest.remove_prefix(length);
        }
    }

    const TaskConfig& m_task;
    CsvFile& m_file;
    size_t m_text;
    std::optional<size_t> m_target;
    std::map<std::string, int32_t> m_indices; ///< of the classes, as they first appear
    TextTable m_table;
};

void checkHasSamples(const std::string& path, const TextTable& table) {
    if (table.samples() == 0)
        throw InputError(table.dropped == 0
                             ? phrase("Data", "%1: no line of values follows the names of the "
                                              "columns")
                             : phrase("Data", "%1: every line lacks its text or its class"),
                         pathText(path));
    checkSampleCount(pathText(path), table.samples());
}

} // namespace

std::optional<TextColumns> textColumnsOf(const std::string& path, bool header) {
    std::vector<SeenColumn> columns;
    try {
        columns = firstLines(path, header);
    } catch (const InputError&) { // whoever reads it tells
        return std::nullopt;
    }
    const SeenColumn *text = nullptr, *target = nullptr;
    for (const SeenColumn& column : columns) {
        if (column.isNothing()) continue;
        if (column.isText()) {
            if (!text || column.bytes() > text->bytes()) text = &column;
            continue;
        }
        if (target || !column.isClass()) return std::nullopt;
        target = &column;
    }
    if (!text || !target || !isPlainText(text->name()) || !isPlainText(target->name()))
        return std::nullopt;
    return TextColumns{text->name(), target->name(), text->words()};
}

TextColumns chosenColumns(const TaskConfig& task) {
    CsvFile file = tableOf(task);
    const std::vector<std::string> names = file.readHeader();
    const Places places = placesOf(task, names);
    return {names[places.text], names[places.target]};
}

TextTable readTextTable(const TaskConfig& task) {
    CsvFile file = tableOf(task);
    const std::vector<std::string> names = file.readHeader();
    if (names.size() < 2)
        throw InputError(phrase("Data", "%1: one column is not enough: a column of texts and one "
                                        "of classes are expected"),
                         file.place());
    const Places places = placesOf(task, names);
    TextReader reader(task, file, names[places.text], places.text);
    reader.readClassesFrom(places.target, names[places.target]);
    TextTable table = reader.read();
    table.renamed = file.renamed();
    checkHasSamples(task.path, table);
    return table;
}

namespace {

/// Returns the column of that name in task.predictFile, of which it reads the first line.
size_t columnToPredict(const TaskConfig& task, CsvFile& file, const std::string& text) {
    const std::vector<std::string> names = file.readHeader();
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end())
        throw InputError(phrase("Data", "%1: there is no column %2, which the network was trained "
                                        "on%3"),
                         pathText(task.predictFile), quotedText(text), nearestHint(text, names));
    return static_cast<size_t>(found - names.begin());
}

} // namespace

void checkNewColumn(const TaskConfig& task, const std::string& text) {
    CsvFile file = predictedTableOf(task);
    columnToPredict(task, file, text);
}

TextTable readNewTexts(const TaskConfig& task, const std::string& text) {
    CsvFile file = predictedTableOf(task);
    const size_t column = columnToPredict(task, file, text);
    TextTable table = TextReader(task, file, text, column).read();
    checkHasSamples(task.predictFile, table);
    return table;
}

std::vector<std::string> textsAt(const TaskConfig& task, std::span<const int64_t> lines) {
    CsvFile file = task.predictFile.empty() ? tableOf(task) : predictedTableOf(task);
    const std::vector<std::string> names = file.readHeader();
    const auto column =
        static_cast<size_t>(std::ranges::find(names, chosenColumns(task).text) - names.begin());
    std::vector<std::string> texts;
    for (int64_t line = 0; column < names.size() && texts.size() < lines.size() && file.next();
         ++line)
        if (line == lines[texts.size()]) texts.emplace_back(file.text(column));
    if (texts.size() < lines.size())
        throw InputError(phrase("Data", "%1: the file changed while it was read"),
                         task.predictFile.empty() ? shownPath(task) : pathText(task.predictFile));
    return texts;
}

int64_t contextFor(TaskConfig task) {
    constexpr int64_t kLeast = 8, kMost = 256, kShare = 20; // one in twenty is cut
    task.context = kMost;
    const TextTable table = readTextTable(task);
    std::vector<int64_t> lengths;
    for (size_t i = 0; i < table.ends.size(); ++i)
        lengths.push_back(static_cast<int64_t>(table.sample(i).size()));
    const auto at = lengths.end() - 1 - static_cast<std::ptrdiff_t>(lengths.size()) / kShare;
    std::nth_element(lengths.begin(), at, lengths.end());
    return std::clamp((*at + 7) / 8 * 8, kLeast, kMost);
}

} // namespace halfscope
