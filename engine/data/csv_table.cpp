// A csv table: a line of column names, then a sample a line. One column is the target, all others
// are inputs.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/data/class_counts.h"
#include "engine/data/class_sides.h"
#include "engine/data/csv_classes.h"
#include "engine/data/csv_fields.h"
#include "engine/data/csv_header.h"
#include "engine/data/csv_python.h"
#include "engine/data/csv_samples.h"
#include "engine/data/input_scale.h"
#include "engine/data/losses.h"
#include "engine/data/outliers.h"
#include "engine/data/own_files.h"
#include "engine/data/stored_data.h"
#include "engine/data/target_scale.h"
#include "engine/data/targets.h"
#include "engine/data/text_table.h"
#include "engine/data/window_overlap.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

namespace halfscope {

namespace {

class CsvData final : public StoredData {
public:
    explicit CsvData(const TaskConfig& task)
        : m_table(readCsvTable(task)), m_inputs(m_table.layout.inputs),
          m_notes(columnNotes(m_table.layout, m_table.formatted, task)) {
        m_splits = validatesOwn(task) ? HeldBack(m_table.samples, 0)
                                      : HeldBack(m_table.samples, task, m_table.labels);
        m_numbers = std::move(m_table.places);
        m_tensors = {TensorSpec{"x", {static_cast<int64_t>(m_inputs)}}, TensorSpec{"target", {1}}};
        if (!m_table.labels.empty()) {
            const auto classes = static_cast<int64_t>(m_table.classes.size());
            m_tensors[kTarget] = {"target", {}, DType::I32, classes, m_table.wholeClasses};
        }
        m_sides = infoOf(task.loss.kind).ofShares;
        noteTarget();
        scaleTarget(task);
        noteEncoding(task);
        noteDropped();
        noteFilled();
        noteMissingWords();
        noteHeldBack(task);
        if (!task.predictFile.empty()) {
            setView();
            addPredicted(task);
        } else {
            addOwn(task);
            setView();
        }
        if (m_table.filled > 0) fill(task.path);
        noteOutliers(task);
        takeInputs(task);
    }

    bool usesSeed() const override { return false; }
    std::vector<Message> notes() const override { return m_notes; }
    std::vector<std::string> inputNames() const override { return m_table.layout.inputNames(); }
    int64_t ownTest() const override { return m_tested; }

private:
    void readStored(int32_t stored, int64_t, const SamplePlace& place) const override {
        const auto row = static_cast<size_t>(stored);
        std::copy_n(m_x.begin() + static_cast<std::ptrdiff_t>(row * m_inputs), m_inputs,
                    place.floats(kX).begin());
        if (m_table.labels.empty())
            place.floats(kTarget)[0] = m_targets[row];
        else
            place.label() = m_table.labels[row];
    }

    /// Appends the samples of task.predictFile behind those of the table; from then on, only they
    /// are judged. Their targets are unknown, so any values will do.
    void addPredicted(const TaskConfig& task) {
        const CsvTable more = readCsvInputs(task, m_table.layout);
        const int64_t first = m_table.samples;
        m_table.samples += more.samples;
        checkSampleCount(pathText(task.predictFile), m_table.samples);
        m_table.x.insert(m_table.x.end(), more.x.begin(), more.x.end());
        const auto all = static_cast<size_t>(m_table.samples);
        if (m_table.labels.empty())
            m_targets.resize(all, 0.0f);
        else
            m_table.labels.resize(all, 0);
        m_numbers.insert(m_numbers.end(), more.places.begin(), more.places.end());
        m_table.filled += more.filled;
        noteUnknown(more);
        if (more.untrue > 0)
            m_notes.push_back({phrase("Data", "Words where the training data have only true and "
                                              "false count as missing values: %1, the first in "
                                              "%2."),
                               more.untrue, more.firstUntrue});
        noteFilledIn(task.predictFile, more);
        if (more.dropped > 0)
            m_notes.push_back(
                {more.dropped == 1
                     ? phrase("Data", "%1: %2 of %3 lines lacks a value and is not predicted.")
                     : phrase("Data", "%1: %2 of %3 lines lack a value and are not predicted."),
                 pathText(task.predictFile), more.dropped, more.dropped + more.samples});
        if (more.dropped > 0 && task.missing != Missing::Mean)
            m_notes.push_back(phrase("Data", "A run with data.missing set to mean also predicts "
                                             "lines that have some of the values."));
        judgeFrom(first);
    }

    /// Appends the samples of tables of their own: those to validate on, then those of the test.
    void addOwn(const TaskConfig& task) {
        checkOwnFiles(task);
        if (validatesOwn(task)) {
            const int64_t samples =
                append(task.validationPath, readCsvLike(task, task.validationPath, m_table));
            m_notes.push_back(
                ownValidationNote(samples, Message::data(pathText(task.validationPath))));
        }
        noteSides(task);
        if (!testsOwn(task)) return noteUnfitTest(task);
        m_tested = append(task.testPath, readCsvLike(task, task.testPath, m_table));
        m_notes.push_back(ownTestNote(m_tested, Message::data(pathText(task.testPath))));
    }
    /// Returns how many samples there are in the table, which are judged.
    int64_t append(const std::string& path, CsvTable more) {
        const auto first = static_cast<int32_t>(m_table.samples);
        m_table.samples += more.samples;
        checkSampleCount(pathText(path), m_table.samples);
        m_table.x.insert(m_table.x.end(), more.x.begin(), more.x.end());
        addTargets(more.numbers);
        m_table.labels.insert(m_table.labels.end(), more.labels.begin(), more.labels.end());
        m_numbers.insert(m_numbers.end(), more.places.begin(), more.places.end());
        m_table.filled += more.filled;
        for (int64_t i = 0; i < more.samples; ++i)
            m_splits.validation.push_back(first + static_cast<int32_t>(i));
        noteUnknown(more);
        noteFilledIn(path, more);
        if (more.dropped > 0) m_notes.push_back(within(pathText(path), droppedNote(more)));
        return more.samples;
    }
    /// Tells that a table called as that of the test is none, which lies beside the one to train
    /// on, and why, if its columns tell. Its lines, which may be many, are read when it is used.
    void noteUnfitTest(const TaskConfig& task) {
        const std::string path = testBeside(task.path);
        if (path.empty() || (!task.validationPath.empty() && isSameFile(path, task.validationPath)))
            return;
        try {
            checkColumnsLike(task, path, m_table.layout);
            m_notes.push_back({phrase("Data", "The table %1 is not used for a test. To use it, set "
                                              "data.test_path to it."),
                               pathText(path)});
        } catch (const InputError& error) {
            m_notes.push_back(
                {phrase("Data", "The table for a test is left out. %1."), error.message()});
        }
    }
    void noteUnknown(const CsvTable& more) {
        if (!more.unknown.empty())
            m_notes.push_back({phrase("Data", "Samples with words that the training data lack: %1 "
                                              "of %2, the first in %3. Such a column counts as "
                                              "none of its words."),
                               more.unknown.size(), more.samples, more.firstUnknown});
    }
    void noteFilledIn(const std::string& path, const CsvTable& more) {
        if (more.filled > 0) m_notes.push_back(within(pathText(path), filledNote(more)));
    }

    std::string targetsName() const {
        const auto& columns = m_table.layout.columns;
        const auto target = std::ranges::find(columns, ColumnUse::Target, &CsvColumn::use);
        return pathText(target->name);
    }
    Message classesNote(size_t classes) const {
        return {phrase("Data", "The column %1 is predicted, as one of %2 classes."), targetsName(),
                classes};
    }
    /// Puts first what the network learns: which column was chosen, and as what, is seen nowhere
    /// else.
    void noteTarget() {
        const std::string name = targetsName();
        const auto& numbers = m_table.numbers;
        const bool same = m_table.labels.empty()
                              ? std::equal(numbers.begin() + 1, numbers.end(), numbers.begin())
                              : m_table.classes.size() == 1;
        Message note{phrase("Data", "The column %1 is predicted, as a number."), name};
        if (!m_table.labels.empty()) note = classesNote(m_table.classes.size());
        if (same)
            note = {phrase("Data", "The column %1 is predicted, which has one value in all lines: "
                                   "there is nothing to learn."),
                    name};
        m_notes.insert(m_notes.begin(), std::move(note));
        if (const auto doubt = doubtfulClasses(name)) m_notes.insert(m_notes.begin() + 1, *doubt);
        if (!m_table.equalClasses.empty())
            m_notes.insert(m_notes.begin() + 1,
                           Message(phrase("Data", "Classes that are equal as numbers are one, "
                                                  "such as %1."),
                                   m_table.equalClasses));
        if (const Message alike = alikeButForCapitals(m_table.classes); !alike.empty())
            m_notes.insert( // no list of two messages
                m_notes.begin() + 1,
                Message(phrase("Data", "Words that differ only in capitals, such as %1, are "
                                       "classes of their own. If they mean the same, write "
                                       "them alike."),
                        alike));
    }
    /// Returns what is odd about classes: a few words among numbers, which may be mistakes, or
    /// nearly as many classes as lines.
    std::optional<Message> doubtfulClasses(const std::string& column) const {
        constexpr size_t kFewWords = 10, kFewLines = 5; // words in a tenth; lines of each class
        const std::vector<std::string>& classes = m_table.classes;
        const auto isWord = [&](int32_t label) {
            const std::string& name = classes[static_cast<size_t>(label)];
            return std::isnan(numberOf(name, false)) && std::isnan(numberOf(name, true));
        };
        const auto& labels = m_table.labels;
        const auto first = std::ranges::find_if(labels, isWord);
        const auto words = static_cast<size_t>(std::ranges::count_if(labels, isWord));
        if (words > 0 && words * kFewWords < labels.size())
            return Message{phrase("Data", "%1 is classes, not numbers, because of words such as "
                                          "%2, in %3 of %4 lines. If they are mistakes, correct "
                                          "them or leave these lines empty there."),
                           column, quotedText(classes[static_cast<size_t>(*first)]), words,
                           labels.size()};
        if (classes.size() * kFewLines > labels.size() && classes.size() > 2 * kFewWords)
            return Message{phrase("Data", "That is one class for every %1 lines or fewer, too few "
                                          "to learn from. Is %2 the column to predict?"),
                           kFewLines, column};
        return std::nullopt;
    }
    /// Texts of an older encoding match no others, such as those of a table in UTF-8 whose samples
    /// are predicted later.
    void noteEncoding(const TaskConfig& task) {
        std::vector<std::string> texts = m_table.classes;
        for (const CsvColumn& column : m_table.layout.columns) {
            texts.push_back(column.name);
            texts.insert(texts.end(), column.words.begin(), column.words.end());
        }
        const auto odd = std::ranges::find_if_not(
            texts, [](const std::string& text) { return isPlainText(onOneLine(text)); });
        if (odd != texts.end())
            m_notes.push_back({phrase("Data", "%1 is not text in UTF-8: letters such as those of "
                                              "%2 are shown as codes. Save it as UTF-8."),
                               pathText(task.path), quotedText(*odd)});
    }
    /// Takes the targets, standardised where the settings ask for it, and tells how they are
    /// spread.
    void scaleTarget(const TaskConfig& task) {
        if (takesAnyNumbers(infoOf(task.loss.kind))) {
            const auto scale = Standardiser::of(
                {1}, m_splits.train, [this](int32_t row, std::span<double> values) {
                    values[0] = m_table.numbers[static_cast<size_t>(row)];
                });
            if (const auto note = targetScaleNote(scale, task))
                m_notes.insert(m_notes.begin() + 1, *note); // behind the target's own
            if (standardisesTarget(task)) {
                m_targetScale = scale;
                findFarTarget();
            }
        }
        addTargets(m_table.numbers);
        m_table.numbers = std::vector<double>(); // gives its memory back
    }
    /// Looks for it before the targets are standardised: the others are equal as float32 then.
    void findFarTarget() {
        std::vector<double> values;
        for (const int32_t row : m_splits.train)
            values.push_back(m_table.numbers[static_cast<size_t>(row)]);
        const std::vector<size_t> far = outliersOf(values);
        if (!far.empty()) m_farTarget = m_splits.train[far.front()];
    }
    void addTargets(const std::vector<double>& numbers) {
        const size_t first = m_targets.size();
        m_targets.resize(first + numbers.size());
        m_targetScale.standardise(numbers, std::span(m_targets).subspan(first));
        m_sides =
            m_sides && std::ranges::all_of(numbers, [](double y) { return y == 0 || y == 1; });
    }
    void noteDropped() {
        if (m_table.dropped > 0) m_notes.push_back(droppedNote(m_table));
    }
    void noteHeldBack(const TaskConfig& task) {
        if (validatesOwn(task)) return;
        if (auto note = heldBackNote(m_table.samples, task)) m_notes.push_back(*std::move(note));
        if (task.held != Held::Random || m_splits.validation.empty()) return;
        const int64_t overlap = overlapOf(
            m_table.samples, static_cast<int64_t>(m_inputs),
            [this](int64_t row, std::span<float> values) {
                const std::span<const double> x(&at(static_cast<int32_t>(row), 0), m_inputs);
                std::ranges::transform(x, values.begin(),
                                       [](double each) { return static_cast<float>(each); });
            });
        if (overlap > 0) m_notes.push_back(overlapNote(overlap));
    }
    void noteSides(const TaskConfig& task) {
        if (m_table.labels.empty() && !m_sides) return;
        const auto labels = m_sides ? sidesOf(m_targets) : m_table.labels;
        const auto classes = m_sides ? std::vector<std::string>{"0", "1"} : m_table.classes;
        const ClassSides sides(m_splits, labels, classes.size());
        std::ranges::move(notesOn(sides, classes, task), std::back_inserter(m_notes));
    }
    void noteFilled() {
        if (m_table.filled > 0) m_notes.push_back(filledNote(m_table));
    }

    void noteMissingWords() {
        std::vector<std::string> words;
        for (const std::string& word : m_table.missingWords)
            words.push_back(quotedText(word));
        if (!words.empty())
            m_notes.push_back({phrase("Data", "Taken for missing values: %1."), someOf(words)});
    }

    /// The range is that of the targets that are shown: a test's own are no part of it.
    void setView() {
        if (m_sides) {
            if (std::ranges::adjacent_find(m_targets, std::not_equal_to<>()) != m_targets.end())
                m_notes.front() = classesNote(2);
            m_view = classesView(2);
            return;
        }
        if (!m_table.labels.empty()) {
            m_view = classesView(m_tensors[kTarget].classes, m_table.classes);
            return;
        }
        const auto [least, most] =
            std::minmax_element(m_targets.begin(), m_targets.end() - std::ptrdiff_t{m_tested});
        m_view = scatterView(double{*least}, double{*most}, m_targetScale);
    }

    double& at(int32_t row, size_t column) {
        return m_table.x[static_cast<size_t>(row) * m_inputs + column];
    }

    /// Replaces missing values with the mean of those that their column has to train on.
    void fill(const std::string& path) {
        for (size_t column = 0; column < m_inputs; ++column) {
            double sum = 0, least = INFINITY, most = -INFINITY;
            int64_t count = 0;
            for (const int32_t row : m_splits.train) {
                const double value = at(row, column);
                if (std::isnan(value)) continue;
                sum += value;
                least = std::min(least, value);
                most = std::max(most, value);
                ++count;
            }
            if (count == 0)
                throw InputError(phrase("Data", "%1: the column %2 has no value among the training "
                                                "samples, so there is no mean to fill it with"),
                                 pathText(path), quotedText(m_table.layout.inputNames()[column]));
            // the sum is rounded, and values that are all equal must stay so
            const double mean = std::clamp(sum / static_cast<double>(count), least, most);
            for (const auto* rows : {&m_splits.train, &m_splits.validation})
                for (const int32_t row : *rows)
                    if (std::isnan(at(row, column))) at(row, column) = mean;
        }
    }

    /// Names the columns that standardising makes useless, because a value or two are far from all
    /// others: a slip of the pen, most likely.
    void noteOutliers(const TaskConfig& task) {
        std::vector<std::string> names;
        Message first;
        std::vector<double> values(m_splits.train.size());
        const std::vector<CsvColumn>& columns = m_table.layout.columns;
        const auto tell = [&](size_t column, int32_t row) {
            names.push_back(columns[column].name);
            if (first.empty()) first = lineOf(task, row, column);
        };
        for (size_t i = 0; i < columns.size(); ++i) {
            if (columns[i].placeholder) continue;
            if (columns[i].use == ColumnUse::Target && m_farTarget) tell(i, *m_farTarget);
            if (columns[i].use != ColumnUse::Number || !task.standardise) continue;
            checkCancelled();
            std::ranges::transform(m_splits.train, values.begin(),
                                   [&](int32_t row) { return at(row, columns[i].input); });
            const std::vector<size_t> far = outliersOf(values);
            if (!far.empty()) tell(i, m_splits.train[far.front()]);
        }
        if (!names.empty())
            m_notes.push_back({phrase("Data", "Columns have one to three values so far from all "
                                              "others that standardising makes the others nearly "
                                              "equal: %1. The first is in %2. Correct such values, "
                                              "or leave their lines out."),
                               someOf(names), first});
    }
    /// Returns where a stored sample has its value of a column. The file is read once more for it:
    /// samples do not know their lines.
    Message lineOf(const TaskConfig& task, int32_t row, size_t column) const {
        CsvFile file = tableOf(task);
        file.readHeader();
        for (int64_t left = m_numbers[static_cast<size_t>(row)]; file.next(); --left)
            if (left == 0 && column < file.fields.size())
                return {phrase("Data", "%1: %2 in the column %3"), file.place(),
                        quotedText(file.text(column)),
                        quotedText(m_table.layout.columns[column].name)};
        throw InputError(phrase("Data", "%1: the file changed while it was read"),
                         pathText(task.path));
    }

    /// Notes inputs that the types of lanes do not hold as they are.
    void noteUnscaled(const Standardiser& scale, const TaskConfig& task) {
        const std::vector<std::string> names = inputNames();
        if (auto note = roundedInputsNote(scale, names, "data.standardise"))
            m_notes.push_back(*std::move(note));
        const auto largest =
            std::ranges::max_element(m_table.x, {}, [](double x) { return std::abs(x); });
        if (largest == m_table.x.end()) return;
        const size_t column = static_cast<size_t>(largest - m_table.x.begin()) % m_inputs;
        if (auto note = beyondHalfNote(quotedText(names[column]),
                                       static_cast<float>(std::abs(*largest)), task))
            m_notes.push_back(*std::move(note));
    }

    /// Takes the inputs, standardised where the settings ask for it.
    void takeInputs(const TaskConfig& task) {
        Standardiser scale =
            Standardiser::of({static_cast<int64_t>(m_inputs)}, m_splits.train,
                             [this](int32_t row, std::span<double> values) {
                                 std::copy_n(&at(row, 0), m_inputs, values.begin());
                             });
        if (task.standardise)
            m_inputScale = std::move(scale);
        else
            noteUnscaled(scale, task);
        m_x.resize(m_table.x.size());
        m_inputScale.standardise(m_table.x, m_x);
        m_table.x = std::vector<double>(); // gives its memory back
    }

    CsvTable m_table; ///< without its numbers, once they are taken
    std::vector<float> m_x, m_targets;
    size_t m_inputs;                    ///< of a sample
    int64_t m_tested = 0;               ///< samples of the test's own table, the last ones
    std::optional<int32_t> m_farTarget; ///< where a target is far from all others
    std::vector<Message> m_notes;
};

/// Reads the whole table, which the facts need.
DataFacts csvFacts(const TaskConfig& task) { return CsvData(task).facts(); }

} // namespace

extern const DataSetInfo kCsvData;
const DataSetInfo kCsvData{
    .name = "csv",
    .title = phrase("Settings", "Table"),
    .about = phrase("Settings", "a table, one column of which is the target"),
    .settings = {"data.path", "data.validation_path", "data.test_path", "data.header",
                 "data.target", "data.drop", "data.missing", "data.standardise",
                 "data.standardise_target", "data.validation", "data.held_back", "data.gap",
                 "data.stratify"},
    .targets = Targets::AsTheLoss,
    .validates = true,
    .fromFiles = true,
    .opens =
        [](const std::string& path, TaskConfig& task) {
            if (!findTables(path, task)) {
                if (!namesTable(path) && !isUnicodeTable(path)) return false;
                task.path = path;
            }
            task.header = namesColumns(task.path);
            return !textColumnsOf(task.path, task.header);
        },
    .facts = csvFacts,
    .make = [](const TaskConfig& task, uint64_t) -> std::unique_ptr<Dataset> {
        return std::make_unique<CsvData>(task);
    },
    .python = csvPython};

} // namespace halfscope
