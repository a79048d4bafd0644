// Goes up at most three folders.
#include "engine/data/data_around.h"

#include "engine/core/error.h"
#include "engine/data/class_folders.h"
#include "engine/data/dataset.h"
#include "engine/data/part_names.h"
#include "engine/data/picture_samples.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace halfscope {
namespace {

namespace fs = std::filesystem;

std::string fileNameOf(const std::string& path) { return fs::path(path).filename().string(); }

bool isPart(const fs::path& folder) {
    return partNamed(folder.filename().string()) != DataPart::None;
}

/// A folder that is refused as data, such as for another class to validate on, offers none.
bool opensAsClasses(const fs::path& folder) {
    try {
        TaskConfig task;
        return infoOf(TaskKind::Pictures).opens(folder.string(), task);
    } catch (const InputError&) {
        return false;
    }
}

/// Looks no further than the first one: a folder may have millions.
bool holdsPictures(const std::string& folder) {
    std::error_code error, ignored;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        if (isPictureName(at->path().filename().string()) && !at->is_directory(ignored))
            return true;
    return false;
}

} // namespace

bool isFileOfMnist(const std::string& path) {
    const std::string name = fileNameOf(path);
    for (const char* part : {"-idx1-ubyte", "-idx3-ubyte", ".idx1-ubyte", ".idx3-ubyte"})
        if (name.find(part) != name.npos) return true;
    return false;
}

bool isFileOfCifar(const std::string& path) {
    constexpr uintmax_t kSample = 3074; // of CIFAR-100: two labels and the pixels
    const std::string name = fileNameOf(path);
    if (!name.ends_with(".bin")) return false;
    if (name.starts_with("data_batch_") || name == "test_batch.bin") return true;
    std::error_code error;
    const uintmax_t size =
        name == "train.bin" || name == "test.bin" ? fs::file_size(path, error) : 0;
    return !error && size > 0 && size % kSample == 0;
}

std::optional<PictureClasses> classesAround(const std::string& picture) {
    std::error_code ignored;
    const fs::path ofClass = fs::absolute(picture, ignored).lexically_normal().parent_path();
    const fs::path ofAll = ofClass.parent_path();
    if (ignored || ofAll == ofClass) return std::nullopt;
    const std::vector<std::string> classes = classFoldersIn(ofAll.string());
    // folders of which some hold none may be anything, such as those in a home
    if (!std::ranges::all_of(classes, holdsPictures)) return std::nullopt;
    const fs::path above = ofAll.parent_path();
    for (const fs::path& folder : {above, ofAll})
        if ((folder == ofAll || isPart(ofAll)) && opensAsClasses(folder))
            return PictureClasses{folder.string(), classes.size()};
    return std::nullopt;
}

} // namespace halfscope
