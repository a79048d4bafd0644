// CIFAR-10 and CIFAR-100 in their binary form: files of samples of one size, each one or two bytes
// of labels and the red, green and blue plane of a picture.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/byte_pictures.h"
#include "engine/data/new_pictures.h"
#include "engine/data/picture_samples.h"
#include "engine/io/input_file.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <utility>

namespace halfscope {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kSide = 32;
constexpr size_t kPixels = 3 * kSide * kSide;

/// The folders to which the archives unpack.
constexpr std::array<std::string_view, 2> kFolders{"cifar-10-batches-bin", "cifar-100-binary"};

/// One of the two sets.
struct CifarForm {
    std::string_view title;
    size_t least = 1; ///< so many files tell the set; others also call a file train.bin
    std::vector<std::string> train;
    std::string test, names; ///< `names`: of the file with the names of the classes
    std::vector<int> labels; ///< how many values each byte before a picture has; the last is used
    std::vector<std::string> classes; ///< without the file of names

    size_t sampleBytes() const { return labels.size() + kPixels; }
    std::vector<std::string> filesOf(Split split) const {
        return split == Split::Train ? train : std::vector{test};
    }
};

const std::array<CifarForm, 2>& forms() {
    static const std::array<CifarForm, 2> both = [] {
        constexpr int kFine = 100, kCoarse = 20;
        CifarForm hundred{"CIFAR-100",      2, {"train.bin"}, "test.bin", "fine_label_names.txt",
                          {kCoarse, kFine}, {}};
        for (int number = 0; number < kFine; ++number)
            hundred.classes.push_back(std::to_string(number));
        return std::array{CifarForm{"CIFAR-10",
                                    1,
                                    {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                     "data_batch_4.bin", "data_batch_5.bin"},
                                    "test_batch.bin",
                                    "batches.meta.txt",
                                    {10},
                                    {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog",
                                     "horse", "ship", "truck"}},
                          hundred};
    }();
    return both;
}

bool isFile(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

/// Whether a folder has enough files of a form to be meant as one.
bool hasSome(const fs::path& folder, const CifarForm& form) {
    const auto count = [&folder](const std::string& name) -> size_t {
        return isFile(folder / name) ? 1 : 0;
    };
    size_t found = count(form.test);
    for (const std::string& name : form.train)
        found += count(name);
    return found > 0 && found + count(form.names) >= form.least;
}

struct CifarFolder {
    fs::path folder;
    const CifarForm* form = nullptr;

    std::string path(const std::string& name) const { return (folder / name).string(); }
    std::vector<std::string> paths(Split split) const {
        std::vector<std::string> all;
        for (const std::string& name : form->filesOf(split))
            all.push_back(path(name));
        return all;
    }
};

/// Returns the sets in the folder itself or, when there is none, in those inside it that the
/// archives unpack to.
std::vector<CifarFolder> setsAt(const fs::path& given) {
    std::vector<CifarFolder> found;
    const auto look = [&found](const fs::path& folder) {
        for (const CifarForm& form : forms())
            if (hasSome(folder, form)) found.push_back({folder, &form});
    };
    look(given);
    if (!found.empty()) return found;
    for (const std::string_view folder : kFolders)
        look(given / folder);
    return found;
}

/// Whether the folder has the pickled files for Python, which torchvision downloads.
bool isForPython(const fs::path& given) {
    const auto hundred = [](const fs::path& folder) {
        return isFile(folder / "train") && isFile(folder / "test") && isFile(folder / "meta");
    };
    return isFile(given / "data_batch_1") || isFile(given / "cifar-10-batches-py/data_batch_1") ||
           hundred(given) || hundred(given / "cifar-100-python");
}

[[noreturn]] void refusePython(const std::string& path) {
    throw InputError(
        phrase("Data", "data.path: %1 has CIFAR in the form for Python, whose pickled files can "
                       "run code and are not opened; the binary form is read, as in "
                       "cifar-10-binary.tar.gz and cifar-100-binary.tar.gz"),
        pathText(path));
}

CifarFolder folderOf(const TaskConfig& task) {
    if (task.path.empty())
        throw InputError(phrase("Data", "data.path: missing; it must be a folder with CIFAR-10 or "
                                        "CIFAR-100 in the binary form"));
    const std::vector<CifarFolder> found = setsAt(task.path);
    if (found.empty() && isForPython(task.path)) refusePython(task.path);
    if (found.empty()) checkListed(task.path);
    if (found.empty())
        throw InputError(
            phrase("Data", "data.path: the folder %1 has no files of CIFAR in the binary form, "
                           "data_batch_1.bin to data_batch_5.bin and test_batch.bin, or train.bin "
                           "and test.bin"),
            pathText(task.path));
    if (found.size() > 1)
        throw InputError(phrase("Data", "data.path: %1 has both CIFAR-10 and CIFAR-100; it must be "
                                        "a folder that has one of them"),
                         pathText(task.path));
    const CifarFolder& one = found.front();
    for (const Split split : {Split::Train, Split::Validation})
        for (const std::string& name : one.form->filesOf(split))
            if (!isFile(one.folder / name))
                throw InputError(phrase("Data", "data.path: the folder %1 has no file %2"),
                                 pathText(one.folder.string()), name);
    return one;
}

/// Returns how many samples a file of so many bytes has.
int64_t samplesIn(const std::string& path, size_t bytes, const CifarForm& form) {
    if (bytes == 0 || bytes % form.sampleBytes() != 0)
        throw InputError(phrase("Data", "%1: a file of %2 bytes does not hold the samples of %3, "
                                        "which have %4 bytes each"),
                         pathText(path), bytes, std::string(form.title), form.sampleBytes());
    return static_cast<int64_t>(bytes / form.sampleBytes());
}

/// Returns the names of the classes, one a line.
std::vector<std::string> classNames(const CifarFolder& found) {
    const std::string path = found.path(found.form->names);
    if (!isFile(path)) return found.form->classes;
    constexpr size_t kMostBytes = 65'536;
    const std::string text = readFile(path, kMostBytes);
    std::vector<std::string> names;
    for (const std::string_view line : partsOf(text, '\n'))
        if (std::string name = onOneLine(line); !name.empty()) names.push_back(std::move(name));
    if (names.size() != found.form->classes.size())
        throw InputError(phrase("Data", "%1: %2 names of classes are not allowed: %3, one a line"),
                         pathText(path), names.size(), found.form->classes.size());
    return names;
}

DataFacts cifarFacts(const TaskConfig& task) {
    const CifarFolder found = folderOf(task);
    const Shape picture{3, kSide, kSide};
    checkPictureSettings(task, picture);
    DataFacts facts;
    facts.train = 0;
    for (const Split split : {Split::Train, Split::Validation})
        for (const std::string& path : found.paths(split))
            (split == Split::Train ? facts.train : facts.validation) +=
                samplesIn(path, static_cast<size_t>(InputFile(path).size()), *found.form);
    facts.tensors = bytePictureTensors(picture, static_cast<int64_t>(classNames(found).size()));
    facts.validation = predictedOr(task, facts.validation);
    return facts;
}

/// Throws InputError for the first label of a superclass that is none: then the file is another
/// one.
void checkCoarse(std::span<const std::byte> labels, int classes, const std::string& path) {
    for (size_t i = 0; i < labels.size(); ++i)
        if (const auto label = static_cast<int>(labels[i]); label >= classes)
            throw InputError(
                phrase("Data", "%1: sample %2 has the coarse label %3: 0 to %4 are allowed"),
                pathText(path), i, label, classes - 1);
}

/// Puts the samples of a file behind those that are there.
void readInto(BytePart& part, const std::string& path, const CifarForm& form) {
    const std::string bytes = readFile(path);
    const auto samples = static_cast<size_t>(samplesIn(path, bytes.size(), form));
    const auto* from = reinterpret_cast<const std::byte*>(bytes.data());
    std::vector<std::byte> coarse, fine;
    part.pictures.reserve(part.pictures.size() + samples * kPixels);
    for (size_t i = 0; i < samples; ++i, from += form.sampleBytes()) {
        const std::byte* pixels = from + form.labels.size();
        if (form.labels.size() > 1) coarse.push_back(*from);
        fine.push_back(pixels[-1]);
        part.pictures.insert(part.pictures.end(), pixels, pixels + kPixels);
    }
    checkCoarse(coarse, form.labels.front(), path);
    checkLabels(fine, form.labels.back(), path);
    part.labels.insert(part.labels.end(), fine.begin(), fine.end());
}

std::unique_ptr<Dataset> makeCifar(const TaskConfig& task, uint64_t seed) {
    const CifarFolder found = folderOf(task);
    BytePictures made;
    made.picture = {3, kSide, kSide};
    made.classes = classNames(found);
    for (const Split split : {Split::Train, Split::Validation})
        for (const std::string& path : found.paths(split)) {
            readInto(made.of(split), path, *found.form);
            made.files.push_back(path);
        }
    return makeBytePictures(std::move(made), task, seed);
}

PythonData cifarPython(const TaskConfig& task, int64_t) {
    const std::vector<CifarFolder> sets = setsAt(task.path);
    const CifarFolder found =
        sets.empty() ? CifarFolder{task.path, &forms().front()} : sets.front();
    const auto listed = [&found](Split split) {
        std::string paths;
        for (const std::string& path : found.paths(split))
            paths += "    " + lang::pythonText(path) + ",\n";
        return paths;
    };
    return {"",
            lang::filled(
                R"(TRAIN = [
{TRAIN}]
VALIDATION = [
{VALIDATION}]
LABELS = {LABELS}  # bytes before each picture; the last one is its class
{BLACK}

def split(paths):
    """Samples of their labels and of 32 x 32 bytes of red, of green and of blue."""
    x, target = [], []
    for path in paths:
        with open(path, "rb") as file:
            samples = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
        samples = samples.reshape(-1, LABELS + 3 * 32 * 32)
        x.append(samples[:, LABELS:].reshape(-1, 3, 32, 32).float() / 255)
        target.append(samples[:, LABELS - 1].long())
    return torch.cat(x), torch.cat(target)
)",
                {{"TRAIN", listed(Split::Train)},
                 {"VALIDATION", listed(Split::Validation)},
                 {"LABELS", std::to_string(found.form->labels.size())},
                 {"BLACK", blackPython(task)}}) +
                samplesPython(task, "split(TRAIN)", "split(VALIDATION)"),
            variedBytesPython(task)};
}

/// Whether the files are CIFAR's by more than names that other programs use, too.
bool isSurely(const CifarFolder& set) {
    if (set.form->least < 2 || isFile(set.path(set.form->names))) return true;
    std::error_code ignored;
    const auto bytes = fs::file_size(set.path(set.form->train.front()), ignored);
    return !ignored && bytes > 0 && bytes % set.form->sampleBytes() == 0;
}

bool opensCifar(const std::string& path, TaskConfig& task) {
    task.path = path;
    const std::vector<CifarFolder> found = setsAt(path);
    if (std::any_of(found.begin(), found.end(), isSurely)) return true;
    if (isForPython(path)) refusePython(path);
    return false;
}

} // namespace

extern const DataSetInfo kCifarData;
const DataSetInfo kCifarData{
    .name = "cifar",
    .title = phrase("Settings", "CIFAR"),
    .about = phrase("Settings", "small colour pictures of 10 or 100 classes, CIFAR-10 or "
                                "CIFAR-100"),
    .settings = {"data.path", "data.flip", "data.crop", "data.mean", "data.std"},
    .targets = Targets::Classes,
    .validates = true,
    .fromFiles = true,
    .fixedClasses = true,
    .folders = kFolders,
    .view = ViewKind::Classes,
    .opens = opensCifar,
    .facts = cifarFacts,
    .make = makeCifar,
    .python = cifarPython};

} // namespace halfscope
