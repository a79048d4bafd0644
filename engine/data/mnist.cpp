// MNIST, Fashion-MNIST and other sets in their four files: pictures of ten classes and their
// labels, in IDX, plain or gzipped. Without a folder, it is the sample that comes with the program.
#include "engine/core/error.h"
#include "engine/core/sha256.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/data/byte_pictures.h"
#include "engine/data/new_pictures.h"
#include "engine/data/picture_samples.h"
#include "engine/data/shipped_data.h"
#include "engine/io/idx.h"
#include "engine/lang/python.h"

#include <array>
#include <filesystem>
#include <vector>

namespace halfscope {

namespace {

constexpr int64_t kClasses = 10;
/// The folders in which torchvision puts the files.
constexpr std::array<std::string_view, 3> kFolders{"MNIST/raw", "FashionMNIST/raw", "raw"};
constexpr std::array<const char*, 4> kFiles{"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                            "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

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

/// Returns the path of one of the files under any of its usual names; empty when there is none.
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
    if (!findFile(given, kFiles[0]).empty()) return given;
    for (const std::string_view inside : kFolders)
        if (!findFile(given / inside, kFiles[0]).empty()) return given / inside;
    return given;
}

std::string fileIn(const std::filesystem::path& folder, const std::string& name) {
    std::string found = findFile(folder, name);
    if (!found.empty()) return found;
    checkListed(folder.string()); // the better reason
    std::vector<std::string> missing;
    for (const char* each : kFiles)
        if (findFile(folder, each).empty()) missing.emplace_back(each);
    throw InputError(missing.size() == 1
                         ? phrase("Data", "data.path: the folder %1 has no file %2, plain or .gz")
                         : phrase("Data", "data.path: the folder %1 has no files %2, plain or .gz"),
                     pathText(folder.string()), someOf(missing));
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
    checkPictureSettings(task, picture);
    facts.tensors = bytePictureTensors(picture, kClasses);
    facts.validation = predictedOr(task, facts.validation);
    return facts;
}

/// The SHA-256 of the labels of t10k-labels-idx1-ubyte of Fashion-MNIST, a byte for each.
constexpr std::string_view kFashionLabels =
    "3d0e6c6ea990b53b6f8f500a41cac93881d981b315f84578b7d915342ade01e9";

/// MNIST and Fashion-MNIST have files of the same names. The labels to validate on tell which it
/// is; of a part of the set, the path does.
std::vector<std::string> classNames(const TaskConfig& task, std::span<const std::byte> held) {
    const std::string_view labels(reinterpret_cast<const char*>(held.data()), held.size());
    if (sha256(labels) == kFashionLabels ||
        lowerCase(task.path).find("fashion") != std::string::npos)
        return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
    return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
}

std::unique_ptr<Dataset> makeMnist(const TaskConfig& task, uint64_t seed) {
    BytePictures made;
    for (const Split split : {Split::Train, Split::Validation}) {
        const SplitFiles files = filesOf(task, split);
        if (!task.path.empty()) // else the digits come with the program
            made.files.insert(made.files.end(), {files.images.path(), files.labels.path()});
        Array images = files.images.read(), labels = files.labels.read();
        const Shape shape = pictureShape(files, images.info, labels.info);
        checkLabels(labels.bytes, kClasses, files.labels.path());
        if (split == Split::Train)
            made.picture = shape;
        else
            checkSameShape(made.picture, shape, files);
        made.of(split) = {std::move(images.bytes), std::move(labels.bytes)};
    }
    made.classes = classNames(task, made.of(Split::Validation).labels);
    return makeBytePictures(std::move(made), task, seed);
}

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
PythonData samplePython(const TaskConfig& task) {
    return {
        "import gzip\nimport os\n",
        blackPython(task) +
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

        MNIST(FOLDER, download=True)
    except (ImportError, OSError, RuntimeError) as error:
        sys.exit(
            "This program needs MNIST, and " + os.path.abspath(FOLDER) + " has no file " + name
            + ", plain or .gz.\nGet the files with \"halfscope-cli get mnist\" and set FOLDER, or "
            f"install torchvision, which downloads them ({error})."
        )
    return os.path.join(FOLDER, "MNIST", "raw", name)

)" + kPythonValues +
            R"(

def first_digits(start, count):
    x, target = split(path_of(start + "-images-idx3-ubyte"), path_of(start + "-labels-idx1-ubyte"))
    if count is None:
        return x, target
    chosen = torch.cat([(target == digit).nonzero()[:count, 0] for digit in range(10)])
    chosen = chosen.sort().values
    return x[chosen], target[chosen]
)" +
            samplesPython(task, "first_digits(\"train\", FIRST_OF_CLASS[0])",
                          "first_digits(\"t10k\", FIRST_OF_CLASS[1])"),
        variedBytesPython(task)};
}

PythonData mnistPython(const TaskConfig& task, int64_t) {
    if (task.path.empty()) return samplePython(task);
    const auto pair = [&task](Split split) {
        const SplitFiles files = filesOf(task, split);
        return "(" + lang::pythonText(files.images.path()) + ", " +
               lang::pythonText(files.labels.path()) + ")";
    };
    return {"import gzip\n",
            "TRAIN = " + pair(Split::Train) + "\nVALIDATION = " + pair(Split::Validation) + "\n" +
                blackPython(task) + "\n" + kPythonValues +
                samplesPython(task, "split(*TRAIN)", "split(*VALIDATION)"),
            variedBytesPython(task)};
}

} // namespace

extern const DataSetInfo kMnistData;
const DataSetInfo kMnistData{
    .name = "mnist",
    .title = phrase("Settings", "Digits or clothes"),
    .about = phrase("Settings", "pictures of ten classes, as in MNIST and Fashion-MNIST"),
    .settings = {"data.path", "data.flip", "data.crop", "data.mean", "data.std"},
    .targets = Targets::Classes,
    .validates = true,
    .fromFiles = true,
    .fixedClasses = true,
    .folders = kFolders,
    .view = ViewKind::Classes,
    .opens =
        [](const std::string& path, TaskConfig& task) {
            task.path = path;
            return !findFile(dataFolder(path), kFiles[0]).empty();
        },
    .facts = factsOfFiles,
    .make = makeMnist,
    .python = mnistPython};

} // namespace halfscope
