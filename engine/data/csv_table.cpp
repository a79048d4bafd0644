// A csv table: a line of column names, then a sample a line. One column is the target, all others
// are inputs.
#include "engine/io/csv.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/losses.h"
#include "engine/data/stored_data.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace halfscope {

namespace {

constexpr size_t kMostColumns = 100'000, kMostClasses = 100'000;

struct Table {
    std::vector<std::string> inputs;  ///< names of columns
    std::vector<float> x;             ///< (samples, inputs)
    std::vector<float> numbers;       ///< targets, one of the two
    std::vector<int32_t> labels;      ///< indices of classes
    std::vector<std::string> classes; ///< as they stand in the file
    int64_t samples = 0;
    int64_t dropped = 0; ///< lines that lack a value
    int64_t filled = 0;  ///< values that are missing in x: nan, until a mean takes their place
};

/// A missing value, as spreadsheets, R and pandas write it.
constexpr std::array<std::string_view, 10> kMissingWords{"",    "NA",   "N/A",  "NaN",  "nan",
                                                         "NAN", "null", "NULL", "None", "?"};
bool isMissing(std::string_view text) {
    return std::find(kMissingWords.begin(), kMissingWords.end(), text) != kMissingWords.end();
}

/// What other tables have in place of commas.
constexpr std::array<std::pair<char, Phrase>, 2> kOtherSeparators{
    {{';', phrase("Data", "semicolons")}, {'\t', phrase("Data", "tabs")}}};

/// nan for what is no number.
double numberOf(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = NAN;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc{} && end == text.data() + text.size() ? value : double{NAN};
}

bool areWhole(const std::vector<std::string>& classes) {
    return std::all_of(classes.begin(), classes.end(), [](const std::string& name) {
        return numberOf(name) == std::trunc(numberOf(name));
    });
}

/// Reads one file.
class TableFile {
public:
    explicit TableFile(const TaskConfig& task)
        : m_task(task), m_classes(infoOf(task.loss.kind).ofLabels),
          m_reader(checked(task.path), CsvReader::LastLine::MayLackEnd) {}

    Table read() {
        readHeader();
        while (m_reader.next(m_fields)) {
            const bool blank = m_fields.size() == 1 && trimmed(m_fields[0]).empty();
            if (blank) continue;
            checkFields();
            if (isDropped())
                ++m_table.dropped;
            else
                readSample();
        }
        if (m_table.dropped > 0 && m_table.samples == 0)
            throw InputError(m_task.missing == Missing::Mean
                                 ? phrase("Data", "%1: every line lacks its target, so "
                                                  "data.missing %2 leaves no samples")
                                 : phrase("Data", "%1: every line lacks a value, so data.missing "
                                                  "%2 leaves no samples"),
                             pathText(m_task.path), nameOf(m_task.missing));
        checkSampleCount(pathText(m_task.path), m_table.samples);
        if (m_classes) sortClasses();
        return std::move(m_table);
    }

private:
    static std::string checked(const std::string& path) {
        if (path.empty())
            throw InputError(phrase("Data", "data.path: missing; it must be a csv file"));
        return path;
    }

    void readHeader() {
        if (!m_reader.next(m_fields))
            throw InputError(phrase("Data", "%1: the file is empty; its first line must name the "
                                            "columns"),
                             pathText(m_task.path));
        for (const std::string_view field : m_fields)
            m_names.emplace_back(trimmed(m_names.empty() ? withoutByteOrderMark(field) : field));
        if (m_names.size() == 1)
            for (const auto& [mark, name] : kOtherSeparators)
                if (m_names[0].find(mark) != std::string::npos)
                    throw InputError(phrase("Data", "%1: its columns have %2 between them; save "
                                                    "the table with commas, and with points in "
                                                    "its numbers"),
                                     m_reader.place(), name);
        if (m_names.size() < 2 || m_names.size() > kMostColumns)
            throw InputError(phrase("Data", "%1: %2 columns are not allowed: 2 to %3, with commas "
                                            "between them"),
                             m_reader.place(), m_names.size(), kMostColumns);
        m_target = m_names.size() - 1;
        if (!m_task.target.empty()) {
            const auto found = std::find(m_names.begin(), m_names.end(), m_task.target);
            if (found == m_names.end())
                throw InputError(phrase("Data", "data.target: %1 has no column %2%3"),
                                 pathText(m_task.path), quotedText(m_task.target),
                                 nearestHint(m_task.target, m_names));
            m_target = static_cast<size_t>(found - m_names.begin());
        }
        for (size_t i = 0; i < m_names.size(); ++i)
            if (i != m_target) m_table.inputs.push_back(m_names[i]);
    }

    void checkFields() const {
        if (m_fields.size() != m_names.size())
            throw InputError(
                phrase("Data", "%1: %2 fields do not fit the %3 columns of the header"),
                m_reader.place(), m_fields.size(), m_names.size());
    }

    bool lacks(size_t column) const { return isMissing(trimmed(m_fields[column])); }
    /// No target can be made up.
    bool isDropped() const {
        if (m_task.missing == Missing::Refuse) return false;
        if (lacks(m_target)) return true;
        if (m_task.missing == Missing::Mean) return false;
        for (size_t i = 0; i < m_fields.size(); ++i)
            if (lacks(i)) return true;
        return false;
    }

    void readSample() {
        for (size_t i = 0; i < m_fields.size(); ++i) {
            const bool fills = m_task.missing == Missing::Mean && i != m_target && lacks(i);
            m_table.filled += fills;
            if (fills)
                m_table.x.push_back(NAN);
            else if (i != m_target)
                m_table.x.push_back(numberAt(i));
            else if (m_classes)
                m_table.labels.push_back(classAt(i));
            else
                m_table.numbers.push_back(numberAt(i));
        }
        ++m_table.samples;
    }

    float numberAt(size_t column) const {
        std::string_view text = trimmed(m_fields[column]);
        if (text.starts_with('+')) text.remove_prefix(1);
        float value = 0;
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool fits = code == std::errc{} && end == text.data() + text.size();
        if (fits && std::isfinite(value)) return value;
        if (code == std::errc::result_out_of_range && end == text.data() + text.size()) {
            const double wide = std::strtod(std::string(text).c_str(), nullptr);
            if (std::abs(wide) < 1) return static_cast<float>(wide); // too small, not too large
        }
        if (isMissing(text))
            throw InputError(
                phrase("Data", "%1: %2 in the column %3 is not allowed: a finite number; to allow "
                               "missing values, set data.missing to drop or mean"),
                m_reader.place(), quotedText(m_fields[column]), quotedText(m_names[column]));
        if (code == std::errc::invalid_argument && column != m_target)
            throw InputError(phrase("Data", "%1: %2 in the column %3 is not allowed: a finite "
                                            "number; only the column to predict may hold words, "
                                            "and that is %4 (data.target)"),
                             m_reader.place(), quotedText(m_fields[column]),
                             quotedText(m_names[column]), quotedText(m_names[m_target]));
        throw InputError(phrase("Data", "%1: %2 in the column %3 is not allowed: a finite number"),
                         m_reader.place(), quotedText(m_fields[column]),
                         quotedText(m_names[column]));
    }

    int32_t classAt(size_t column) {
        const std::string_view text = trimmed(m_fields[column]);
        if (text.empty())
            throw InputError(phrase("Data", "%1: the column %2 is empty; it must name a class; "
                                            "data.missing drop would leave such lines out"),
                             m_reader.place(), quotedText(m_names[column]));
        const auto [at, added] =
            m_indices.try_emplace(std::string(text), static_cast<int32_t>(m_indices.size()));
        if (added && m_indices.size() > kMostClasses)
            throw InputError(phrase("Data",
                                    "%1: more than %2 classes in the column %3; with a loss "
                                    "for numbers, such as mse, it is one number a sample"),
                             m_reader.place(), kMostClasses, quotedText(m_names[column]));
        return at->second;
    }

    /// By number where all are numbers, else by name: their order does not depend on that of the
    /// lines.
    void sortClasses() {
        for (const auto& [name, index] : m_indices)
            m_table.classes.push_back(name); // sorted by name
        const bool numbers =
            std::none_of(m_table.classes.begin(), m_table.classes.end(),
                         [](const std::string& name) { return std::isnan(numberOf(name)); });
        if (numbers)
            std::stable_sort(m_table.classes.begin(), m_table.classes.end(),
                             [](const std::string& a, const std::string& b) {
                                 return numberOf(a) < numberOf(b);
                             });
        std::vector<int32_t> sorted(m_indices.size());
        for (size_t i = 0; i < m_table.classes.size(); ++i)
            sorted[static_cast<size_t>(m_indices[m_table.classes[i]])] = static_cast<int32_t>(i);
        for (int32_t& label : m_table.labels)
            label = sorted[static_cast<size_t>(label)];
    }

    const TaskConfig& m_task;
    bool m_classes;
    CsvReader m_reader;
    std::vector<std::string_view> m_fields;
    std::vector<std::string> m_names; ///< of all columns
    size_t m_target = 0;
    std::map<std::string, int32_t> m_indices; ///< of classes, in the order of their first lines
    Table m_table;
};

class CsvData final : public StoredData {
public:
    explicit CsvData(const TaskConfig& task) : m_table(TableFile(task).read()) {
        m_splits = HeldBack(m_table.samples, task.validation);
        m_tensors = {TensorSpec{"x", {static_cast<int64_t>(m_table.inputs.size())}},
                     TensorSpec{"target", {1}}};
        if (!m_table.labels.empty()) {
            const auto classes = static_cast<int64_t>(m_table.classes.size());
            m_tensors[kTarget] = {
                "target", {}, DType::I32, std::max<int64_t>(2, classes), areWhole(m_table.classes)};
        }
        if (m_table.filled > 0) fill(task.path);
        if (task.standardise) standardise();
        setView();
    }

    std::vector<Message> notes() const override {
        std::vector<Message> notes;
        const auto& inputs = m_table.inputs;
        if (std::find(inputs.begin(), inputs.end(), "") != inputs.end())
            notes.push_back(phrase("Data", "A column without a name is an input. If it only "
                                           "numbers the lines, save the table without it "
                                           "(pandas: to_csv with index=False)."));
        if (m_table.dropped > 0)
            notes.push_back({phrase("Data", "%1 of %2 lines lack a value and are left out."),
                             m_table.dropped, m_table.dropped + m_table.samples});
        if (m_table.filled > 0)
            notes.push_back({phrase("Data", "%1 missing values are replaced by the mean of their "
                                            "column over the training samples."),
                             m_table.filled});
        return notes;
    }

private:
    void readStored(int32_t stored, int64_t, const SamplePlace& place) const override {
        const size_t inputs = m_table.inputs.size(), row = static_cast<size_t>(stored);
        std::copy_n(m_table.x.begin() + static_cast<std::ptrdiff_t>(row * inputs), inputs,
                    place.floats(kX).begin());
        if (m_table.labels.empty())
            place.floats(kTarget)[0] = m_table.numbers[row];
        else
            place.label() = m_table.labels[row];
    }

    void setView() {
        if (!m_table.labels.empty()) {
            m_view = classesView(m_tensors[kTarget].classes, m_table.classes);
            return;
        }
        const auto [least, most] =
            std::minmax_element(m_table.numbers.begin(), m_table.numbers.end());
        m_view = scatterView(double{*least}, double{*most});
    }

    float& at(int32_t row, size_t column) {
        return m_table.x[static_cast<size_t>(row) * m_table.inputs.size() + column];
    }

    /// Missing values become the mean of those that their column has to train on.
    void fill(const std::string& path) {
        for (size_t column = 0; column < m_table.inputs.size(); ++column) {
            double sum = 0;
            int64_t count = 0;
            for (const int32_t row : m_splits.train) {
                const float value = at(row, column);
                if (std::isnan(value)) continue;
                sum += double{value};
                ++count;
            }
            if (count == 0)
                throw InputError(phrase("Data", "%1: the column %2 has no value among the training "
                                                "samples, so there is no mean to fill it with"),
                                 pathText(path), quotedText(m_table.inputs[column]));
            const auto mean = static_cast<float>(sum / static_cast<double>(count));
            for (const auto* rows : {&m_splits.train, &m_splits.validation})
                for (const int32_t row : *rows)
                    if (std::isnan(at(row, column))) at(row, column) = mean;
        }
    }

    /// Each column to mean 0 and standard deviation 1 over the samples to train on; one that has
    /// the same value everywhere becomes 0.
    void standardise() {
        const auto count = static_cast<double>(m_splits.train.size());
        for (size_t column = 0; column < m_table.inputs.size(); ++column) {
            double mean = 0, squares = 0;
            bool same = true; // a mean is rounded: the squares of equal values need not be 0
            for (const int32_t row : m_splits.train) {
                mean += double{at(row, column)} / count;
                same = same && at(row, column) == at(m_splits.train.front(), column);
            }
            for (const int32_t row : m_splits.train)
                squares +=
                    (double{at(row, column)} - mean) * (double{at(row, column)} - mean) / count;
            const double scale = same ? 0 : 1 / std::sqrt(squares);
            for (const auto* rows : {&m_splits.train, &m_splits.validation})
                for (const int32_t row : *rows)
                    at(row, column) = static_cast<float>((double{at(row, column)} - mean) * scale);
        }
    }

    Table m_table;
};

/// All of the table has to be read for them.
DataFacts csvFacts(const TaskConfig& task) {
    const CsvData data(task);
    const auto tensors = data.tensors();
    return {{tensors.begin(), tensors.end()},
            data.samples(Split::Train),
            data.samples(Split::Validation),
            data.notes()};
}

std::string pythonMissing() {
    std::string words;
    for (const std::string_view word : kMissingWords)
        words += (words.empty() ? "" : ", ") + lang::pythonText(std::string(word));
    return "    missing = {" + words + "}\n";
}

constexpr std::string_view kPythonDrop =
    R"(    rows = [row for row in rows if not any(field.strip() in missing for field in row)]
)";
constexpr std::string_view kPythonNumber = R"(
    def number(field):
        return float("nan") if field.strip() in missing else float(field)

    rows = [row for row in rows if row[at].strip() not in missing]
)";
constexpr std::string_view kPythonMean = R"(    x = x.where(~x.isnan(), x[train].nanmean(0))
)";

constexpr std::string_view kPythonClasses = R"(
    words = [row[at].strip() for row in rows]
    classes = sorted(set(words))
    try:
        classes.sort(key=float)
    except ValueError:
        pass
    target = torch.tensor([classes.index(word) for word in words])
)";

constexpr std::string_view kPythonStandardise =
    R"(    mean, deviation = x[train].mean(0), x[train].std(0, correction=0)
    same = (x[train] == x[train][0]).all(0)
    x = (x - mean) / deviation.where(~same, torch.inf)
)";

PythonData csvPython(const TaskConfig& task, int64_t) {
    const bool classes = infoOf(task.loss.kind).ofLabels;
    const bool drops = task.missing == Missing::Drop, fills = task.missing == Missing::Mean;
    return {
        "import csv\n",
        lang::filled(R"(TABLE = {TABLE}


def samples():
    with open(TABLE, newline="", encoding="utf-8-sig") as file:
        names, *rows = [row for row in csv.reader(file) if any(field.strip() for field in row)]
    at = {COLUMN}
{MISSING}    inputs = [[{NUMBER}(field) for i, field in enumerate(row) if i != at] for row in rows]
    x = torch.tensor(inputs, dtype=torch.float64){TARGET}{HELD}{MEAN}{STANDARDISE}    x = x.float()
    return (x[train], target[train]), (x[held], target[held])
)",
                     {{"TABLE", lang::pythonText(task.path)},
                      {"COLUMN", task.target.empty() ? "len(names) - 1"
                                                     : "[name.strip() for name in names].index(" +
                                                           lang::pythonText(task.target) + ")"},
                      {"TARGET", classes ? std::string(kPythonClasses)
                                         : "\n    target = torch.tensor([[float(row[at])] for "
                                           "row in rows])\n"},
                      {"MISSING", drops   ? pythonMissing().append(kPythonDrop)
                                  : fills ? pythonMissing().append(kPythonNumber)
                                          : std::string()},
                      {"NUMBER", fills ? "number" : "float"},
                      {"MEAN", fills ? std::string(kPythonMean) : std::string()},
                      {"HELD", heldBackPython(task.validation)},
                      {"STANDARDISE", task.standardise ? std::string(kPythonStandardise) : ""}})};
}

} // namespace

extern const DataSetInfo kCsvData;
const DataSetInfo kCsvData{
    .name = "csv",
    .about = phrase("Settings", "a table of numbers, one column of which is the target"),
    .settings = {"data.path", "data.target", "data.missing", "data.standardise", "data.validation"},
    .targets = Targets::AsTheLoss,
    .validates = true,
    .fromFiles = true,
    .opens =
        [](const std::string& path, TaskConfig& task) {
            task.path = path;
            return lowerCase(path).ends_with(".csv");
        },
    .facts = csvFacts,
    .make = [](const TaskConfig& task, uint64_t) -> std::unique_ptr<Dataset> {
        return std::make_unique<CsvData>(task);
    },
    .python = csvPython};

} // namespace halfscope
