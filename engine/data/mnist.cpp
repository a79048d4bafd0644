// MNIST, Fashion-MNIST and other sets in their four files: pictures of ten classes and their
// labels, in IDX, plain or gzipped. Without a folder, it is the sample that comes with the program.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/core/vector_clones.h"
#include "engine/data/dataset.h"
#include "engine/data/picture_samples.h"
#include "engine/data/shipped_data.h"
#include "engine/io/idx.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace halfscope {

namespace {

constexpr int64_t kClasses = 10;
constexpr size_t kSplits = 2;
/// The folders in which torchvision puts the files.
constexpr std::array<std::string_view, 3> kFolders{"MNIST/raw", "FashionMNIST/raw", "raw"};

/// One of the four files: its path, or its bytes in the program.
class IdxSource {
public:
    explicit IdxSource(std::string path) : m_path(std::move(path)) {}
    IdxSource(std::string name, std::string_view bytes) : m_path(std::move(name)), m_bytes(bytes) {}

    const std::string& path() const { return m_path; }
    ArrayInfo info() const {
        UnpackedFile file = open();
        return idxInfo(file);
    }
    Array read() const {
        UnpackedFile file = open();
        return readIdx(file);
    }

private:
    UnpackedFile open() const {
        return m_bytes.empty() ? UnpackedFile(m_path) : UnpackedFile(m_path, m_bytes);
    }
    std::string m_path;
    std::string_view m_bytes;
};

struct SplitFiles {
    IdxSource images, labels;
};

bool isThere(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

/// Returns the path of "train-images-idx3-ubyte" under any of its usual names; empty when there is
/// none.
std::string findFile(const std::filesystem::path& folder, const std::string& name) {
    std::string dotted = name;
    dotted[dotted.rfind("-idx")] = '.'; // some unpackers name it like this
    for (const std::string& base : {name, dotted})
        for (const char* end : {"", ".gz"})
            if (isThere(folder / (base + end))) return (folder / (base + end)).string();
    return {};
}

/// Returns the folder itself, or the first one inside that has the files.
std::filesystem::path dataFolder(const std::string& path) {
    const std::filesystem::path given(path);
    if (!findFile(given, "train-images-idx3-ubyte").empty()) return given;
    for (const std::string_view inside : kFolders)
        if (!findFile(given / inside, "train-images-idx3-ubyte").empty()) return given / inside;
    return given;
}

std::string fileIn(const std::filesystem::path& folder, const std::string& name) {
    std::string found = findFile(folder, name);
    if (found.empty())
        throw InputError(phrase("Data", "data.path: the folder %1 has no file %2, plain or .gz"),
                         pathText(folder.string()), name);
    return found;
}

SplitFiles filesOf(const TaskConfig& task, Split split) {
    const std::string start = split == Split::Train ? "train" : "t10k";
    const std::string images = start + "-images-idx3-ubyte", labels = start + "-labels-idx1-ubyte";
    if (task.path.empty()) return {{images, sampleDigits(images)}, {labels, sampleDigits(labels)}};
    const std::filesystem::path folder = dataFolder(task.path);
    return {IdxSource(fileIn(folder, images)), IdxSource(fileIn(folder, labels))};
}

/// Returns the shape of the pictures after checking that they and the labels fit together.
Shape pictureShape(const SplitFiles& files, const ArrayInfo& images, const ArrayInfo& labels) {
    const auto& shape = images.shape;
    if (shape.size() != 3 || images.elements() == 0)
        throw InputError(phrase("Data", "%1: the shape %2 is not that of pictures: (samples, "
                                        "height, width)"),
                         pathText(files.images.path()), images.shapeText());
    if (labels.shape.size() != 1 || labels.shape[0] != shape[0])
        throw InputError(phrase("Data", "%1: the shape %2 does not fit the %3 pictures of %4"),
                         pathText(files.labels.path()), labels.shapeText(), shape[0],
                         pathText(files.images.path()));
    return {1, shape[1], shape[2]};
}

std::vector<TensorSpec> tensorsOf(const Shape& picture) {
    return {TensorSpec{"x", picture}, TensorSpec{"target", {}, DType::I32, kClasses}};
}

void checkSameShape(const Shape& train, const Shape& validation, const SplitFiles& files) {
    if (train == validation) return;
    throw InputError(phrase("Data", "%1: pictures of %2 do not fit those to train on, %3"),
                     pathText(files.images.path()), validation.text(), train.text());
}

DataFacts factsOfFiles(const TaskConfig& task) {
    DataFacts facts;
    Shape picture;
    for (const Split split : {Split::Train, Split::Validation}) {
        const SplitFiles files = filesOf(task, split);
        const ArrayInfo images = files.images.info();
        const Shape shape = pictureShape(files, images, files.labels.info());
        if (split == Split::Train)
            picture = shape;
        else
            checkSameShape(picture, shape, files);
        (split == Split::Train ? facts.train : facts.validation) = images.shape[0];
    }
    facts.tensors = tensorsOf(picture);
    facts.validation = predictedOr(task, facts.validation);
    return facts;
}

void checkLabels(const Array& labels, const std::string& path) {
    for (size_t i = 0; i < labels.bytes.size(); ++i)
        if (const auto label = static_cast<int>(labels.bytes[i]); label >= kClasses)
            throw InputError(phrase("Data", "%1: sample %2 has the label %3: 0 to %4 are allowed"),
                             pathText(path), i, label, kClasses - 1);
}

std::vector<std::string> classNames(const TaskConfig& task) {
    if (lowerCase(task.path).find("fashion") != std::string::npos)
        return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
    return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
}

/// Computes value / 255 by products, which processors compute faster than quotients: the first
/// product is exact, because its factor has nine bits, and for each of the 256 bytes the sum is the
/// quotient rounded once. `from` and `to` do not overlap, which lets the compiler take several
/// values at a time, although bytes may alias anything.
HALFSCOPE_VECTOR
void toFloats(const std::byte* __restrict from, float* __restrict to, size_t count) {
    constexpr float kHigh = 0x1.01p-8F, kLow = 0x1.010102p-24F;
    for (size_t i = 0; i < count; ++i) {
        const auto value = static_cast<float>(std::to_integer<uint8_t>(from[i]));
        to[i] = value * kHigh + value * kLow;
    }
}

/// Prefetches a sample: samples in a new order are in no cache, and waiting for their memory takes
/// as long as everything else that is done with them.
void prefetch(const std::byte* from, size_t count) {
    constexpr size_t kLine = 64;
    for (size_t i = 0; i < count; i += kLine)
        __builtin_prefetch(from + i);
}

double meanOf(std::span<const std::byte> bytes) {
    uint64_t sum = 0;
    for (const std::byte each : bytes)
        sum += std::to_integer<uint64_t>(each);
    return static_cast<double>(sum) / 255 / static_cast<double>(std::max<size_t>(1, bytes.size()));
}

/// Pictures of task.predictFile in the size of those to train on, as bytes of grey.
struct NewDigits {
    std::vector<std::byte> bytes{};
    std::vector<Message> damage{}; ///< by picture; empty where it was decoded

    NewDigits(const std::string& path, const Shape& picture) {
        if (picture[1] != picture[2])
            throw InputError(phrase("Data", "%1: new pictures are predicted where those to train "
                                            "on are square; they have %2 x %3 pixels"),
                             pathText(path), picture[2], picture[1]);
        const auto pixels = static_cast<size_t>(picture.elements());
        for (const std::string& each : newPicturesAt(path).paths) {
            checkCancelled();
            damage.emplace_back();
            bytes.resize(bytes.size() + pixels);
            try {
                const auto grey = planesOf(readSquare(each, static_cast<int>(picture[2])), 1);
                std::transform(grey.begin(), grey.end(), bytes.end() - ptrdiff_t(pixels),
                               [](uint8_t value) { return std::byte{value}; });
            } catch (const InputError& error) {
                damage.back() = error.message();
            }
        }
    }
    /// Whether they are mostly light and those to train on mostly dark, or the other way round.
    bool isInverted(const Array& train) const {
        const bool decoded =
            std::any_of(damage.begin(), damage.end(), [](const Message& m) { return m.empty(); });
        return decoded && (meanOf(bytes) > 0.5) != (meanOf(train.bytes) > 0.5);
    }
};

/// Holds the bytes as they were in the files; a sample is a picture of floats from 0 to 1.
class MnistData final : public Dataset {
public:
    explicit MnistData(const TaskConfig& task) : m_classes(classNames(task)) {
        Shape picture;
        for (const Split split : {Split::Train, Split::Validation}) {
            const SplitFiles files = filesOf(task, split);
            if (!task.path.empty())
                m_files.insert(m_files.end(), {files.images.path(), files.labels.path()});
            Part& part = m_parts[static_cast<size_t>(split)];
            part = {files.images.read(), files.labels.read()};
            const Shape shape = pictureShape(files, part.images.info, part.labels.info);
            checkLabels(part.labels, files.labels.path());
            if (split == Split::Train)
                picture = shape;
            else
                checkSameShape(picture, shape, files);
        }
        m_tensors = tensorsOf(picture);
        if (!task.predictFile.empty()) predict(task.predictFile, picture);
    }

    std::span<const TensorSpec> tensors() const override { return m_tensors; }
    int64_t samples(Split split) const override { return part(split).labels.info.shape[0]; }

    std::vector<Unread> read(Pass pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        const Part& from = part(pass.split);
        std::vector<Unread> unread;
        const auto pixels = static_cast<size_t>(m_tensors[kX].shape.elements());
        float* x = out.floats(kX).data();
        const std::span<int32_t> target = out.labels(kTarget);
        constexpr size_t kAhead = 8;
        const auto bytesOfSample = [&](size_t i) {
            return from.images.bytes.data() + static_cast<size_t>(samples[i]) * pixels;
        };
        for (size_t i = 0; i < samples.size(); ++i) {
            if (i + kAhead < samples.size()) prefetch(bytesOfSample(i + kAhead), pixels);
            toFloats(bytesOfSample(i), x + i * pixels, pixels);
            const auto sample = static_cast<size_t>(samples[i]);
            target[i] = static_cast<int32_t>(from.labels.bytes[sample]);
            if (pass.split == Split::Validation && !m_damage.empty() && !m_damage[sample].empty())
                unread.push_back({i, m_damage[sample]});
        }
        return unread;
    }
    std::vector<Message> notes() const override { return m_notes; }
    std::vector<std::string> files() const override { return m_files; }

    TaskView view() const override {
        TaskView view;
        view.kind = ViewKind::Classes;
        view.classes = m_classes;
        return view;
    }

private:
    struct Part {
        Array images, labels;
    };
    /// Puts new pictures in the place of those to validate on. Their classes are unknown, so any
    /// will do.
    void predict(const std::string& path, const Shape& picture) {
        NewDigits found(path, picture);
        if (found.isInverted(part(Split::Train).images))
            m_notes.emplace_back(
                phrase("Data", "%1: on average, the pictures are light where those to train on are "
                               "dark, or the other way round. With their colours inverted, "
                               "predictions may be better."),
                pathText(path));
        Part& judged = m_parts[static_cast<size_t>(Split::Validation)];
        judged.labels.info.shape = {static_cast<int64_t>(found.damage.size())};
        judged.labels.bytes.assign(found.damage.size(), std::byte{0});
        judged.images.bytes = std::move(found.bytes);
        m_damage = std::move(found.damage);
    }
    const Part& part(Split split) const { return m_parts[static_cast<size_t>(split)]; }

    std::array<Part, kSplits> m_parts;
    std::vector<std::string> m_files; ///< empty for the digits that come with the program
    std::vector<TensorSpec> m_tensors;
    std::vector<std::string> m_classes;
    std::vector<Message> m_damage; ///< of the pictures to predict; empty when there are none
    std::vector<Message> m_notes;
};

constexpr const char* kPythonValues = R"(
def values(path):
    """The bytes of a file in IDX format, plain or .gz, in the shape that its header tells."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    shape = [int.from_bytes(data[at : at + 4], "big") for at in range(4, 4 + 4 * data[3], 4)]
    return torch.frombuffer(bytearray(data[4 + 4 * data[3] :]), dtype=torch.uint8).reshape(shape)


def split(images, labels):
    return values(images)[:, None].float() / 255, values(labels).long()

)";

/// Writes a program that takes the digits of the sample from the files of the whole MNIST: they are
/// too many for the program itself.
PythonData samplePython() {
    return {
        "import gzip\nimport os\n",
        std::string(
            R"(# Halfscope's own digits are the first of each class of MNIST, whose files are needed here. They are
# looked for in FOLDER and in FOLDER/MNIST/raw; if they are missing, torchvision downloads them.
FOLDER = "."
FIRST_OF_CLASS = 200, 50  # to train on, to validate on; None, None: all digits


def path_of(name):
    for folder in FOLDER, os.path.join(FOLDER, "MNIST", "raw"):
        for end in "", ".gz":
            if os.path.exists(os.path.join(folder, name + end)):
                return os.path.join(folder, name + end)
    try:
        from torchvision.datasets import MNIST
    except ImportError:
        sys.exit(
            "This program needs MNIST, and " + os.path.abspath(FOLDER) + " has no file " + name
            + ", plain or .gz.\nGet the files with \"halfscope-cli get mnist\" and set FOLDER, or "
            "install torchvision, which downloads them."
        )
    MNIST(FOLDER, download=True)
    return os.path.join(FOLDER, "MNIST", "raw", name)

)") + kPythonValues +
            R"(
def first_digits(start, count):
    x, target = split(path_of(start + "-images-idx3-ubyte"), path_of(start + "-labels-idx1-ubyte"))
    if count is None:
        return x, target
    chosen = torch.cat([(target == digit).nonzero()[:count, 0] for digit in range(10)])
    chosen = chosen.sort().values
    return x[chosen], target[chosen]


def samples():
    return first_digits("train", FIRST_OF_CLASS[0]), first_digits("t10k", FIRST_OF_CLASS[1])
)"};
}

PythonData mnistPython(const TaskConfig& task, int64_t) {
    if (task.path.empty()) return samplePython();
    const auto pair = [&task](Split split) {
        const SplitFiles files = filesOf(task, split);
        return "(" + lang::pythonText(files.images.path()) + ", " +
               lang::pythonText(files.labels.path()) + ")";
    };
    return {"import gzip\n", "TRAIN = " + pair(Split::Train) + "\nVALIDATION = " +
                                 pair(Split::Validation) + "\n\n" + kPythonValues + R"(
def samples():
    return split(*TRAIN), split(*VALIDATION)
)"};
}

} // namespace

extern const DataSetInfo kMnistData;
const DataSetInfo kMnistData{
    .name = "mnist",
    .about = phrase("Settings", "pictures of ten classes, as in MNIST and Fashion-MNIST"),
    .settings = {"data.path"},
    .targets = Targets::Classes,
    .validates = true,
    .fromFiles = true,
    .folders = kFolders,
    .view = ViewKind::Classes,
    .opens =
        [](const std::string& path, TaskConfig& task) {
            task.path = path;
            return !findFile(dataFolder(path), "train-images-idx3-ubyte").empty();
        },
    .facts = factsOfFiles,
    .make = [](const TaskConfig& task, uint64_t) -> std::unique_ptr<Dataset> {
        return std::make_unique<MnistData>(task);
    },
    .python = mnistPython};

} // namespace halfscope
