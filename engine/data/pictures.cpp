// Pictures in folders, one folder for each class, as torchvision's ImageFolder takes them.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/stored_data.h"
#include "engine/io/picture.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <mutex>

namespace halfscope {

namespace {

namespace fs = std::filesystem;

constexpr size_t kLeastClasses = 2, kMostClasses = 10'000;
constexpr size_t kMostKept = size_t{512} << 20; // bytes of decoded pictures

struct PictureFile {
    std::string path;
    int32_t label = 0;
};

struct PictureFolder {
    std::string train, validation; ///< the second one is empty where samples are held back
    std::vector<std::string> classes;
    std::vector<PictureFile> trained, judged;
};

bool isPicture(const fs::path& path) {
    std::string end = path.extension().string();
    std::transform(end.begin(), end.end(), end.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return end == ".png" || end == ".jpg" || end == ".jpeg";
}

/// Sorted; what cannot be looked at is not there.
std::vector<std::string> foldersIn(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        checkCancelled();
        const std::string name = at->path().filename().string();
        std::error_code ignored;
        if (!name.starts_with('.') && at->is_directory(ignored)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// Those that lie in it directly.
std::vector<std::string> picturesIn(const fs::path& folder) {
    std::vector<std::string> paths;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        checkCancelled();
        std::error_code ignored;
        if (isPicture(at->path()) && at->is_regular_file(ignored))
            paths.push_back(at->path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

/// Folders without pictures are no classes.
void readTrained(PictureFolder& found) {
    for (const std::string& name : foldersIn(found.train)) {
        if (found.classes.size() > kMostClasses) return; // too many anyway
        const std::vector<std::string> paths = picturesIn(fs::path(found.train) / name);
        if (paths.empty()) continue;
        const auto label = static_cast<int32_t>(found.classes.size());
        found.classes.push_back(name);
        for (const std::string& path : paths)
            found.trained.push_back({path, label});
    }
}

void readJudged(PictureFolder& found) {
    for (const std::string& name : foldersIn(found.validation)) {
        const std::vector<std::string> paths = picturesIn(fs::path(found.validation) / name);
        if (paths.empty()) continue;
        const auto known = std::find(found.classes.begin(), found.classes.end(), name);
        if (known == found.classes.end())
            throw InputError(
                phrase("Data", "%1: the class %2 is not among those to train on, in %3"),
                pathText(found.validation), quotedText(name), pathText(found.train));
        for (const std::string& path : paths)
            found.judged.push_back({path, static_cast<int32_t>(known - found.classes.begin())});
    }
}

/// Of a folder that has other folders for training and, perhaps, for validation.
PictureFolder lookIntoParts(const fs::path& folder) {
    PictureFolder found;
    for (const char* name : {"train", "training"}) {
        found.train = (folder / name).string();
        readTrained(found);
        if (!found.classes.empty()) break;
    }
    if (found.classes.empty()) return found;
    for (const char* name : {"val", "valid", "validation", "test"}) {
        found.validation = (folder / name).string();
        readJudged(found);
        if (!found.judged.empty()) return found;
    }
    found.validation.clear(); // none has classes: a share of the others is held back
    return found;
}

/// By names alone: no picture is opened.
PictureFolder lookInto(const std::string& path) {
    PictureFolder found = lookIntoParts(path);
    if (!found.classes.empty()) return found;
    found = {};
    found.train = path;
    readTrained(found);
    return found;
}

PictureFolder checkedFolder(const TaskConfig& task) {
    if (task.path.empty())
        throw InputError(phrase("Data", "data.path: missing; it must be a folder that has a folder "
                                        "of pictures for each class"));
    PictureFolder found = lookInto(task.path);
    const size_t classes = found.classes.size();
    if (classes < kLeastClasses || classes > kMostClasses)
        throw InputError(phrase("Data", "data.path: %1 has %2 folders of .png or .jpg pictures; it "
                                        "must have one for each class, %3 to %4"),
                         pathText(found.train), classes, kLeastClasses, kMostClasses);
    checkSampleCount(pathText(found.train), static_cast<int64_t>(found.trained.size()));
    return found;
}

int channelsOf(const TaskConfig& task) { return task.grey ? 1 : 3; }

std::vector<TensorSpec> tensorsOf(const TaskConfig& task, size_t classes) {
    const int64_t side = task.pictureSide;
    return {TensorSpec{"x", {channelsOf(task), side, side}},
            TensorSpec{"target", {}, DType::I32, static_cast<int64_t>(classes)}};
}

/// Planes of bytes, as a file would hold the small picture: the same whether it is kept or not.
std::vector<uint8_t> decoded(const std::string& path, int side, int channels) {
    const Picture picture = readSquare(path, side);
    const auto pixels = static_cast<size_t>(side) * static_cast<size_t>(side);
    std::vector<uint8_t> bytes(pixels * static_cast<size_t>(channels));
    const auto byteOf = [](float value) {
        return static_cast<uint8_t>(std::lround(255 * std::clamp(value, 0.0f, 1.0f)));
    };
    for (size_t pixel = 0; pixel < pixels; ++pixel) {
        const float* from = picture.values.data() + pixel * static_cast<size_t>(picture.channels);
        if (channels == 1 && picture.channels == 3) { // luma, as ITU-R BT.601 weighs it
            bytes[pixel] = byteOf(0.299f * from[0] + 0.587f * from[1] + 0.114f * from[2]);
            continue;
        }
        for (size_t c = 0; c < static_cast<size_t>(channels); ++c)
            bytes[c * pixels + pixel] = byteOf(from[picture.channels == 3 ? c : 0]);
    }
    return bytes;
}

class PictureData final : public StoredData {
public:
    explicit PictureData(const TaskConfig& task)
        : m_side(static_cast<int>(task.pictureSide)), m_channels(channelsOf(task)) {
        PictureFolder found = checkedFolder(task);
        m_tensors = tensorsOf(task, found.classes.size());
        m_view = classesView(m_tensors[kTarget].classes, found.classes);
        m_files = std::move(found.trained);
        const auto trained = static_cast<int64_t>(m_files.size());
        if (found.validation.empty()) {
            m_splits = HeldBack(trained, task.validation);
        } else {
            m_files.insert(m_files.end(), found.judged.begin(), found.judged.end());
            m_splits = HeldBack(trained, 0);
            for (int64_t i = trained; i < static_cast<int64_t>(m_files.size()); ++i)
                m_splits.validation.push_back(static_cast<int32_t>(i));
        }
        m_kept.resize(m_files.size());
    }

private:
    void readStored(int32_t stored, const SamplePlace& place) const override {
        const auto file = static_cast<size_t>(stored);
        fill(place.floats(kX), file);
        place.label() = m_files[file].label;
    }

    void fill(std::span<float> to, size_t file) const {
        const auto put = [to](const std::vector<uint8_t>& bytes) {
            for (size_t i = 0; i < to.size(); ++i)
                to[i] = static_cast<float>(bytes[i]) / 255;
        };
        if (const std::vector<uint8_t>* kept = keptOf(file)) return put(*kept);
        std::vector<uint8_t> bytes = decoded(m_files[file].path, m_side, m_channels);
        put(bytes);
        const std::lock_guard lock(m_mutex);
        if (!m_kept[file].empty() || m_keptBytes + bytes.size() > kMostKept) return;
        m_keptBytes += bytes.size();
        m_kept[file] = std::move(bytes);
    }

    /// What is kept stays as it is, so that it can be read without the lock.
    const std::vector<uint8_t>* keptOf(size_t file) const {
        const std::lock_guard lock(m_mutex);
        return m_kept[file].empty() ? nullptr : &m_kept[file];
    }

    int m_side, m_channels;
    std::vector<PictureFile> m_files;
    mutable std::mutex m_mutex;
    mutable std::vector<std::vector<uint8_t>> m_kept; ///< decoded, by file; empty: not yet
    mutable size_t m_keptBytes = 0;
};

DataFacts pictureFacts(const TaskConfig& task) {
    const PictureFolder found = checkedFolder(task);
    const auto trained = static_cast<int64_t>(found.trained.size());
    const bool split = !found.validation.empty();
    const int64_t held = split ? 0 : HeldBack::count(trained, task.validation);
    return {tensorsOf(task, found.classes.size()), trained - held,
            split ? static_cast<int64_t>(found.judged.size()) : held};
}

PythonData picturePython(const TaskConfig& task, int64_t) {
    const PictureFolder found = lookInto(task.path);
    const bool split = !found.validation.empty();
    std::string classes;
    for (const std::string& name : found.classes)
        classes += (classes.empty() ? "" : ", ") + lang::pythonText(name);
    const std::string held = heldBackPython(task.validation) +
                             "    return (x[train], target[train]), (x[held], target[held])\n";
    return {"import numpy\nimport pathlib\nfrom PIL import Image, ImageOps\n",
            lang::filled(
                R"(TRAIN = pathlib.Path({TRAIN})
{VALIDATION}SIDE = {SIDE}
CLASSES = [{CLASSES}]


def picture(path):
    """Its centre square, on white where it is transparent."""
    image = Image.open(path).convert("RGBA")
    image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    image = ImageOps.fit(image.convert("{MODE}"), (SIDE, SIDE))
    return torch.from_numpy(numpy.array(image)).reshape(SIDE, SIDE, -1).permute(2, 0, 1) / 255


def pictures(folder):
    """Those of every class, one folder each, and their classes."""
    endings = (".png", ".jpg", ".jpeg")
    paths = [
        (path, label)
        for label, name in enumerate(CLASSES)
        if (folder / name).is_dir()
        for path in sorted((folder / name).iterdir())
        if path.suffix.lower() in endings
    ]
    x = torch.stack([picture(path) for path, _ in paths])
    return x, torch.tensor([label for _, label in paths])


def samples():
    x, target = pictures(TRAIN)
{RETURN})",
                {{"TRAIN", lang::pythonText(found.train)},
                 {"VALIDATION",
                  split ? "VALIDATION = pathlib.Path(" + lang::pythonText(found.validation) + ")\n"
                        : std::string()},
                 {"SIDE", numberText(task.pictureSide)},
                 {"CLASSES", classes},
                 {"MODE", task.grey ? "L" : "RGB"},
                 {"RETURN", split ? "    return (x, target), pictures(VALIDATION)\n" : held}})};
}

} // namespace

extern const DataSetInfo kPictureData;
const DataSetInfo kPictureData{
    .name = "pictures",
    .about = phrase("Settings", "pictures of classes, in a folder each"),
    .settings = {"data.path", "data.side", "data.grey", "data.validation"},
    .targets = Targets::Classes,
    .validates = true,
    .fromFiles = true,
    .view = ViewKind::Classes,
    .opens =
        [](const std::string& path, TaskConfig& task) {
            std::error_code ignored;
            task.path = path;
            return fs::is_directory(path, ignored) &&
                   lookInto(path).classes.size() >= kLeastClasses;
        },
    .facts = pictureFacts,
    .make = [](const TaskConfig& task, uint64_t) -> std::unique_ptr<Dataset> {
        return std::make_unique<PictureData>(task);
    },
    .python = picturePython};

} // namespace halfscope
