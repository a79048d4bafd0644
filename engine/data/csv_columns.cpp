// Takes all inputs for numbers at first. Once a word is met, the whole file is looked through.
#include "engine/data/csv_columns.h"

#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/data/csv_classes.h"
#include "engine/data/csv_fields.h"
#include "engine/data/csv_header.h"
#include "engine/data/csv_look.h"
#include "engine/data/csv_refusals.h"
#include "engine/data/csv_seen.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace halfscope {

namespace {

/// Returns a text for data.drop; nothing when it cannot name the columns: a setting is one line of
/// text.
std::optional<std::string> dropText(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        const bool quoted = name.find_first_of(",\"") != name.npos;
        std::string field;
        for (const char c : name)
            field += c == '"' ? std::string("\"\"") : std::string(1, c);
        text += (text.empty() ? "" : ", ") + (quoted ? '"' + field + '"' : name);
        if (name.empty() || text.size() > kMostSettingBytes) return std::nullopt;
    }
    return isPlainText(text) ? std::optional(text) : std::nullopt;
}

std::optional<std::string> dropAlso(const TaskConfig& task, const std::vector<std::string>& more) {
    std::vector<std::string> names = droppedColumns(task.drop);
    names.insert(names.end(), more.begin(), more.end());
    return dropText(names);
}

/// Numbers the inputs: first the numbers and truths, then the words, as pandas.get_dummies does.
void placeInputs(CsvLayout& layout) {
    layout.inputs = 0;
    for (const bool words : {false, true})
        for (CsvColumn& column : layout.columns) {
            if ((column.use == ColumnUse::Words) != words) continue;
            column.input = layout.inputs;
            layout.inputs += column.inputs();
        }
}

bool hasInputs(const CsvLayout& layout) {
    return std::any_of(layout.columns.begin(), layout.columns.end(),
                       [](const CsvColumn& column) { return column.inputs() > 0; });
}

/// Decides from the header and the settings which column is the target and which ones are left out.
/// All others count as numbers until their values are seen.
class HeaderUses {
public:
    HeaderUses(const TaskConfig& task, const std::vector<std::string>& names)
        : m_task(task), m_names(names), m_dropped(names.size(), false) {}

    void apply(CsvLayout& layout) {
        markDropped();
        const size_t target = targetColumn();
        for (const bool unnamedToo : {false, true}) {
            layout.columns.clear();
            for (size_t i = 0; i < m_names.size(); ++i) {
                const bool out = m_dropped[i] || (!unnamedToo && isUnnamed(m_names[i]));
                layout.columns.push_back({m_names[i], i == target ? ColumnUse::Target
                                                      : out       ? ColumnUse::LeftOut
                                                                  : ColumnUse::Number});
            }
            placeInputs(layout);
            if (hasInputs(layout)) return;
        }
        throw InputError(phrase("Data", "data.drop: %1 has no column left to be an input"),
                         pathText(m_task.path));
    }

private:
    void markDropped() {
        if (std::ranges::count(m_task.drop, '"') % 2 != 0)
            throw InputError(phrase("Data", "data.drop: %1 has an unmatched quotation mark"),
                             quotedText(m_task.drop));
        const std::vector<std::string> dropped = droppedColumns(m_task.drop);
        const std::set<std::string_view> unwanted(dropped.begin(), dropped.end());
        const std::set<std::string_view> known(m_names.begin(), m_names.end());
        for (const std::string& name : dropped)
            if (!known.contains(name))
                throw InputError(phrase("Data", "data.drop: %1 has no column %2%3"),
                                 pathText(m_task.path), quotedText(name),
                                 nearestHint(name, m_names));
        for (size_t i = 0; i < m_names.size(); ++i)
            m_dropped[i] = unwanted.contains(m_names[i]);
    }
    /// Returns the column of data.target; without that setting, the last column that has a name and
    /// is not dropped.
    size_t targetColumn() const {
        const size_t none = m_names.size();
        if (!m_task.target.empty()) {
            const auto found = std::find(m_names.begin(), m_names.end(), m_task.target);
            if (found == m_names.end())
                throw InputError(phrase("Data", "data.target: %1 has no column %2%3"),
                                 pathText(m_task.path), quotedText(m_task.target),
                                 nearestHint(m_task.target, m_names));
            const auto at = static_cast<size_t>(found - m_names.begin());
            if (m_dropped[at])
                throw InputError(phrase("Data", "data.drop: %1 is the column to predict "
                                                "(data.target)"),
                                 quotedText(m_task.target));
            return at;
        }
        size_t last = none;
        for (size_t i = 0; i < m_names.size(); ++i)
            if (!m_dropped[i] && (last == none || !isUnnamed(m_names[i]))) last = i;
        return last;
    }

    const TaskConfig& m_task;
    const std::vector<std::string>& m_names;
    std::vector<bool> m_dropped;
};

/// Returns the decimal mark that the target does not have or, where it has none, that fewer columns
/// have; nothing when all have the same.
std::optional<char> oddMark(const CsvLayout& layout, const std::vector<SeenFields>& seen) {
    int64_t commas = 0, points = 0;
    const auto all = static_cast<int64_t>(seen.size());
    for (size_t i = 0; i < seen.size(); ++i) {
        if (seen[i].areWords()) continue; // so are its numbers
        const int64_t weight = layout.columns[i].use == ColumnUse::Target ? all : 1;
        commas += seen[i].hasMark(',') ? weight : 0;
        points += seen[i].hasMark('.') ? weight : 0;
    }
    if (commas == 0 || points == 0) return std::nullopt;
    return commas < points ? ',' : '.';
}

std::vector<std::string> namesWithManyWords(const CsvLayout& layout,
                                            const std::vector<SeenFields>& seen) {
    std::vector<std::string> names;
    for (size_t i = 0; i < seen.size(); ++i)
        if (layout.columns[i].use == ColumnUse::Number && seen[i].hasManyWords())
            names.push_back(layout.columns[i].name);
    return names;
}

/// Returns those of the names whose columns have no other words than unread numbers.
std::vector<std::string> formattedOf(std::vector<std::string> names, const CsvLayout& layout,
                                     const std::vector<SeenFields>& seen) {
    for (size_t i = 0; i < seen.size(); ++i)
        if (!seen[i].hasFormatted()) std::erase(names, layout.columns[i].name);
    return names;
}

std::vector<std::string> namesWith(const CsvLayout& layout, ColumnHint hint) {
    std::vector<std::string> names;
    for (const CsvColumn& column : layout.columns)
        if (column.hint == hint) names.push_back(column.name);
    return names;
}

/// Returns the first name that is a number, when the first line seems to be a sample: all names are
/// numbers, or one is a fraction. Whole numbers may well be names, such as years.
std::optional<std::string> numberAmongNames(const CsvLayout& layout) {
    const bool commas = layout.commas;
    const auto isNumber = [commas](const CsvColumn& column) {
        return NumberText(column.name, commas).isNumber();
    };
    const auto isFraction = [commas](const CsvColumn& column) {
        const double value = numberOf(column.name, commas);
        return std::isfinite(value) && value != std::trunc(value);
    };
    const auto& columns = layout.columns;
    if (!std::all_of(columns.begin(), columns.end(), isNumber) &&
        std::none_of(columns.begin(), columns.end(), isFraction))
        return std::nullopt;
    return std::find_if(columns.begin(), columns.end(), isNumber)->name;
}

/// Returns the first name that is also one of the words in its column, as in a table whose first
/// line is a sample.
std::optional<std::string> wordAmongNames(const CsvLayout& layout) {
    for (const CsvColumn& column : layout.columns)
        if (std::binary_search(column.words.begin(), column.words.end(), column.name))
            return column.name;
    return std::nullopt;
}

/// Tells which columns data.drop leaves out that could not be inputs, and why, with the first field
/// that is no mere number.
void noteUnusable(std::map<ColumnHint, std::vector<std::string>>& names,
                  std::map<ColumnHint, Message>& first, std::vector<Message>& notes) {
    const auto tell = [&](ColumnHint hint, auto&& note) {
        if (!names[hint].empty()) notes.push_back(note(someOf(names[hint])));
    };
    tell(ColumnHint::ManyWords, [](const Message& some) {
        return Message(phrase("Data", "Columns with more than %1 different words, such as free "
                                      "text, cannot be inputs. The setting data.drop leaves out: "
                                      "%2."),
                       kMostWords, some);
    });
    tell(ColumnHint::Dates, [](const Message& some) {
        return Message(phrase("Data", "Dates are not useful as inputs: a network would only learn "
                                      "these days by heart. The setting data.drop leaves out: %1. "
                                      "To use them, write numbers in their place, such as the "
                                      "month or the days since the first."),
                       some);
    });
    tell(ColumnHint::Mixed, [&first](const Message& some) {
        return Message(phrase("Data", "Columns of numbers with a word here and there cannot be "
                                      "inputs. The setting data.drop leaves out: %1. The first "
                                      "such word is in %2. To use these columns, correct such "
                                      "words, and open the table again."),
                       some, first[ColumnHint::Mixed]);
    });
    tell(ColumnHint::BeyondFloat, [&first](const Message& some) {
        return Message(
            phrase("Data",
                   "Columns with an infinite number, or one beyond 3.4e+38, where "
                   "float32 ends, cannot be inputs. The setting data.drop leaves out: %1. The "
                   "first such number is in %2. To use these columns, correct such "
                   "numbers, and open the table again."),
            some, first[ColumnHint::BeyondFloat]);
    });
    tell(ColumnHint::OtherMark, [](const Message& some) {
        return Message(phrase("Data", "Some numbers have points and others decimal commas, so "
                                      "1.234 could mean either. The setting data.drop leaves out: "
                                      "%1. To use these columns, save the table with one of the "
                                      "two throughout."),
                       some);
    });
    tell(ColumnHint::NoValue, [](const Message& some) {
        return Message(phrase("Data", "Columns without any value cannot be inputs. The setting "
                                      "data.drop leaves out: %1."),
                       some);
    });
}

/// Tells which columns data.drop leaves out.
void noteLeftOut(const CsvLayout& layout, const TaskConfig& task, std::vector<Message>& notes) {
    std::vector<std::string> asked;
    std::map<ColumnHint, std::vector<std::string>> unusable;
    std::map<ColumnHint, Message> first;
    for (const std::string& name : droppedColumns(task.drop)) {
        const auto column =
            std::find_if(layout.columns.begin(), layout.columns.end(),
                         [&name](const CsvColumn& each) { return each.name == name; });
        const ColumnHint hint = column->hint; // a name without a column was refused
        const bool could = hint == ColumnHint::None || hint == ColumnHint::Formatted;
        (could ? asked : unusable[hint]).push_back(name);
        first.try_emplace(hint,
                          hint == ColumnHint::Mixed ? column->firstWord : column->beyondFloat);
    }
    if (!asked.empty())
        notes.push_back({phrase("Data", "The setting data.drop leaves out: %1."), someOf(asked)});
    noteUnusable(unusable, first, notes);
}

/// Tells which inputs are different in each line, which a network learns by heart. The only column
/// of inputs may well be so: x in a table of x and y.
void noteLineNames(const CsvLayout& layout, const TaskConfig& task, std::vector<Message>& notes) {
    const std::vector<std::string> names = namesWith(layout, ColumnHint::NamesLines);
    const auto inputs = std::count_if(layout.columns.begin(), layout.columns.end(),
                                      [](const CsvColumn& column) { return column.inputs() > 0; });
    const auto drop = dropAlso(task, names);
    if (names.empty() || inputs == static_cast<std::ptrdiff_t>(names.size()) || !drop) return;
    notes.push_back({phrase("Data", "These inputs have a different value in each line: %1. If they "
                                    "only number or name the lines, the network learns nothing "
                                    "useful from them; to leave them out, set data.drop to %2."),
                     someOf(names), *drop});
}

/// Tells which inputs teach nothing, or nothing but the lines themselves.
void noteUseless(const CsvLayout& layout, const TaskConfig& task, std::vector<Message>& notes) {
    noteLineNames(layout, task, notes);
    const std::vector<std::string> names = namesWith(layout, ColumnHint::OneValue);
    if (!names.empty())
        notes.push_back({phrase("Data", "These inputs have one value in all lines and teach "
                                        "nothing: %1."),
                         someOf(names)});
}

/// Tells which words are inputs of their own although they may mean the same, such as Rome and
/// ROME.
void noteCapitals(const CsvLayout& layout, std::vector<Message>& notes) {
    std::vector<std::string> columns;
    Message first;
    for (const CsvColumn& column : layout.columns) {
        const Message alike = alikeButForCapitals(column.words);
        if (alike.empty()) continue;
        if (first.empty()) first = alike;
        columns.push_back(column.name);
    }
    if (!columns.empty())
        notes.push_back(
            {phrase("Data", "Words that differ only in capitals, such as %1, are inputs "
                            "of their own, in the columns: %2. If they mean the same, "
                            "write them alike."),
             first, someOf(columns)});
}

void noteWords(const CsvLayout& layout, std::vector<Message>& notes) {
    std::vector<std::string> words;
    for (const CsvColumn& column : layout.columns)
        if (column.use == ColumnUse::Words)
            words.push_back(column.name + " (" + std::to_string(column.words.size()) + ")");
    if (!words.empty())
        notes.push_back({phrase("Data", "Columns of words became an input of 0 and 1 for each "
                                        "word: %1."),
                         someOf(words)});
    noteCapitals(layout, notes);
}

void notePlaceholders(const CsvLayout& layout, std::vector<Message>& notes) {
    std::vector<std::string> columns;
    for (const CsvColumn& column : layout.columns)
        if (const auto& number = column.placeholder)
            columns.push_back(column.name + " (" + numberText(number->value) + ", " +
                              std::to_string(number->count) + ")");
    if (!columns.empty())
        notes.push_back({phrase("Data", "Columns have a number that is far from all their others "
                                        "and may stand for missing values. In brackets, the number "
                                        "and how many samples have it: %1. If it does, save the "
                                        "table with nothing in its place."),
                         someOf(columns)});
}

/// Returns data.drop with the columns of inputs added whose names and fields are such, of which
/// `out` also learns whether they have an odd decimal mark; unchanged when no other inputs are
/// left.
template <class Out>
std::string dropWhere(const TaskConfig& task, const Out& out) {
    CsvFile file = tableOf(task);
    const CsvLayout layout = csvLayout(task, file);
    const std::vector<SeenFields> seen = lookThrough(task, layout);
    const std::optional<char> odd = oddMark(layout, seen);
    std::vector<std::string> names;
    for (size_t i = 0; i < seen.size(); ++i)
        if (layout.columns[i].use == ColumnUse::Number &&
            out(layout.columns[i].name, seen[i],
                odd && !seen[i].areWords() && seen[i].hasMark(*odd)))
            names.push_back(layout.columns[i].name);
    const auto others = std::count_if(layout.columns.begin(), layout.columns.end(),
                                      [](const CsvColumn& column) { return column.inputs() > 0; }) -
                        static_cast<std::ptrdiff_t>(names.size());
    if (names.empty() || others == 0) return task.drop;
    return dropAlso(task, names).value_or(task.drop);
}

} // namespace

bool isUnnamed(std::string_view name) {
    constexpr std::string_view kPandas = "Unnamed: ";
    if (!name.starts_with(kPandas)) return name.empty();
    name.remove_prefix(kPandas.size());
    return !name.empty() && name.find_first_not_of("0123456789") == name.npos;
}

size_t CsvColumn::inputs() const {
    if (use == ColumnUse::Words) return words.size();
    return use == ColumnUse::Number || use == ColumnUse::Truth ? 1 : 0;
}

std::vector<std::string> CsvLayout::inputNames() const {
    std::vector<std::string> names(inputs);
    for (const CsvColumn& column : columns)
        for (size_t i = 0; i < column.inputs(); ++i)
            names[column.input + i] =
                column.use == ColumnUse::Words ? column.name + "_" + column.words[i] : column.name;
    tellApart(names);
    return names;
}

bool CsvLayout::lacks(const CsvFile& file, size_t column) const {
    return file.lacks(column) || (columns[column].gaps && isGapWord(file.text(column)));
}

/// A line without a target is dropped even when means fill the inputs: a target cannot be made up.
bool CsvLayout::drops(const CsvFile& file, Missing missing) const {
    if (missing == Missing::Refuse) return false;
    for (size_t i = 0; i < columns.size(); ++i) {
        const ColumnUse use = columns[i].use;
        const bool counts =
            use == ColumnUse::Target || (missing == Missing::Drop && use != ColumnUse::LeftOut);
        if (counts && lacks(file, i)) return true;
    }
    return false;
}

CsvLayout csvLayout(const TaskConfig& task, CsvFile& file) {
    const std::vector<std::string> names = file.readHeader();
    if (names.size() < 2)
        throw InputError(
            task.header ? phrase("Data", "%1: %2 is one column, which is not enough; the "
                                         "first line must name 2 to %3 columns, with commas, "
                                         "semicolons, tabs or spaces between them")
                        : phrase("Data", "%1: %2 is one column, which is not enough; a line "
                                         "must have 2 to %3, with commas, semicolons, tabs "
                                         "or spaces between them"),
            file.place(), quotedText(task.header ? names[0] : std::string(trimmed(file.record()))),
            CsvFile::kMostColumns);
    // a title, as spreadsheets have it above a table
    if (names.size() > 2 && !isUnnamed(names[0]) &&
        std::all_of(names.begin() + 1, names.end(), isUnnamed))
        throw InputError(phrase("Data",
                                "%1: of %2 columns, only %3 has a name; the first line must "
                                "name the columns, so remove titles and empty lines above "
                                "the line of names"),
                         file.place(), names.size(), quotedText(names[0]));
    CsvLayout layout{
        .separator = file.separator(), .commas = file.commas(), .renamed = file.renamed()};
    HeaderUses(task, names).apply(layout);
    return layout;
}

void useWords(const TaskConfig& task, CsvLayout& layout) {
    std::vector<SeenFields> seen = lookThrough(task, layout);
    bool gaps = false;
    for (size_t i = 0; i < seen.size(); ++i)
        gaps = (layout.columns[i].gaps = seen[i].hasGaps()) || gaps;
    if (gaps && task.missing != Missing::Refuse)
        seen = lookThrough(task, layout); // more lines are dropped now
    if (const auto many = namesWithManyWords(layout, seen); !many.empty())
        refuseManyWords(task, layout, many, formattedOf(many, layout, seen), dropAlso(task, many));
    for (size_t i = 0; i < seen.size(); ++i) {
        CsvColumn& column = layout.columns[i];
        // one of numbers with a word here and there stays so: the word is refused later, with its
        // line
        if (column.use != ColumnUse::Number || !seen[i].areWords()) continue;
        column.use = seen[i].areTruths() ? ColumnUse::Truth : ColumnUse::Words;
        if (column.use == ColumnUse::Words) column.words = seen[i].words();
    }
    placeInputs(layout);
    if (layout.inputs > CsvFile::kMostColumns)
        throw InputError(phrase("Data", "%1: %2 inputs are not allowed: at most %3; each word of a "
                                        "column of words is one, and data.drop leaves columns out"),
                         pathText(task.path), layout.inputs, CsvFile::kMostColumns);
}

std::string dropWithUnusable(const TaskConfig& task) {
    return dropWhere(task, [](const std::string&, const SeenFields& seen, bool oddMark) {
        return oddMark || seen.areDates() || seen.hasManyWords() || seen.areMixed() ||
               seen.areSomeFormatted() || seen.areBeyondFloat() || seen.hasNothing();
    });
}

std::string dropWithDates(const TaskConfig& task) {
    return dropWhere(
        task, [](const std::string&, const SeenFields& seen, bool) { return seen.areDates(); });
}

std::string dropIfDates(const TaskConfig& task, std::string_view column) {
    if (column.empty()) return task.drop;
    return dropWhere(task, [column](const std::string& name, const SeenFields& seen, bool) {
        return name == column && seen.areDates();
    });
}

std::string targetColumn(const TaskConfig& task) {
    CsvFile file = tableOf(task);
    for (const CsvColumn& column : csvLayout(task, file).columns)
        if (column.use == ColumnUse::Target) return column.name;
    return {};
}

std::string dropWithout(const TaskConfig& task, std::string_view column) {
    std::vector<std::string> names = droppedColumns(task.drop);
    if (std::erase(names, column) == 0) return task.drop;
    return dropText(names).value_or(task.drop);
}

std::vector<std::string> columnsWithGaps(const TaskConfig& task) {
    CsvFile file = tableOf(task);
    const CsvLayout layout = csvLayout(task, file);
    const std::vector<SeenFields> seen = lookThrough(task, layout);
    std::set<std::string> numbers, found;
    for (size_t i = 0; i < seen.size(); ++i)
        if (seen[i].areNumbers())
            (seen[i].hasGaps() ? found : numbers).insert(layout.columns[i].name);
    for (const std::string& path : {task.validationPath, task.testPath}) {
        if (path.empty()) continue;
        CsvFile other(path, task.header);
        const std::vector<std::string> names = other.readHeader();
        while (other.next())
            for (size_t i = 0; i < names.size(); ++i)
                if (isGapWord(other.text(i)) && numbers.contains(names[i])) found.insert(names[i]);
    }
    return {found.begin(), found.end()};
}

std::vector<std::string> columnNames(const TaskConfig& task) { return tableOf(task).readHeader(); }

std::vector<std::string> droppedColumns(std::string_view text) {
    std::vector<std::string> names(1);
    bool quoted = false, was = false; // inside quotation marks; the last character closed them
    for (const char c : text) {
        const bool mark = c == '"';
        if (mark && was) names.back() += '"'; // a doubled mark stands for one
        was = mark && quoted && !was;
        if (mark)
            quoted = !quoted;
        else if (c == ',' && !quoted)
            names.emplace_back();
        else
            names.back() += c;
    }
    for (std::string& name : names)
        name = trimmed(std::string(name));
    std::erase(names, "");
    return names;
}

std::vector<Message> columnNotes(const CsvLayout& layout, const Message& formatted,
                                 const TaskConfig& task) {
    std::vector<Message> notes;
    std::vector<std::string> truths;
    bool unnamed = false, unnamedInput = false;
    for (const CsvColumn& column : layout.columns) {
        const bool input = column.inputs() > 0;
        unnamed = unnamed || (column.use == ColumnUse::LeftOut && isUnnamed(column.name));
        unnamedInput = unnamedInput || (input && isUnnamed(column.name));
        if (column.use == ColumnUse::Truth) truths.push_back(column.name);
    }
    if (layout.separator == '\t')
        notes.push_back(layout.decimalComma
                            ? phrase("Data", "The columns are separated by tabs, and numbers have "
                                             "decimal commas.")
                            : phrase("Data", "The columns are separated by tabs."));
    if (layout.separator == ',' && layout.decimalComma)
        notes.push_back(phrase("Data", "Numbers have decimal commas."));
    if (layout.separator == ' ')
        notes.push_back(phrase("Data", "The columns are separated by spaces."));
    if (layout.separator == ';')
        notes.push_back(layout.decimalComma
                            ? phrase("Data", "The columns are separated by semicolons, and "
                                             "numbers have decimal commas.")
                            : phrase("Data", "The columns are separated by semicolons."));
    if (!task.header)
        notes.push_back(kNoHeader);
    else if (const auto number = numberAmongNames(layout))
        notes.push_back({phrase("Data", "Names of columns are numbers, such as %1. If the first "
                                        "line is a sample, set data.header to false."),
                         pathText(*number)});
    else if (const auto word = wordAmongNames(layout))
        notes.push_back({phrase("Data", "The name of a column, %1, is also one of its words. If "
                                        "the first line is a sample, set data.header to false."),
                         quotedText(*word)});
    if (!layout.renamed.empty()) notes.push_back(renamedNote(layout.renamed));
    if (unnamed)
        notes.push_back(phrase("Data", "A column without a name is left out: pandas writes the "
                                       "numbers of lines into one."));
    if (unnamedInput)
        notes.push_back(phrase("Data", "A column without a name is an input. If it only "
                                       "numbers the lines, save the table without it "
                                       "(pandas: to_csv with index=False)."));
    noteLeftOut(layout, task, notes);
    noteUseless(layout, task, notes);
    notePlaceholders(layout, notes);
    if (!truths.empty())
        notes.push_back({phrase("Data", "True and yes are 1, false and no are 0, in the columns: "
                                        "%1."),
                         someOf(truths)});
    noteWords(layout, notes);
    if (!formatted.empty())
        notes.push_back(
            {phrase("Data", "Numbers with thousands separators, percent signs or signs of "
                            "currency, or with decimal commas in a table that has points, are not "
                            "read as numbers, in the columns: %1. The first is in %2. To use them "
                            "as numbers, %3."),
             someOf(namesWith(layout, ColumnHint::Formatted)), formatted, kFormatAsNumber});
    return notes;
}

} // namespace halfscope
