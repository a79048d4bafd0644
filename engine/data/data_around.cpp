// Goes up at most three folders.
#include "engine/data/data_around.h"

#include "engine/core/text.h"
#include "engine/data/class_folders.h"
#include "engine/data/dataset.h"

#include <filesystem>
#include <system_error>

namespace halfscope {
namespace {

namespace fs = std::filesystem;

std::string fileNameOf(const std::string& path) { return fs::path(path).filename().string(); }

/// Whether a folder is called after a part of a data set, such as train or val.
bool isPart(const fs::path& folder) {
    const std::string name = lowerCase(folder.filename().string());
    return name.find("train") != name.npos || name.starts_with("val") || name.starts_with("test");
}

bool opensAsClasses(const fs::path& folder) {
    TaskConfig task;
    return infoOf(TaskKind::Pictures).opens(folder.string(), task);
}

} // namespace

bool isFileOfMnist(const std::string& path) {
    const std::string name = fileNameOf(path);
    for (const char* part : {"-idx1-ubyte", "-idx3-ubyte", ".idx1-ubyte", ".idx3-ubyte"})
        if (name.find(part) != name.npos) return true;
    return false;
}

bool isFileOfCifar(const std::string& path) {
    const std::string name = fileNameOf(path);
    return name.ends_with(".bin") && (name.starts_with("data_batch_") || name == "test_batch.bin");
}

std::optional<PictureClasses> classesAround(const std::string& picture) {
    std::error_code ignored;
    const fs::path ofClass = fs::absolute(picture, ignored).lexically_normal().parent_path();
    const fs::path ofAll = ofClass.parent_path();
    if (ignored || ofAll == ofClass) return std::nullopt;
    const size_t classes = classFoldersIn(ofAll.string()).size();
    const fs::path above = ofAll.parent_path();
    for (const fs::path& folder : {above, ofAll})
        if ((folder == ofAll || isPart(ofAll)) && opensAsClasses(folder))
            return PictureClasses{folder.string(), classes};
    return std::nullopt;
}

} // namespace halfscope
