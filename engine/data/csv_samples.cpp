// A table without words is read once. Any other is read three times: up to the first word, then to
// find out what the columns hold, unless that is known, then for the samples.
#include "engine/data/csv_samples.h"

#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/data/csv_classes.h"
#include "engine/data/csv_fields.h"
#include "engine/data/csv_refusals.h"
#include "engine/data/csv_seen.h"
#include "engine/data/held_back.h"
#include "engine/data/losses.h"
#include "engine/data/standardiser.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace halfscope {

namespace {

constexpr Phrase kNoLines =
    phrase("Data", "%1: no line of values follows the names of the columns");

/// Reads the samples of one file.
class CsvSamples {
public:
    /// `layout` describes the columns of the file.
    CsvSamples(const TaskConfig& task, CsvFile& file, CsvLayout layout)
        : m_task(task), m_file(file), m_classes(infoOf(task.loss.kind).ofLabels),
          m_path(task.path) {
        m_table.layout = std::move(layout);
    }

    /// Makes the only classes those of a table that was read before, with their numbers. The file
    /// read now is that at `path`.
    void takeClassesOf(const CsvTable& trained, const std::string& path) {
        m_trained = &trained;
        m_path = path;
        for (const std::string& name : trained.classes)
            m_indices.emplace(name, static_cast<int32_t>(m_indices.size()));
    }

    /// Where the layout has its words from.
    enum class Words : uint8_t { NotKnown, ThisFile, TrainingData };
    /// Returns nothing when a column of numbers holds a word and the words are not known yet.
    std::optional<CsvTable> read(Words words) {
        m_words = words;
        m_numbers.resize(m_table.layout.columns.size());
        m_leftOut.resize(m_table.layout.columns.size());
        m_firstFormatted.resize(m_table.layout.columns.size());
        while (m_file.next()) {
            if (m_file.isBlank() || m_table.layout.drops(m_file, m_task.missing) || lacksTruths()) {
                ++m_table.dropped;
                for (size_t i = 0; i < m_file.fields.size(); ++i)
                    seeMissing(i);
                const bool lost = m_file.isBlank() || m_table.layout.drops(m_file, Missing::Mean);
                m_table.keepable += lost ? 0 : 1;
                continue;
            }
            readSample();
            if (m_metWord) return std::nullopt;
        }
        m_table.layout.decimalComma = m_mark == ',';
        setHints();
        if (m_classes && !m_trained) {
            checkFinite();
            CsvClasses classes = sortClasses(m_indices, m_file.commas(), m_table.labels);
            m_table.classes = std::move(classes.names);
            m_table.wholeClasses = classes.whole;
            m_table.equalClasses = std::move(classes.equal);
        }
        return std::move(m_table);
    }

private:
    std::string_view text(size_t column) const { return m_file.text(column); }

    bool lacks(size_t column) const { return m_table.layout.lacks(m_file, column); }
    /// Keeps the word that stands for a missing value, if one does.
    void seeMissing(size_t i) {
        const bool used = m_table.layout.columns[i].use != ColumnUse::LeftOut;
        if (used && !text(i).empty() && lacks(i)) m_table.missingWords.emplace(text(i));
    }

    /// Returns the value of a column of truths. What a trained network meets there may be numbers.
    std::optional<float> truthAt(size_t i) const {
        if (const auto truth = truthOf(text(i)); truth || m_words != Words::TrainingData)
            return truth;
        const double number = numberOf(text(i), m_file.commas());
        if (number != 0 && number != 1) return std::nullopt;
        return static_cast<float>(number);
    }
    /// Counts the words that stand where a trained network knows only true and false. Returns
    /// whether the line lacks a value because of one.
    bool lacksTruths() {
        if (m_words != Words::TrainingData) return false;
        const int64_t before = m_table.untrue;
        for (size_t i = 0; i < m_file.fields.size(); ++i) {
            if (m_table.layout.columns[i].use != ColumnUse::Truth || lacks(i) || truthAt(i))
                continue;
            if (m_table.untrue++ == 0) m_table.firstUntrue = inColumn(i);
        }
        return m_table.untrue > before && m_task.missing != Missing::Mean;
    }

    void readSample() {
        const size_t row = m_table.x.size();
        m_table.x.resize(row + m_table.layout.inputs, 0.0);
        for (size_t i = 0; i < m_file.fields.size(); ++i) {
            const CsvColumn& column = m_table.layout.columns[i];
            const std::span<double> x(m_table.x.data() + row + column.input, column.inputs());
            switch (column.use) {
            case ColumnUse::LeftOut: seeLeftOut(i); break;
            case ColumnUse::Target:
                if (m_classes)
                    m_table.labels.push_back(classAt(i));
                else
                    m_numbers[i].add(m_table.numbers.emplace_back(targetAt(i)));
                m_hasTarget = m_hasTarget || !lacks(i);
                break;
            default: readInput(i, x);
            }
        }
        m_table.places.push_back(m_table.samples + m_table.dropped);
        ++m_table.samples;
    }

    void readInput(size_t i, std::span<double> x) {
        const CsvColumn& column = m_table.layout.columns[i];
        const auto truth = column.use == ColumnUse::Truth ? truthAt(i) : std::nullopt;
        const bool untrue = column.use == ColumnUse::Truth && !truth;
        if (m_task.missing == Missing::Mean && (lacks(i) || untrue)) {
            ++m_table.filled;
            m_table.filledWords = m_table.filledWords || column.use == ColumnUse::Words;
            seeMissing(i);
            std::fill(x.begin(), x.end(), double{NAN});
        } else if (column.use == ColumnUse::Number) {
            x[0] = numberAt(i);
            m_numbers[i].add(x[0]);
        } else if (column.use == ColumnUse::Truth) {
            if (!truth) refuseMissing(i, phrase("Data", "a word"));
            x[0] = double{*truth};
            m_numbers[i].add(x[0]);
        } else {
            seeFormatted(i);
            const auto& words = column.words;
            const auto found = std::lower_bound(words.begin(), words.end(), text(i));
            if (found != words.end() && *found == text(i))
                x[static_cast<size_t>(found - words.begin())] = 1;
            else
                takeUnknown(i);
        }
    }

    Message inColumn(size_t i) const {
        return {phrase("Data", "%1: %2 in the column %3"), m_file.place(),
                quotedText(m_file.fields[i]), quotedText(nameOf(i))};
    }

    void seeLeftOut(size_t i) {
        m_leftOut[i].add(m_file, i);
        CsvColumn& column = m_table.layout.columns[i];
        if (column.firstWord.empty() && m_leftOut[i].hasWords()) column.firstWord = inColumn(i);
        if (column.beyondFloat.empty() && m_leftOut[i].areBeyondFloat())
            column.beyondFloat = inColumn(i);
        if (m_leftOut[i].hasFormatted()) seeFormatted(i);
    }
    void seeFormatted(size_t i) {
        Message& first = m_firstFormatted[i];
        if (first.empty() && isUnreadNumber(text(i), m_file.commas())) first = inColumn(i);
    }

    /// Decides what users should know about the columns, when all lines were seen.
    void setHints() {
        for (size_t i = 0; i < m_table.layout.columns.size(); ++i) {
            CsvColumn& column = m_table.layout.columns[i];
            column.hint = hintFor(column, i);
            column.placeholder = m_numbers[i].placeholder();
            if (column.hint == ColumnHint::Formatted && m_table.formatted.empty())
                m_table.formatted = m_firstFormatted[i];
        }
    }
    ColumnHint hintFor(const CsvColumn& column, size_t i) const {
        constexpr int64_t kFew = 10; // that many words may be different by chance
        const bool several = m_table.samples > 1;
        const SeenFields& leftOut = m_leftOut[i];
        const auto words = static_cast<int64_t>(column.words.size());
        switch (column.use) {
        case ColumnUse::LeftOut:
            if (leftOut.hasNothing()) return ColumnHint::NoValue;
            if (leftOut.areDates()) return ColumnHint::Dates;
            if (leftOut.areMixed()) return ColumnHint::Mixed;
            if (leftOut.areBeyondFloat()) return ColumnHint::BeyondFloat;
            if (leftOut.areNumbers() && hasOtherMark(leftOut)) return ColumnHint::OtherMark;
            if (leftOut.areSomeFormatted()) return ColumnHint::Formatted;
            if (!leftOut.hasManyWords()) return ColumnHint::None;
            return leftOut.hasFormatted() ? ColumnHint::Formatted : ColumnHint::ManyWords;
        case ColumnUse::Number:
            if (several && m_numbers[i].areEqual()) return ColumnHint::OneValue;
            if (m_numbers[i].countLines(column.name)) return ColumnHint::NamesLines;
            break;
        case ColumnUse::Truth:
            if (several && m_numbers[i].areEqual()) return ColumnHint::OneValue;
            break;
        case ColumnUse::Words:
            if (!m_firstFormatted[i].empty()) return ColumnHint::Formatted;
            if (words > kFew && words == m_table.samples) return ColumnHint::NamesLines;
            if (several && words == 1) return ColumnHint::OneValue;
            break;
        default: break;
        }
        return ColumnHint::None;
    }

    /// Whether numbers have another decimal mark than those of the samples, or both.
    bool hasOtherMark(const SeenFields& seen) const {
        const bool commas = seen.hasMark(','), points = seen.hasMark('.');
        return (commas && (points || m_mark == '.')) || (points && m_mark == ',');
    }

    /// Leaves all inputs of a column at 0 for a word that the training data lack, as scikit-learn's
    /// OneHotEncoder(handle_unknown="ignore") and pandas' reindex() do.
    void takeUnknown(size_t i) {
        if (lacks(i)) refuseMissing(i, phrase("Data", "a word"));
        if (m_table.unknown.empty()) m_table.firstUnknown = inColumn(i);
        if (m_table.unknown.empty() || m_table.unknown.back() != m_table.samples)
            m_table.unknown.push_back(m_table.samples);
    }

    /// Throws `error`, or another one when no line has a target: to leave out such lines would
    /// leave none.
    [[noreturn]] void refuse(const InputError& error, size_t column) {
        if (m_table.layout.columns[column].use != ColumnUse::Target || m_hasTarget) throw error;
        while (m_file.next())
            if (!lacks(column)) throw error;
        throw InputError(phrase("Data", "%1: no line has a value in the column %2, which is to be "
                                        "predicted; set data.target to another column"),
                         pathText(m_path), quotedText(nameOf(column)));
    }
    [[noreturn]] void refuseMissing(size_t i, Phrase allowed) {
        refuse(InputError(phrase("Data", "%1: %2 in the column %3 is not allowed: %4; to allow "
                                         "missing values, set data.missing to drop or mean"),
                          m_file.place(), quotedText(m_file.fields[i]), quotedText(nameOf(i)),
                          allowed),
               i);
    }
    const std::string& nameOf(size_t column) const { return m_table.layout.columns[column].name; }

    /// Refuses points and decimal commas in one table with semicolons or tabs, because 1.234 means
    /// one number where commas are decimal and another one where points are.
    void checkMark(char mark, size_t column) {
        if (mark == 0 || mark == m_mark) return;
        if (m_mark != 0)
            throw InputError(
                mark == '.' ? phrase("Data", "%1: %2 in the column %3 has a point, and numbers "
                                             "before it have decimal commas; one of the two is "
                                             "allowed")
                            : phrase("Data", "%1: %2 in the column %3 has a decimal comma, and "
                                             "numbers before it have points; one of the two is "
                                             "allowed"),
                m_file.place(), quotedText(m_file.fields[column]), quotedText(nameOf(column)));
        m_mark = mark;
    }

    double numberAt(size_t column) {
        const NumberText number(text(column), m_file.commas());
        double value = 0;
        const std::errc code = number.read(value);
        const bool finite = code == std::errc{} && std::isfinite(value);
        if (finite && std::abs(value) < kFloatEnds) {
            checkMark(number.mark, column);
            return value;
        }
        if (code == std::errc::result_out_of_range) {
            long double wide = 0; // 1e-400 is no double
            const bool small = number.read(wide) == std::errc{} && std::abs(wide) < 1;
            if (small) return static_cast<double>(wide); // too small, not too large
        }
        if (lacks(column)) refuseMissing(column, phrase("Data", "a finite number"));
        const bool input = m_table.layout.columns[column].use == ColumnUse::Number;
        if (!input && mayBeGap(column)) return 0;
        if (isUnreadNumber(text(column), m_file.commas()) && !(input && m_words == Words::NotKnown))
            throw unreadNumber(m_file, column, nameOf(column));
        if (code == std::errc::invalid_argument && input && m_words == Words::NotKnown) {
            m_metWord = true;
            return 0;
        }
        if (code == std::errc::invalid_argument && input && m_words == Words::ThisFile)
            throw InputError(phrase("Data", "%1: %2 in the column %3 is not allowed: a finite "
                                            "number, as other lines have there; data.drop leaves "
                                            "columns out"),
                             m_file.place(), quotedText(m_file.fields[column]),
                             quotedText(nameOf(column)));
        const bool word = code == std::errc::invalid_argument;
        throw InputError(
            finite || code == std::errc::result_out_of_range
                ? phrase("Data", "%1: %2 in the column %3 is not allowed: a number "
                                 "that float32 holds, at most 3.4e+38")
            : word && !input
                ? phrase("Data", "%1: %2 in the column %3 is not allowed: a finite number; with "
                                 "task.loss cross-entropy, each word is a class")
                : phrase("Data", "%1: %2 in the column %3 is not allowed: a finite number"),
            m_file.place(), quotedText(m_file.fields[column]), quotedText(nameOf(column)));
    }

    /// Whether a word of the target may stand for a missing value. All lines have to be seen then.
    bool mayBeGap(size_t column) {
        const bool may = m_words == Words::NotKnown && isGapWord(text(column));
        m_metWord = m_metWord || may;
        return may;
    }

    /// Returns the target of the line. With the loss that takes 0 to 1, it may be a truth.
    double targetAt(size_t column) {
        const LossInfo& loss = infoOf(m_task.loss.kind);
        if (const auto truth = loss.ofShares ? truthOf(text(column)) : std::nullopt)
            return double{*truth};
        const double value = numberAt(column);
        if (loss.ofShares && (value < 0 || value > 1))
            throw InputError(phrase("Data", "%1: %2 in the column %3 is not allowed: 0 to 1, as "
                                            "the loss %4 takes"),
                             m_file.place(), quotedText(m_file.fields[column]),
                             quotedText(nameOf(column)), loss.name);
        return value;
    }

    /// Throws InputError when all classes are numbers, of which one is inf: it is no word that
    /// makes classes of the others.
    void checkFinite() const {
        const auto isNumber = [this](const auto& each) {
            return isMissing(each.first) || NumberText(each.first, m_file.commas()).isNumber();
        };
        if (!m_firstInfinite.empty() && std::ranges::all_of(m_indices, isNumber))
            throw InputError(phrase("Data", "%1 is not allowed: a finite number"), m_firstInfinite);
    }

    int32_t classAt(size_t column) {
        if (text(column).empty())
            refuse(InputError(phrase("Data", "%1: the column %2 is empty; it must name a class; "
                                             "data.missing drop would leave such lines out"),
                              m_file.place(), quotedText(nameOf(column))),
                   column);
        if (m_trained) return trainedClassAt(column);
        if (m_task.missing != Missing::Refuse && mayBeGap(column)) return 0;
        const auto [at, added] = m_indices.try_emplace(std::string(text(column)),
                                                       static_cast<int32_t>(m_indices.size()));
        if (added && m_indices.size() > kMostClasses)
            throw InputError(phrase("Data",
                                    "%1: more than %2 classes in the column %3; with a loss "
                                    "for numbers, such as mse, it is one number a sample"),
                             m_file.place(), kMostClasses, quotedText(nameOf(column)));
        if (added && m_firstInfinite.empty() && std::isinf(numberOf(text(column), m_file.commas())))
            m_firstInfinite = inColumn(column);
        return at->second;
    }

    int32_t trainedClassAt(size_t column) {
        const std::string name(text(column));
        auto found = m_indices.find(name);
        if (found == m_indices.end()) {
            found = std::ranges::find_if(m_indices, [&](const auto& each) {
                return isSameClass(name, each.first, m_file.commas());
            });
            if (found != m_indices.end()) found = m_indices.emplace(name, found->second).first;
        }
        if (found == m_indices.end()) {
            const std::string nearest = nearestOf(name, m_trained->classes);
            constexpr size_t kLongest = 100; // longer names take long to compare
            const bool near = name.size() <= kLongest && isNear(name, nearest);
            throw InputError(phrase("Data", "%1: the class %2 in the column %3 is not among those "
                                            "to train on, in %4%5"),
                             m_file.place(), quotedText(name), quotedText(nameOf(column)),
                             pathText(m_task.path),
                             near ? Message(kNearest, nearest)
                                  : Message(phrase("Data", "; there are: %1"),
                                            someOf(m_trained->classes))); // of perhaps many
        }
        return found->second;
    }

    const TaskConfig& m_task;
    CsvFile& m_file;
    bool m_classes;
    std::string m_path;
    const CsvTable* m_trained = nullptr; ///< the table whose classes are the only ones
    Words m_words = Words::NotKnown;
    bool m_metWord = false;
    char m_mark = 0; ///< of the numbers so far, where commas may be decimal
    std::map<std::string, int32_t> m_indices; ///< of the classes, as they first appear
    Message m_firstInfinite;                  ///< the first class that is inf, see inColumn()
    bool m_hasTarget = false;                 ///< a line so far has one
    CsvTable m_table;
    std::vector<SeenNumbers> m_numbers;    ///< by column; of inputs
    std::vector<SeenFields> m_leftOut;     ///< by column
    std::vector<Message> m_firstFormatted; ///< by column
};

/// Which columns of another table are read.
enum class Wanted : uint8_t { Inputs, TargetToo };

/// Returns the columns of another table, at `path`: those with the names of `like` are what they
/// are there, and all others are left out.
CsvLayout layoutLike(const CsvLayout& like, CsvFile& file, const std::string& path,
                     Wanted wantedColumns) {
    const std::vector<std::string> names = file.readHeader();
    if (like.commas && mayTakeCommas(file.separator(), like.separator)) file.takeCommas();
    CsvLayout layout{.separator = file.separator(), .commas = file.commas(), .inputs = like.inputs};
    for (const std::string& name : names)
        layout.columns.push_back({name, ColumnUse::LeftOut});
    std::multimap<std::string_view, size_t> places; // several columns may have no name
    for (size_t i = 0; i < names.size(); ++i)
        places.emplace(names[i], i);
    for (const CsvColumn& wanted : like.columns) {
        const bool target = wanted.use == ColumnUse::Target && wantedColumns == Wanted::TargetToo;
        if (wanted.inputs() == 0 && !target) continue;
        const auto found = places.lower_bound(wanted.name);
        if (found == places.end() || found->first != wanted.name)
            throw InputError(target ? phrase("Data", "%1: there is no column %2, which is to be "
                                                     "predicted%3")
                                    : phrase("Data", "%1: there is no column %2, which the network "
                                                     "was trained on%3"),
                             pathText(path), quotedText(wanted.name),
                             nearestHint(wanted.name, names));
        CsvColumn& column = layout.columns[found->second] = wanted;
        column.gaps = column.gaps || column.use == ColumnUse::Number;
        places.erase(found);
    }
    return layout;
}

/// Returns the columns of another table, at `path`, whose targets are known.
CsvLayout judgedLayout(const TaskConfig& task, CsvFile& file, const std::string& path,
                       const CsvLayout& trained) {
    CsvLayout layout = layoutLike(trained, file, path, Wanted::TargetToo);
    if (!infoOf(task.loss.kind).ofLabels)
        for (CsvColumn& column : layout.columns)
            if (column.use == ColumnUse::Target) column.gaps = true;
    if (!task.header && layout.columns.size() != trained.columns.size())
        throw InputError(phrase("Data", "%1: %2 columns do not fit the %3 of %4: without names in "
                                        "the first line, columns are told by their places"),
                         pathText(path), layout.columns.size(), trained.columns.size(),
                         pathText(task.path));
    return layout;
}

constexpr Phrase kUntrue = phrase("Data", "%1 is not allowed: true, false, yes, no, 1 or 0, as the "
                                          "training data have it there");

constexpr Phrase kLineDropped =
    phrase("Data", "%1 of %2 lines lacks a value and is left out. To keep it, set data.missing to "
                   "mean.");
constexpr Phrase kLinesDropped =
    phrase("Data", "%1 of %2 lines lack a value and are left out. To keep them, set data.missing "
                   "to mean.");
constexpr Phrase kSomeWithTarget =
    phrase("Data", "%1 of %2 lines lack a value and are left out. To keep those that have a "
                   "target, set data.missing to mean.");
constexpr Phrase kLineWithoutTarget =
    phrase("Data", "%1 of %2 lines lacks its target and is left out.");
constexpr Phrase kLinesWithoutTarget =
    phrase("Data", "%1 of %2 lines lack their target and are left out.");

CsvTable readSamples(const TaskConfig& task) {
    CsvFile file = tableOf(task);
    CsvLayout layout = csvLayout(task, file);
    if (auto table = CsvSamples(task, file, layout).read(CsvSamples::Words::NotKnown))
        return *std::move(table);
    useWords(task, layout);
    CsvFile again = tableOf(task);
    if (again.readHeader().size() != layout.columns.size())
        throw InputError(phrase("Data", "%1: the file changed while it was read"),
                         pathText(task.path));
    return *CsvSamples(task, again, layout).read(CsvSamples::Words::ThisFile);
}

} // namespace

Message droppedNote(const CsvTable& table) {
    const bool one = table.dropped == 1;
    const int64_t lines = table.dropped + table.samples;
    const Phrase form = table.keepable == 0 ? one ? kLineWithoutTarget : kLinesWithoutTarget
                        : table.keepable < table.dropped ? kSomeWithTarget
                        : one                            ? kLineDropped
                                                         : kLinesDropped;
    return {form, table.dropped, lines};
}

bool isDroppedNote(const Message& note) {
    constexpr std::array kDroppedForms{kLineDropped, kLinesDropped, kSomeWithTarget,
                                       kLineWithoutTarget, kLinesWithoutTarget};
    return std::ranges::find(kDroppedForms, note.format()) != kDroppedForms.end();
}

Message filledNote(const CsvTable& table) {
    return {table.filledWords
                ? phrase("Data", "%1 missing values are replaced by the mean of their column over "
                                 "the training samples; where a word is missing, each word's "
                                 "input gets its share among the words that are there.")
                : phrase("Data", "%1 missing values are replaced by the mean of their column over "
                                 "the training samples."),
            table.filled};
}

CsvTable readCsvTable(const TaskConfig& task) {
    if (task.path.empty())
        throw InputError(phrase("Data", "data.path: missing; it must be a csv file"));
    CsvTable table = readSamples(task);
    if (table.dropped > 0 && table.samples == 0)
        throw InputError(task.missing == Missing::Mean
                             ? phrase("Data", "%1: every line lacks its target, so "
                                              "data.missing %2 leaves no samples")
                             : phrase("Data", "%1: every line lacks a value, so data.missing "
                                              "%2 leaves no samples"),
                         pathText(task.path), nameOf(task.missing));
    if (table.samples == 0) throw InputError(kNoLines, pathText(task.path));
    checkSampleCount(pathText(task.path), table.samples);
    return table;
}

void checkNewColumns(const TaskConfig& task) {
    CsvFile trained = tableOf(task), file = predictedTableOf(task);
    layoutLike(csvLayout(task, trained), file, task.predictFile, Wanted::Inputs);
}

void checkColumnsLike(const TaskConfig& task, const std::string& path, const CsvLayout& trained) {
    CsvFile file(path, task.header);
    judgedLayout(task, file, path, trained);
}

CsvTable readCsvLike(const TaskConfig& task, const std::string& path, const CsvTable& trained) {
    CsvFile file(path, task.header);
    CsvLayout layout = judgedLayout(task, file, path, trained.layout);
    CsvSamples samples(task, file, std::move(layout));
    samples.takeClassesOf(trained, path);
    CsvTable table = *samples.read(CsvSamples::Words::TrainingData);
    if (table.untrue > 0) throw InputError(kUntrue, table.firstUntrue);
    if (table.samples == 0)
        throw InputError(table.dropped == 0 ? kNoLines
                         : task.missing == Missing::Mean
                             ? phrase("Data", "%1: every line lacks its target, so data.missing "
                                              "%2 leaves no samples")
                             : phrase("Data", "%1: every line lacks a value, so data.missing %2 "
                                              "leaves no samples"),
                         pathText(path), nameOf(task.missing));
    checkSampleCount(pathText(path), table.samples);
    return table;
}

CsvTable readCsvInputs(const TaskConfig& task, const CsvLayout& like) {
    CsvFile file = predictedTableOf(task);
    CsvLayout layout = layoutLike(like, file, task.predictFile, Wanted::Inputs);
    TaskConfig inputs = task;
    inputs.loss.kind = LossKind::Mse; // so that no classes are sorted
    // a network that is trained must not be trained again for a gap in another table
    if (inputs.missing == Missing::Refuse) inputs.missing = Missing::Drop;
    CsvTable table =
        *CsvSamples(inputs, file, std::move(layout)).read(CsvSamples::Words::TrainingData);
    if (table.samples == 0 && table.untrue > 0) throw InputError(kUntrue, table.firstUntrue);
    if (table.samples == 0)
        throw InputError(table.dropped > 0
                             ? phrase("Data", "%1: every line lacks a value, so none is predicted")
                             : kNoLines,
                         pathText(task.predictFile));
    checkSampleCount(pathText(task.predictFile), table.samples);
    return table;
}

} // namespace halfscope
