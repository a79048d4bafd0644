// Looks at the first lines alone where they tell enough: a large table takes long to read.
#include "engine/data/csv_target.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/csv_columns.h"
#include "engine/data/csv_fields.h"
#include "engine/data/csv_seen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace halfscope {

namespace {

/// Whether it is a usual name of the column to predict.
bool namesTarget(const std::string& name) {
    constexpr std::array<std::string_view, 6> kNames{"label",  "labels",  "class",
                                                     "target", "targets", "y"};
    return std::ranges::find(kNames, lowerCase(name)) != kNames.end();
}

constexpr size_t kFew = 20; ///< that many different values may be classes

/// What the first lines have in a column that may be the target or an input.
class FirstFields {
public:
    enum class Kind : uint8_t { Words, Classes, Whole, Fractions };

    void add(const CsvFile& file, size_t column) {
        m_fields.add(file, column);
        const double number = numberOf(file.text(column), file.commas());
        if (std::isfinite(number)) m_numbers.add(number);
    }
    size_t values() const { return m_fields.values(); }
    /// Whether there is more than one value, and each is in five lines on average.
    bool repeats(size_t lines) const {
        constexpr size_t kLeastOfEach = 5;
        return values() > 1 && kLeastOfEach * values() <= lines;
    }
    /// Classes that are numbers begin at -1, 0 or 1.
    Kind kind(size_t lines) const {
        if (!m_fields.areNumbers()) return Kind::Words;
        if (!m_numbers.areWhole()) return Kind::Fractions;
        const bool small = m_numbers.least() >= -1 && m_numbers.most() <= double{kFew};
        return small && repeats(lines) ? Kind::Classes : Kind::Whole;
    }

private:
    SeenFields m_fields;
    SeenNumbers m_numbers;
};

/// Whether no other column is like the last one, of classes or whole numbers or fractions, or, for
/// classes, whether one is not.
bool standsOut(std::span<const FirstFields> others, const FirstFields& last, size_t lines) {
    const auto kind = last.kind(lines);
    const auto isAlike = [&](const FirstFields& each) { return each.kind(lines) == kind; };
    return kind == FirstFields::Kind::Classes ? !std::ranges::all_of(others, isAlike)
                                              : std::ranges::none_of(others, isAlike);
}

/// The first lines of the columns that may be the target or inputs.
class FirstLines {
public:
    FirstLines(CsvFile& file, std::span<const size_t> columns) : m_columns(columns.size()) {
        constexpr size_t kLines = 1000;
        std::set<std::string, std::less<>> first;
        for (; m_lines < kLines && file.next(); ++m_lines) {
            first.emplace(file.text(columns.front()));
            for (size_t i = 0; i < columns.size(); ++i)
                m_columns[i].add(file, columns[i]);
        }
        m_numbersLines = first.size() == m_lines;
        FirstFields &front = m_columns.front(), &back = m_columns.back();
        // lines may be sorted by their class
        while ((front.values() <= 1 || back.values() <= 1) && file.next()) {
            front.add(file, columns.front());
            back.add(file, columns.back());
        }
    }

    /// Returns the column that has the classes, if it is not the last one.
    std::optional<size_t> labels(bool named) const {
        const FirstFields &first = m_columns.front(), &last = m_columns.back();
        if (last.values() <= 1 && first.values() > 1 && first.values() <= kFew) return 0;
        if (named) return std::nullopt;
        const size_t at = m_numbersLines ? 1 : 0; // behind an index
        const auto inputs = std::span(m_columns).subspan(at + 1);
        if (inputs.size() < 2) return std::nullopt;
        const auto isWords = [this](const FirstFields& each) {
            return each.kind(m_lines) == FirstFields::Kind::Words;
        };
        if (std::ranges::any_of(inputs, isWords)) return std::nullopt;
        const bool found = isWords(m_columns[at])
                               ? m_columns[at].repeats(m_lines) &&
                                     !standsOut(inputs.first(inputs.size() - 1), last, m_lines)
                               : at == 0 && first.kind(m_lines) == FirstFields::Kind::Classes &&
                                     last.kind(m_lines) != FirstFields::Kind::Classes;
        return found ? std::optional(at) : std::nullopt;
    }

private:
    std::vector<FirstFields> m_columns;
    size_t m_lines = 0;
    bool m_numbersLines = false; ///< no line has what another has in the first column
};

/// Returns the only column that the table for the test lacks, as those of competitions lack what is
/// to be found out; empty when there is no such column, or when it rather numbers the lines.
std::string columnToFindOut(const TaskConfig& task) {
    if (task.testPath.empty() || !task.header) return {};
    const std::vector<std::string> dropped = droppedColumns(task.drop);
    std::vector<std::string> lacking = columnNames(task);
    bool known = false; // the test seems to have its targets
    try {
        const std::vector<std::string> others = CsvFile(task.testPath, true).readHeader();
        known = std::ranges::any_of(others, namesTarget);
        std::erase_if(lacking, [&](const std::string& name) {
            return std::ranges::count(others, name) + std::ranges::count(dropped, name) > 0;
        });
    } catch (const InputError&) { // whoever reads it tells
        return {};
    }
    if (lacking.size() != 1 || !isPlainText(lacking[0]) || isUnnamed(lacking[0])) return {};
    const bool other = namesIndex(lacking[0]) || (known && !namesTarget(lacking[0]));
    return other ? std::string() : lacking[0];
}

} // namespace

std::string likelyTarget(const TaskConfig& task) {
    if (const std::string column = columnToFindOut(task); !column.empty()) return column;
    CsvFile file = tableOf(task);
    std::vector<size_t> usable;
    const CsvLayout layout = csvLayout(task, file);
    for (size_t i = 0; i < layout.columns.size(); ++i)
        if (layout.columns[i].use != ColumnUse::LeftOut) usable.push_back(i);
    const auto nameOf = [&](size_t i) -> const std::string& { return layout.columns[i].name; };
    if (namesTarget(nameOf(usable.back()))) return {};
    const auto named = [&](size_t i) { return namesTarget(nameOf(i)); };
    if (std::ranges::count_if(usable, named) == 1)
        return nameOf(*std::ranges::find_if(usable, named));
    const auto labels = FirstLines(file, usable).labels(task.header);
    return labels && isPlainText(nameOf(usable[*labels])) ? nameOf(usable[*labels]) : std::string();
}

bool beginsWithNumbers(const TaskConfig& task) {
    constexpr int kLines = 1000;
    std::set<double> numbers;
    bool whole = true;
    try {
        CsvFile file = tableOf(task);
        const CsvLayout layout = csvLayout(task, file);
        const auto target = static_cast<size_t>(
            std::ranges::find(layout.columns, ColumnUse::Target, &CsvColumn::use) -
            layout.columns.begin());
        for (int line = 0; line < kLines && file.next(); ++line) {
            if (file.lacks(target) || layout.drops(file, task.missing)) continue;
            const double number = numberOf(file.text(target), file.commas());
            if (!std::isfinite(number)) return false;
            whole = whole && number == std::trunc(number);
            numbers.insert(number);
        }
    } catch (const InputError&) { // whoever reads it tells
        return false;
    }
    return !numbers.empty() && (!whole || numbers.size() > kFew);
}

} // namespace halfscope
