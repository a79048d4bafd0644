// Texts of a table with their classes. A sample has the indices of its first tokens; a shorter text
// is padded behind. Which tokens have an index is learnt from the samples to train on.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/class_sides.h"
#include "engine/data/csv_fields.h"
#include "engine/data/csv_header.h"
#include "engine/data/stored_data.h"
#include "engine/data/table_python.h"
#include "engine/data/text_table.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <utility>

namespace halfscope {

namespace {

/// Counts the tokens of the samples to train on, by their number.
std::vector<int64_t> countsIn(const TextTable& table, std::span<const int32_t> samples) {
    std::vector<int64_t> counts(table.known.size());
    for (const int32_t sample : samples)
        for (const int32_t token : table.sample(static_cast<size_t>(sample)))
            ++counts[static_cast<size_t>(token)];
    return counts;
}

class TextClassData final : public StoredData {
public:
    explicit TextClassData(const TaskConfig& task) : m_spaced(task.tokens == Tokens::Words) {
        TextTable table = readTextTable(task);
        m_splits = HeldBack(table.samples(), task, table.labels);
        const std::vector<int64_t> counts = countsIn(table, m_splits.train);
        m_vocabulary = Vocabulary(table.known, counts, task.vocabulary);
        const auto classes = static_cast<int64_t>(table.classes.size());
        m_tensors = {TensorSpec{.name = "x",
                                .shape = {task.context},
                                .dtype = DType::I32,
                                .classes = m_vocabulary.size(),
                                .padded = true,
                                .apart = true},
                     TensorSpec{"target", {}, DType::I32, classes, table.wholeClasses}};
        m_view = classesView(m_tensors[kTarget].classes, table.classes);
        noteTable(table, task);
        noteVocabulary(counts, task);
        m_labels = std::move(table.labels);
        m_numbers = std::move(table.places);
        addTexts(table);
        if (task.predictFile.empty()) // else others are judged
            for (Message& note :
                 notesOn(ClassSides(m_splits, m_labels, table.classes.size()), table.classes, task))
                m_notes.push_back(std::move(note));
        if (!task.predictFile.empty()) addPredicted(task, table);
    }

    bool usesSeed() const override { return false; }
    std::vector<Message> notes() const override { return m_notes; }
    std::string textOf(std::span<const int32_t> x) const override {
        std::string text;
        for (const int32_t index : x) {
            if (index == Vocabulary::kPadding) continue;
            if (m_spaced && !text.empty()) text += ' ';
            text += index == Vocabulary::kUnknown ? "\u25a1" : m_vocabulary.token(index);
        }
        return text;
    }

private:
    void readStored(int32_t stored, int64_t, const SamplePlace& place) const override {
        const auto sample = static_cast<size_t>(stored);
        const size_t begin = sample == 0 ? 0 : m_ends[sample - 1];
        const std::span<const int32_t> text =
            std::span(m_indices).subspan(begin, m_ends[sample] - begin);
        const std::span<int32_t> all = place.rows.labels(kX);
        const size_t context = all.size() / place.rows.count();
        const std::span<int32_t> x = all.subspan(place.row * context, context);
        std::fill(std::copy(text.begin(), text.end(), x.begin()), x.end(), Vocabulary::kPadding);
        place.label() = m_labels[sample];
    }

    /// Appends the samples of a table as indices.
    void addTexts(const TextTable& table) {
        std::vector<int32_t> index(table.known.size());
        for (size_t i = 0; i < index.size(); ++i)
            index[i] = m_vocabulary.indexOf(table.known.token(static_cast<int32_t>(i)));
        const size_t begin = m_indices.size();
        for (const int32_t token : table.tokens)
            m_indices.push_back(index[static_cast<size_t>(token)]);
        for (const size_t end : table.ends)
            m_ends.push_back(begin + end);
    }

    /// Appends the texts of task.predictFile; from then on, only they are judged. Their classes are
    /// unknown, so any will do.
    void addPredicted(const TaskConfig& task, const TextTable& trained) {
        const TextTable more = readNewTexts(task, trained.columns.text);
        const int64_t first = trained.samples();
        checkSampleCount(pathText(task.predictFile), first + more.samples());
        addTexts(more);
        m_labels.resize(m_ends.size(), 0);
        m_numbers.insert(m_numbers.end(), more.places.begin(), more.places.end());
        if (more.dropped > 0)
            m_notes.push_back(
                {more.dropped == 1
                     ? phrase("Data", "%1: %2 of %3 lines lacks a text and is not predicted.")
                     : phrase("Data", "%1: %2 of %3 lines lack a text and are not predicted."),
                 pathText(task.predictFile), more.dropped, more.dropped + more.samples()});
        judgeFrom(first);
    }

    void noteTable(const TextTable& table, const TaskConfig& task) {
        const std::string text = pathText(table.columns.text),
                          target = pathText(table.columns.target);
        if (table.classes.size() == 1)
            m_notes.push_back({phrase("Data", "The column %1 is predicted, which has one value in "
                                              "all lines: there is nothing to learn."),
                               target});
        else
            m_notes.push_back({phrase("Data", "The column %1 is predicted, as one of %2 classes, "
                                              "from the texts in the column %3."),
                               target, table.classes.size(), text});
        if (!task.header) m_notes.push_back(kNoHeader);
        if (!table.renamed.empty()) m_notes.push_back(renamedNote(table.renamed));
        if (table.dropped > 0)
            m_notes.push_back({table.dropped == 1
                                   ? phrase("Data", "%1 of %2 lines lacks a text or a class and "
                                                    "is left out.")
                                   : phrase("Data", "%1 of %2 lines lack a text or a class and "
                                                    "are left out."),
                               table.dropped, table.dropped + table.samples()});
        const int64_t mean = (table.allTokens + table.samples() / 2) / table.samples();
        const bool words = task.tokens == Tokens::Words;
        m_notes.push_back({words ? phrase("Data", "A text has %1 words and signs on average.")
                                 : phrase("Data", "A text has %1 characters on average."),
                           mean});
        if (table.cut > 0)
            m_notes.push_back({phrase("Data", "%1 of %2 texts are longer than data.context, %3, "
                                              "and only their beginning is used."),
                               table.cut, table.samples(), task.context});
    }
    void noteVocabulary(std::span<const int64_t> counts, const TaskConfig& task) {
        const auto seen =
            std::count_if(counts.begin(), counts.end(), [](int64_t count) { return count > 0; });
        const int64_t known = m_vocabulary.size() - Vocabulary::kFirst;
        if (known == seen) {
            m_notes.push_back({m_spaced ? phrase("Data", "All %1 different words and signs in the "
                                                         "training texts are known.")
                                        : phrase("Data", "All %1 different characters in the "
                                                         "training texts are known."),
                               seen});
            return;
        }
        const bool full = m_vocabulary.size() == task.vocabulary;
        const Phrase byWords =
            full ? phrase("Data", "Of %1 different words and signs in the training texts, the %2 "
                                  "most frequent are known, which is all that data.vocabulary "
                                  "allows; the others count as unknown.")
                 : phrase("Data", "Of %1 different words and signs in the training texts, %2 "
                                  "occur more than once and are known; the others count as "
                                  "unknown.");
        const Phrase byCharacters =
            full ? phrase("Data", "Of %1 different characters in the training texts, the %2 most "
                                  "frequent are known, which is all that data.vocabulary allows; "
                                  "the others count as unknown.")
                 : phrase("Data", "Of %1 different characters in the training texts, %2 occur "
                                  "more than once and are known; the others count as unknown.");
        m_notes.push_back({m_spaced ? byWords : byCharacters, seen, known});
    }

    bool m_spaced; ///< tokens are words
    Vocabulary m_vocabulary;
    std::vector<int32_t> m_indices; ///< of all samples, one behind the other
    std::vector<size_t> m_ends;     ///< where in m_indices each sample's end
    std::vector<int32_t> m_labels;  ///< by sample
    std::vector<Message> m_notes;
};

/// Reads the whole table, which the facts need.
DataFacts textClassFacts(const TaskConfig& task) {
    const TextClassData data(task);
    const auto tensors = data.tensors();
    return {{tensors.begin(), tensors.end()},
            data.samples(Split::Train),
            data.samples(Split::Validation),
            data.notes()};
}

constexpr std::string_view kPython = R"({NOTE}TABLE = {TABLE}
CONTEXT = {CONTEXT}
VOCABULARY = {VOCABULARY}  # as many vectors as the network has
{OPENER}

def tokens(text):
{TOKENS}

def samples():
    """Each sample is a row of tokens: 0 is padding, and 1 stands for unknown ones."""
{CHECK}{READ}
    text, at = names.index({TEXT}), names.index({COLUMN})
    rows = [row for row in rows if row[text] and row[at]]
    words = [row[at] for row in rows]
    try:
        numbers = [number(word) for word in words]
        if not any(map(math.isnan, numbers)):  # "1.0" is "1", but long ids may be one float
            words = [(n, word if abs(n) >= 2**53 else "") for n, word in zip(numbers, words)]
    except ValueError:
        pass
    classes = sorted(set(words))
    target = torch.tensor([classes.index(word) for word in words])
    texts = [tokens(row[text])[:CONTEXT] for row in rows]
    x = torch.zeros(len(rows), CONTEXT, dtype=torch.long)
{HELD}    counts = collections.Counter(token for i in train.tolist() for token in texts[i])
    known = [token for token, count in counts.items() if count > 1]
    known.sort(key=lambda token: (-counts[token], token))
    index = {token: i + 2 for i, token in enumerate(known[: VOCABULARY - 2])}
    for row, text in zip(x, texts):
        row[: len(text)] = torch.tensor([index.get(token, 1) for token in text], dtype=torch.long)
    return (x[train], target[train]), (x[held], target[held])
)";

constexpr std::string_view kPythonWords =
    R"(    """The words and signs of a text; A to Z count as a to z."""
    text = text.encode().lower().decode()
    return re.findall(r"{WORD}", text)
)";
constexpr std::string_view kPythonCharacters = R"(    return list(text)
)";
constexpr std::string_view kPythonShips =
    "# Halfscope's own words are in the program: this is resources/data/words/words.csv of its "
    "source\n";
constexpr std::string_view kPythonCheck = R"(    if not os.path.exists(TABLE):
        sys.exit(
            "There is no file " + os.path.abspath(TABLE) + ". Take resources/data/words/words.csv "
            "from Halfscope's source, or set TABLE to another table."
        )
)";

PythonData textClassPython(const TaskConfig& task, int64_t) {
    const TextColumns columns = chosenColumns(task);
    const bool words = task.tokens == Tokens::Words, ships = task.path.empty();
    const std::string read = readTablePython(task);
    const bool matches = words || read.find(" re.") != read.npos;
    return {"import collections\nimport csv\n" + openerImports(task) + "import math\n" +
                (ships ? "import os\n" : "") + (matches ? "import re\n" : ""),
            lang::filled(kPython,
                         {{"NOTE", std::string(ships ? kPythonShips : "")},
                          {"CHECK", std::string(ships ? kPythonCheck : "")},
                          {"TABLE", lang::pythonText(ships ? kWordsFile : task.path)},
                          {"CONTEXT", numberText(task.context)},
                          {"VOCABULARY", numberText(factsOf(task).tensors[kX].classes)},
                          {"TOKENS", words ? lang::filled(kPythonWords,
                                                          {{"WORD", std::string(kWordsInPython)}})
                                           : std::string(kPythonCharacters)},
                          {"OPENER", openerPython(task)},
                          {"READ", read},
                          {"TEXT", lang::pythonText(columns.text)},
                          {"COLUMN", lang::pythonText(columns.target)},
                          {"HELD", heldBackPython(task)}})};
}

} // namespace

extern const DataSetInfo kTextClassData;
const DataSetInfo kTextClassData{
    .name = "text-classes",
    .title = phrase("Settings", "Texts with classes"),
    .about = phrase("Settings", "a table of texts and their classes, such as reviews and whether "
                                "they praise"),
    .settings = {"data.path", "data.header", "data.text", "data.target", "data.tokens",
                 "data.context", "data.vocabulary", "data.validation", "data.stratify"},
    .targets = Targets::Classes,
    .validates = true,
    .fromFiles = true,
    .view = ViewKind::Classes,
    .opens =
        [](const std::string& path, TaskConfig& task) {
            if (!namesTable(path) && !isUnicodeTable(path)) return false;
            const bool header = namesColumns(path);
            const auto columns = textColumnsOf(path, header);
            if (!columns) return false;
            constexpr double kShort = 3; // words: names rather than texts
            task.path = path;
            task.header = header;
            task.textColumn = columns->text;
            task.target = columns->target;
            task.tokens = columns->words < kShort ? Tokens::Characters : Tokens::Words;
            return true;
        },
    .facts = textClassFacts,
    .make = [](const TaskConfig& task, uint64_t) -> std::unique_ptr<Dataset> {
        return std::make_unique<TextClassData>(task);
    },
    .python = textClassPython};

} // namespace halfscope
