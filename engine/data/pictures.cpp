// Pictures in folders, one folder per class, as in torchvision's ImageFolder.
#include "engine/data/pictures.h"

#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/data/class_folders.h"
#include "engine/data/class_sides.h"
#include "engine/data/part_names.h"
#include "engine/data/picture_folder.h"
#include "engine/data/picture_samples.h"
#include "engine/data/targets.h"
#include "engine/data/test_split.h"
#include "engine/data/undecoded.h"
#include "engine/io/open_folder.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace halfscope {

namespace {

namespace fs = std::filesystem;

constexpr size_t kLeastClasses = 2, kMostClasses = kMostPictureClasses;
constexpr size_t kMostFolders = 1000; // to look at before it is known that they hold classes
constexpr Phrase kNested = phrase("Data", "Pictures in folders below that of their class, which "
                                          "count as its samples: %1 of %2.");

/// Whether a picture of a class in a folder is right in the folder of its class.
bool isRightIn(const std::string& within, const PictureFile& picture) {
    const size_t start = (fs::path(within) / "").string().size();
    return std::ranges::count(std::string_view(picture.path).substr(start), '/') <= 1;
}

/// Whether the folders that would be classes are rather the parts of a data set whose pictures have
/// no classes, such as train and test1. Results of a test may be classes: test_positive.
bool arePartsWithoutClasses(const PictureFolder& found) {
    std::vector<bool> right(found.classes.size());
    for (const PictureFile& each : found.trained)
        if (isRightIn(found.train, each)) right[static_cast<size_t>(each.label)] = true;
    if (std::ranges::count(right, false) > 0) return false;
    const auto named = [&](DataPart part) {
        return std::ranges::count(found.classes, part,
                                  [](const std::string& name) { return partNamed(name); });
    };
    const auto isOneOf = [&](DataPart part) {
        return named(part) > 0 && named(part) < std::ssize(found.classes);
    };
    return named(DataPart::None) == 0 && (isOneOf(DataPart::Train) || isOneOf(DataPart::Test));
}

PictureFolder checkedFolder(const TaskConfig& task) {
    if (task.path.empty())
        throw InputError(phrase("Data", "data.path: missing; it must be a folder that has a folder "
                                        "of pictures for each class"));
    PictureFolder found = lookInto(task.path);
    if (found.error != 0) refuseUnread(found.unread, found.error);
    const size_t classes = found.classes.size();
    if (classes < kLeastClasses || classes > kMostClasses)
        throw InputError(
            phrase("Data", "data.path: %1 must have a folder of .png or .jpg pictures for each "
                           "class, %3 to %4 of them; it has %2%5"),
            pathText(found.train), classes, kLeastClasses, kMostClasses,
            found.noClasses.empty() ? Message()
                                    : Message(phrase("Data", ", and no such picture is in: %1"),
                                              someOf(found.noClasses)));
    if (arePartsWithoutClasses(found))
        throw InputError(phrase("Data", "data.path: %1 has the parts of a data set and no classes: "
                                        "%2; each part needs a folder of pictures for each class"),
                         pathText(found.train), someOf(found.classes));
    checkSampleCount(pathText(found.train), static_cast<int64_t>(found.trained.size()));
    return found;
}

std::vector<int32_t> trainedLabels(const PictureFolder& found) {
    std::vector<int32_t> labels;
    for (const PictureFile& each : found.trained)
        labels.push_back(each.label);
    return labels;
}

ClassSides sidesOf(const PictureFolder& found, const HeldBack& splits) {
    ClassSides sides(splits, trainedLabels(found), found.classes.size());
    for (const PictureFile& each : found.judged)
        ++sides.judged[static_cast<size_t>(each.label)];
    return sides;
}

/// Whether the folder for a test is used: a share of the pictures to validate on takes its place,
/// and nothing is tested where new pictures are predicted.
bool usesTest(const PictureFolder& found, const TaskConfig& task) {
    return !found.tested.empty() && !tests(task) && task.predictFile.empty();
}

/// Tells what becomes of the folder for a test, if there is one.
std::optional<Message> testNote(const PictureFolder& found, const TaskConfig& task) {
    if (!found.unknown.empty())
        return Message(phrase("Data", "The pictures in %1 are not used for a test: the class %2 is "
                                      "not among those to train on."),
                       pathText(found.test), quotedText(found.unknown));
    if (found.untested != 0)
        return Message(phrase("Data", "The pictures in %1 are not used for a test: a folder there "
                                      "cannot be read (%2)."),
                       pathText(found.test), std::generic_category().message(found.untested));
    if (found.tested.empty()) return std::nullopt;
    if (!usesTest(found, task)) return Message(kTestUnused, pathText(found.test));
    return Message(phrase("Data", "The pictures in %1, %2 of them, are kept for the test at the "
                                  "end; validation does not see them."),
                   pathText(found.test), found.tested.size());
}

/// Tells of the pictures that cannot be decoded.
std::optional<Message> undecodedIn(const PictureFolder& found, const TaskConfig& task) {
    const auto side = static_cast<int>(task.pictureSide);
    const auto pathAt = [&](size_t at) -> const std::string& {
        const std::vector<PictureFile>* part = &found.trained;
        for (const auto* next : {&found.judged, &found.tested}) {
            if (at < part->size()) break;
            at -= part->size();
            part = next;
        }
        return (*part)[at].path;
    };
    return undecodedNote({found.trained.size() + found.judged.size() + found.tested.size(),
                          [&](size_t at) {
                              std::error_code error;
                              const auto bytes = fs::file_size(pathAt(at), error);
                              return error ? size_t{0} : static_cast<size_t>(bytes);
                          },
                          [&](size_t at) {
                              return pathAt(at) + '\0' + fileStamp(pathAt(at)) + '\0' +
                                     std::to_string(side);
                          },
                          [&](size_t at) { (void)readSquare(pathAt(at), side); }},
                         task.damaged);
}

size_t nestedAmong(const std::vector<PictureFile>& pictures, const std::string& within) {
    return static_cast<size_t>(std::ranges::count_if(
        pictures, [&within](const PictureFile& each) { return !isRightIn(within, each); }));
}

/// Tells of pictures below the folders of their classes: an earlier version left them out, and the
/// classes may be meant to be further down.
void noteNested(const PictureFolder& found, std::vector<Message>& notes) {
    const size_t trained = nestedAmong(found.trained, found.train);
    const size_t nested = trained + nestedAmong(found.judged, found.validation) +
                          nestedAmong(found.tested, found.test);
    if (nested == 0) return;
    notes.push_back(
        {kNested, nested, found.trained.size() + found.judged.size() + found.tested.size()});
    if (trained < found.trained.size()) return;
    std::vector<std::string> folders;
    for (const std::string& name : found.classes)
        folders.push_back((fs::path(found.train) / name).string());
    const std::vector<std::string> names = namesInAll(folders);
    if (names.empty()) return;
    notes.push_back({phrase("Data", "No picture lies right in the folder of its class, and all of "
                                    "these hold folders of the same names, such as %1. If those "
                                    "are the classes, set data.path to %2 or another folder "
                                    "beside it."),
                     quotedText(names.front()), pathText(folders.front())});
}

std::vector<Message> notesOn(const PictureFolder& found, const TaskConfig& task,
                             const HeldBack& splits) {
    std::vector<Message> notes;
    if (task.predictFile.empty()) { // else others are judged
        TaskConfig split = task;
        if (!found.validation.empty()) split.validation = 0; // those of the folder, none held back
        notes = notesOn(sidesOf(found, splits), found.classes, split);
        if (!found.noClasses.empty())
            notes.push_back({phrase("Data", "Folders that are not classes, because no .png or .jpg "
                                            "picture is in them: %1."),
                             someOf(found.noClasses)});
        noteNested(found, notes);
        if (auto note = testNote(found, task)) notes.push_back(*std::move(note));
    }
    if (!found.others.empty())
        notes.push_back({phrase("Data", "Pictures that are left out, because only .png and .jpg "
                                        "files are read: %1, such as %2."),
                         found.others.size(), pathText(found.others.front())});
    if (task.predictFile.empty())
        if (auto note = undecodedIn(found, task)) notes.push_back(*std::move(note));
    return notes;
}

/// Splits the pictures to train on where none have a folder of their own to validate on.
HeldBack splitOf(const PictureFolder& found, const TaskConfig& task) {
    const auto samples = static_cast<int64_t>(found.trained.size());
    return found.validation.empty() ? HeldBack(samples, task, trainedLabels(found))
                                    : HeldBack(samples, 0);
}

class PictureData final : public PictureSamples {
public:
    PictureData(const TaskConfig& task, uint64_t seed) : PictureSamples(task, seed) {
        PictureFolder found = checkedFolder(task);
        m_splits = splitOf(found, task);
        m_notes = notesOn(found, task, m_splits);
        m_tensors = pictureTensors(task, static_cast<int64_t>(found.classes.size()));
        m_view = classesView(m_tensors[kTarget].classes, found.classes);
        m_files = std::move(found.trained);
        addJudged(std::move(found.judged), task); // none unless they have a folder of their own
        if (usesTest(found, task)) {
            m_tested = found.tested.size();
            addJudged(std::move(found.tested), task);
        }
        measureAndPredict(m_files.size());
    }

    /// Without those of the test: what a training depends on.
    std::vector<std::string> files() const override {
        std::vector<std::string> paths;
        for (const PictureFile& each : std::span(m_files).first(m_files.size() - m_tested))
            paths.push_back(each.path);
        return paths;
    }
    std::vector<Message> notes() const override { return m_notes; }
    int64_t ownTest() const override { return static_cast<int64_t>(m_tested); }

private:
    void addJudged(std::vector<PictureFile> files, const TaskConfig& task) {
        for (PictureFile& each : files) {
            m_splits.validation.push_back(static_cast<int32_t>(m_files.size()));
            if (stratifies(task)) m_splits.heldLabels.push_back(each.label);
            m_files.push_back(std::move(each));
        }
    }
    Picture squareOf(size_t stored, int side) const override {
        return readSquare(m_files[stored].path, side);
    }
    int32_t labelOf(size_t stored) const override { return m_files[stored].label; }
    const std::string& fileOf(size_t stored) const override { return m_files[stored].path; }

    std::vector<PictureFile> m_files;
    std::vector<Message> m_notes;
    size_t m_tested = 0; ///< how many of the files, the last ones
};

DataFacts pictureFacts(const TaskConfig& task) {
    const PictureFolder found = checkedFolder(task);
    const auto trained = static_cast<int64_t>(found.trained.size());
    const bool split = !found.validation.empty();
    const int64_t held = split ? 0 : HeldBack::count(trained, task.validation);
    const auto tested =
        usesTest(found, task) ? static_cast<int64_t>(found.tested.size()) : int64_t{0};
    DataFacts facts{
        pictureTensors(task, static_cast<int64_t>(found.classes.size())), trained - held,
        predictedOr(task, split ? static_cast<int64_t>(found.judged.size()) + tested : held),
        notesOn(found, task, splitOf(found, task))};
    facts.test = tested;
    return facts;
}

constexpr std::string_view kPythonStack =
    R"(    x = torch.stack([picture(path) for path, _ in paths])
    return x, torch.tensor([label for _, label in paths]))";
constexpr std::string_view kPythonSkipping = R"(    x, labels = [], []
    for path, label in paths:
        try:
            x.append(picture(path))
            labels.append(label)
        except (OSError, SyntaxError, ValueError) as error:  # as Pillow reports damage
            print(f"{path} is left out: {error}")
    return torch.stack(x), torch.tensor(labels))";

constexpr const char* kFolderProgram = R"(TRAIN = pathlib.Path({TRAIN})
{VALIDATION}CLASSES = [{CLASSES}]
{PICTURE}

def folders(top):
    """The folder and all below it; one to which several ways lead comes once."""
    known, found = set(), []
    for root, below, files in os.walk(top, followlinks=True):
        real = os.path.realpath(root)
        if real in known:
            below.clear()
            continue
        known.add(real)
        below[:] = sorted(name for name in below if not name.startswith("."))
        found.append((root, files))
    return sorted(found)


def pictures(folder):
    """Those in every class's folder and below it, and their classes."""
    endings = (".png", ".jpg", ".jpeg")
    paths = [
        (path, label)
        for label, name in enumerate(CLASSES)
        for root, files in folders(folder / name)
        for path in (pathlib.Path(root, file) for file in sorted(files))
        if path.suffix.lower() in endings and not path.name.startswith(".")
    ]
{STACK}


def samples():
    x, target = pictures(TRAIN)
{RETURN})";

PythonData picturePython(const TaskConfig& task, int64_t) {
    const PictureFolder found = lookInto(task.path);
    const bool split = !found.validation.empty(), tested = usesTest(found, task);
    std::string classes;
    for (const std::string& name : found.classes)
        classes += (classes.empty() ? "" : ", ") + lang::pythonText(name);
    const bool norm = normalises(task);
    const std::string held = heldBackPython(task) +
                             (norm ? "    x = normalised(x[train], x)\n" : "") +
                             "    return (x[train], target[train]), (x[held], target[held])\n";
    const char* const of = norm ? "(normalised(x, {X}), {Y})" : "({X}, {Y})";
    const auto pair = [&](const char* x, const char* y) {
        return lang::filled(of, {{"X", x}, {"Y", y}});
    };
    const std::string both = std::string("    y, labels = pictures(VALIDATION)\n") +
                             (tested ? "    z, tested = pictures(TEST)\n" : "") + "    return " +
                             pair("x", "target") + ", " + pair("y", "labels") +
                             (tested ? ", " + pair("z", "tested") : "") + "\n";
    PythonData parts = pictureParts(task);
    const auto part = [](const std::string& name, const std::string& folder) {
        return name + " = pathlib.Path(" + lang::pythonText(folder) + ")\n";
    };
    PythonData python{
        "import os\nimport pathlib\n" + parts.imports,
        lang::filled(
            kFolderProgram,
            {{"TRAIN", lang::pythonText(found.train)},
             {"VALIDATION", (split ? part("VALIDATION", found.validation) : std::string()) +
                                (tested ? part("TEST", found.test) : std::string())},
             {"CLASSES", classes},
             {"PICTURE", parts.code},
             {"STACK", std::string(task.damaged == Damaged::Skip ? kPythonSkipping : kPythonStack)},
             {"RETURN", split ? both : held}}),
        parts.varied};
    python.tests = tested;
    return python;
}

/// Whether each of `folders` has pictures right in it or in a folder there; false where there are
/// too many to look at.
bool allHavePictures(const std::vector<std::string>& folders) {
    PictureFolder within;
    within.depth = Depth::ClassFolder;
    size_t looked = 0;
    for (const std::string& folder : folders) {
        bool found = !within.picturesIn(folder).empty();
        const std::vector<std::string> below =
            found ? std::vector<std::string>() : within.foldersIn(folder);
        for (size_t i = 0; i < below.size() && !found; ++i) {
            if (++looked > kMostFolders) return false;
            found = !within.picturesIn(below[i]).empty();
        }
        if (!found) return false;
    }
    return !folders.empty();
}

/// Whether a folder looks like one for this data set. One in which only some of the folders have
/// pictures, and only further down, may be anything, such as a home; those that all hold folders of
/// the same names are rather the parts of a data set.
bool holdsClasses(const std::string& folder) {
    if (lookInto(folder, Depth::ClassFolder).classes.size() >= kLeastClasses) return true;
    const std::vector<std::string> parts = trainPartsIn(folder);
    const std::vector<std::string> folders = classFoldersIn(parts.empty() ? folder : parts.front());
    return folders.size() >= kLeastClasses && allHavePictures(folders) &&
           namesInAll(folders).empty();
}

/// Whether pictures lie further down in a folder whose only folder with pictures right in it is
/// that of one class.
bool hasDeeper(const PictureFolder& found) {
    PictureFolder within;
    within.depth = Depth::ClassFolder;
    const std::string own = (fs::path(found.train) / found.classes.front()).string();
    UnlistedFolder ignored;
    const std::vector<std::string> all = foldersFrom(found.train, ignored, kMostFolders);
    return std::ranges::any_of(all, [&](const std::string& folder) {
        return folder != found.train && !(folder + '/').starts_with(own + '/') &&
               !within.picturesIn(folder).empty();
    });
}

/// Returns the folder of classes further down, where a single folder or one to train on leads to
/// it; empty when there is none.
std::string classesBelow(std::string folder) {
    constexpr int kLevels = 3;
    for (int level = 0; level < kLevels; ++level) {
        const std::vector<std::string> folders = classFoldersIn(folder);
        const auto next = std::ranges::find_if(folders, [&](const std::string& path) {
            return folders.size() == 1 ||
                   partNamed(fs::path(path).filename().string()) == DataPart::Train;
        });
        if (next == folders.end()) return {};
        folder = *next;
        if (holdsClasses(folder)) return folder;
    }
    return {};
}

/// Says what helps where folders are rather the parts of a data set than its classes.
Message partsNotClasses(const std::string& folder, const std::vector<std::string>& folders,
                        const std::string& name) {
    const auto trains = std::ranges::find_if(folders, [](const std::string& path) {
        return lowerCase(fs::path(path).filename().string()).find("train") != std::string::npos;
    });
    return {phrase("Data", "%1: the folders in it all hold folders of the same names, such as %2; "
                           "if those are the classes, open one of the folders, such as %3, else "
                           "set data.kind to pictures and data.path to %1"),
            pathText(folder), quotedText(name),
            pathText(trains == folders.end() ? folders.front() : *trains)};
}

} // namespace

bool tellsNested(const Message& note) { return note.format() == kNested; }

Message otherFormats(const std::string& folder, const std::string& picture) {
    return {phrase("Data", "%1: only .png and .jpg pictures are read, not such as %2; an image "
                           "program can save them so"),
            pathText(folder), pathText(picture)};
}

Message unusualPictures(const std::string& folder) {
    const PictureFolder found = lookInto(folder, Depth::ClassFolder);
    if (!found.others.empty()) return otherFormats(folder, found.others.front());
    if (found.classes.size() == 1 && hasDeeper(found))
        return {phrase("Data", "%1: only %2 has pictures right in it; to train on those further "
                               "down, too, set data.kind to pictures and data.path to %1"),
                pathText(folder), pathText(found.classes.front())};
    if (found.classes.size() == 1)
        return {phrase("Data", "%1: its pictures are all in one folder, %2; there must be one for "
                               "each class, at least %3"),
                pathText(folder), pathText(found.classes.front()), kLeastClasses};
    const std::vector<std::string> folders = classFoldersIn(folder);
    const bool all = allHavePictures(folders);
    if (all && folders.size() != 1) {
        const std::vector<std::string> names = namesInAll(folders);
        return names.empty() ? Message() : partsNotClasses(folder, folders, names.front());
    }
    const std::string below = all ? folders.front() : classesBelow(folder);
    if (!below.empty())
        return {
            phrase("Data", "%1: it holds no pictures of classes itself; open the folder %2 in it"),
            pathText(folder), pathText(below)};
    const std::vector<std::string> classes =
        classesInNames(pathsIn(folder, Entries::NotFolders, isPictureName));
    if (classes.empty()) return {};
    return {phrase("Data", "%1: its pictures are in no folders; each class needs one, such as %2, "
                           "whatever the names of the pictures tell"),
            pathText(folder), pathText(classes.front())};
}

extern const DataSetInfo kPictureData;
const DataSetInfo kPictureData{
    .name = "pictures",
    .title = phrase("Settings", "Folders of pictures"),
    .about = phrase("Settings", "pictures of classes, in a folder each"),
    .settings = {"data.path", "data.side", "data.grey", "data.flip", "data.crop", "data.mean",
                 "data.std", "data.damaged", "data.validation", "data.stratify"},
    .targets = Targets::Classes,
    .validates = true,
    .fromFiles = true,
    .view = ViewKind::Classes,
    .opens =
        [](const std::string& path, TaskConfig& task) {
            std::error_code ignored;
            task.path = path;
            return fs::is_directory(path, ignored) && holdsClasses(path);
        },
    .facts = pictureFacts,
    .make = [](const TaskConfig& task, uint64_t seed) -> std::unique_ptr<Dataset> {
        return std::make_unique<PictureData>(task, seed);
    },
    .python = picturePython};

} // namespace halfscope
