// Reads a text as a sequence of characters. A sample is a run of them. Its class is the character
// that follows, or it has a class at each position: the next character. The characters of a file
// are numbered in the order of Unicode. Without a file, the text that comes with the program is
// read.
#include "engine/core/text.h"
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/data/class_weights.h"
#include "engine/data/csv_fields.h"
#include "engine/data/dataset.h"
#include "engine/data/shipped_data.h"
#include "engine/data/targets.h"
#include "engine/io/input_file.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace halfscope {

namespace {

constexpr size_t kMostCharacters = 2048;    // different ones: each is a class with a score
constexpr size_t kCharactersBetween = 1024; // characters read between two looks at whether to go on

/// The characters of a text and their UTF-8 forms, in the order of Unicode.
struct Characters {
    std::vector<uint16_t> places; ///< indices in `names`
    std::vector<std::string> names;
};

/// Reads one file.
class TextFile {
public:
    TextFile(std::string path, std::string_view file) : m_path(std::move(path)), m_file(file) {}

    Characters read() {
        if (m_file.starts_with("\xFF\xFE") || m_file.starts_with("\xFE\xFF"))
            throw InputError(phrase("Data", "%1: the text is UTF-16; save it as UTF-8"),
                             pathText(m_path));
        const size_t begin = m_file.size() - withoutByteOrderMark(m_file).size();
        Characters found;
        found.places.reserve(m_file.size() - begin);
        for (size_t at = begin; at < m_file.size();) {
            if (found.places.size() % kCharactersBetween == 0) checkCancelled();
            const std::string_view character = characterAt(at);
            found.places.push_back(placeOf(character));
            at += character.size();
        }
        std::vector<uint16_t> sorted(m_known.size());
        for (const auto& [character, place] : m_known) {
            sorted[place] = static_cast<uint16_t>(found.names.size());
            found.names.emplace_back(character);
        }
        for (uint16_t& place : found.places)
            place = sorted[place];
        return found;
    }

private:
    std::string_view characterAt(size_t at) const {
        const std::string_view text = m_file.substr(at);
        const auto first = static_cast<unsigned char>(text.front());
        const bool space = first == '\n' || first == '\r' || first == '\t' || first == '\f';
        const size_t length = sequenceLength(text);
        if (length == 0)
            throw InputError(phrase("Data", "%1: byte %2 is not text in UTF-8"), pathText(m_path),
                             at);
        if (first == 0x7f || (first < 0x20 && !space))
            throw InputError(phrase("Data", "%1: byte %2 is a control character, which is not "
                                            "allowed in a text"),
                             pathText(m_path), at);
        return text.substr(0, length);
    }

    uint16_t placeOf(std::string_view character) {
        const auto byte = static_cast<unsigned char>(character.front());
        if (byte < m_ascii.size() && m_ascii[byte]) return *m_ascii[byte];
        const auto next = static_cast<uint16_t>(m_known.size());
        const uint16_t& place = m_known.try_emplace(character, next).first->second;
        if (m_known.size() > kMostCharacters)
            throw InputError(
                phrase("Data", "%1: more than %2 different characters are not allowed"),
                pathText(m_path), kMostCharacters);
        if (byte < m_ascii.size()) m_ascii[byte] = &place;
        return place;
    }

    const std::string m_path;
    const std::string_view m_file;
    /// Numbered in the order in which they first occur; their bytes sort as characters do.
    std::map<std::string_view, uint16_t> m_known;
    std::array<const uint16_t*, 128> m_ascii{}; ///< pointers into m_known, found without a search
};

Characters read(const TaskConfig& task) {
    const std::string file = task.path.empty() ? std::string(sampleText()) : readFile(task.path);
    Characters characters = TextFile(task.path, file).read();
    if (characters.names.size() < 2)
        throw InputError(phrase("Data", "%1: a text of at least two different characters is "
                                        "expected"),
                         pathText(task.path));
    return characters;
}

/// A part of the characters, and the samples in it.
struct Part {
    int64_t begin = 0, samples = 0;
};

/// Returns how far apart two samples begin. Where every character is predicted, samples lie side by
/// side, so that a pass over them sees each character once.
int64_t strideOf(const TaskConfig& task) { return predictsEvery(task) ? task.context : 1; }

/// The end of the text is held back. No sample lies in both parts.
std::array<Part, 2> partsOf(const TaskConfig& task, int64_t characters) {
    const auto wanted = std::llround(task.validation * static_cast<double>(characters));
    const int64_t cut = characters - wanted;
    const auto samplesOf = [&task](int64_t count) {
        return std::max<int64_t>(count - task.context + strideOf(task) - 1, 0) / strideOf(task);
    };
    const std::array<Part, 2> parts{Part{0, samplesOf(cut)}, Part{cut, samplesOf(wanted)}};
    if (parts[0].samples < 1)
        throw InputError(phrase("Data", "%1: only %2 of %3 characters are left to train on, but a "
                                        "sample takes %4 (data.context and the one that follows): "
                                        "use a longer text, or a smaller data.context or "
                                        "data.validation"),
                         task.path.empty() ? std::string("data.context") : pathText(task.path), cut,
                         characters, task.context + 1);
    return parts;
}

std::vector<TensorSpec> tensorsOf(const TaskConfig& task, const Characters& characters) {
    const auto known = static_cast<int64_t>(characters.names.size());
    const Shape target = predictsEvery(task) ? Shape{task.context} : Shape{};
    return {TensorSpec{"x", {task.context}, DType::I32, known},
            TensorSpec{"target", target, DType::I32, known}};
}

/// Whether all lines but perhaps the first, which may have names, hold numbers alone.
bool isTable(const Characters& characters) {
    constexpr std::string_view kOfNumbers = "0123456789.+-eE,;\t \r\n";
    const auto& [places, names] = characters;
    const auto nameOf = [&names = names](uint16_t place) { return std::string_view(names[place]); };
    const auto isEnd = [&](uint16_t place) { return nameOf(place) == "\n"; };
    const auto second = std::find_if(places.begin(), places.end(), isEnd);
    const auto isOfNumber = [&](uint16_t place) {
        return kOfNumbers.find(nameOf(place)) != kOfNumbers.npos;
    };
    const auto isDigit = [&](uint16_t place) {
        return nameOf(place) >= "0" && nameOf(place) <= "9";
    };
    return std::all_of(second, places.end(), isOfNumber) &&
           std::any_of(second, places.end(), isDigit);
}

std::vector<Message> notesOf(const Characters& characters) {
    std::vector<Message> notes{{phrase("Data", "The text has %1 characters, %2 different ones."),
                                characters.places.size(), characters.names.size()}};
    if (isTable(characters))
        notes.push_back(phrase("Data", "The text seems to be a table of numbers, and the network "
                                       "learns its characters. To predict a column instead, give "
                                       "the file a name that ends in .csv, and a first line that "
                                       "names the columns, with commas, semicolons, tabs or spaces "
                                       "between them."));
    return notes;
}

/// Returns the name that is shown for a character; a space and a line end have signs of their own.
std::string shownName(const std::string& character) {
    if (character == " ") return "\u2423";
    if (character == "\n") return "\u21b5";
    return escapedText(character);
}

class TextData final : public Dataset {
public:
    explicit TextData(const TaskConfig& task)
        : m_characters(halfscope::read(task)),
          m_parts(partsOf(task, static_cast<int64_t>(m_characters.places.size()))),
          m_tensors(tensorsOf(task, m_characters)), m_context(static_cast<size_t>(task.context)),
          m_stride(strideOf(task)) {}

    std::span<const TensorSpec> tensors() const override { return m_tensors; }
    int64_t samples(Split split) const override {
        return m_parts[static_cast<size_t>(split)].samples;
    }
    std::vector<Unread> read(Pass pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        const Part& part = m_parts[static_cast<size_t>(pass.split)];
        int32_t* x = out.labels(kX).data();
        const std::span<int32_t> target = out.labels(kTarget);
        const size_t classes = samples.empty() ? 0 : target.size() / samples.size();
        for (size_t row = 0; row < samples.size(); ++row, x += m_context) {
            const uint16_t* from = m_characters.places.data() +
                                   static_cast<size_t>(part.begin + samples[row] * m_stride);
            std::copy_n(from, m_context, x);
            std::copy_n(from + m_context + 1 - classes, classes, &target[row * classes]);
        }
        return {};
    }
    bool usesSeed() const override { return false; }
    std::vector<Message> notes() const override { return notesOf(m_characters); }
    TaskView view() const override {
        std::vector<std::string> names;
        for (const std::string& character : m_characters.names)
            names.push_back(shownName(character));
        const auto classes = static_cast<int64_t>(names.size());
        return classesView(classes, std::move(names));
    }

private:
    Characters m_characters;
    std::array<Part, 2> m_parts; ///< by split
    std::vector<TensorSpec> m_tensors;
    size_t m_context;
    int64_t m_stride; ///< see strideOf()
};

DataFacts textFacts(const TaskConfig& task) {
    const Characters characters = read(task);
    const auto parts = partsOf(task, static_cast<int64_t>(characters.places.size()));
    return {tensorsOf(task, characters), parts[0].samples, parts[1].samples, notesOf(characters)};
}

/// Returns the source of the Python function split(part), which turns a part of the text into
/// samples and their classes.
const char* pythonSplit(const TaskConfig& task) {
    if (predictsEvery(task))
        return R"(
    def split(part):
        count = max(len(part) - 1, 0) // CONTEXT  # side by side
        x, target = part[: count * CONTEXT], part[1 : count * CONTEXT + 1]
        return x.reshape(count, CONTEXT), target.reshape(count, CONTEXT)
)";
    return R"(
    def split(part):
        if len(part) <= CONTEXT:
            return part.new_empty(0, CONTEXT), part[:0]
        return part[:-1].unfold(0, CONTEXT, 1), part[CONTEXT:]
)";
}

PythonData textPython(const TaskConfig& task, int64_t) {
    const char* note = task.path.empty()
                           ? "# Halfscope's own text is in the program: this is the file "
                             "https://www.gnu.org/licenses/gpl-3.0.txt\n"
                           : "";
    const char* check = task.path.empty() ? R"(    if not os.path.exists(TEXT):
        sys.exit(
            "There is no file " + os.path.abspath(TEXT) + ". Download it from "
            "https://www.gnu.org/licenses/gpl-3.0.txt, or set TEXT to another text."
        )
)"
                                          : "";
    const bool every = predictsEvery(task);
    return {task.path.empty() ? "import os\n" : "",
            lang::filled(R"({NOTE}TEXT = {TEXT}
CONTEXT = {CONTEXT}


def samples():
    """Each sample is a row of characters, {CLASS}."""
{CHECK}    with open(TEXT, newline="", encoding="utf-8-sig") as file:
        text = file.read()
    places = {character: i for i, character in enumerate(sorted(set(text)))}
    values = torch.tensor([places[character] for character in text])
    cut = len(values) - int({SHARE} * len(values) + 0.5)  # the end is held back
{SPLIT}
    return split(values[:cut]), split(values[cut:])
)",
                         {{"NOTE", note},
                          {"CHECK", check},
                          {"TEXT", lang::pythonText(task.path.empty() ? "gpl-3.0.txt" : task.path)},
                          {"CONTEXT", numberText(task.context)},
                          {"CLASS", every ? "its classes the next one at each position"
                                          : "its class the one that follows"},
                          {"SPLIT", pythonSplit(task)},
                          {"SHARE", lang::pythonReal(task.validation)}})};
}

} // namespace

bool predictsEvery(const TaskConfig& task) {
    return task.kind == TaskKind::Text && task.predicted == Predicted::Every;
}

bool measuresPerplexity(const TaskConfig& task) {
    return predictsEvery(task) && task.loss.labelSmoothing == 0 && !weighsClasses(task.loss);
}

extern const DataSetInfo kTextData;
const DataSetInfo kTextData{
    .name = "text",
    .title = phrase("Settings", "Text"),
    .about = phrase("Settings", "a text, whose next character the network learns to predict"),
    .settings = {"data.path", "data.context", "data.predict", "data.validation"},
    .targets = Targets::Classes,
    .validates = true,
    .fromFiles = true,
    .view = ViewKind::Classes,
    .opens =
        [](const std::string& path, TaskConfig& task) {
            task.path = path;
            return lowerCase(path).ends_with(".txt") && !isUnicodeTable(path);
        },
    .facts = textFacts,
    .make = [](const TaskConfig& task, uint64_t) -> std::unique_ptr<Dataset> {
        return std::make_unique<TextData>(task);
    },
    .python = textPython};

} // namespace halfscope
