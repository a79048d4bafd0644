// Looks at names only.
#include "engine/data/new_pictures.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/held_back.h"
#include "engine/data/picture_samples.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace halfscope {

namespace {

namespace fs = std::filesystem;

/// Finds the pictures in a folder and below it, as data.kind pictures finds those of a class.
std::vector<std::string> picturesFrom(const std::string& folder) {
    std::vector<std::string> paths;
    UnlistedFolder unlisted;
    const auto check = [&unlisted] {
        if (unlisted.error != 0)
            throw InputError(phrase("Data", "%1 cannot be read: %2"), pathText(unlisted.path),
                             reasonOf(unlisted.error));
    };
    const std::vector<std::string> folders = foldersFrom(folder, unlisted);
    check();
    for (const std::string& each : folders) {
        const std::vector<std::string> here =
            pathsIn(each, Entries::NotFolders, isPictureName, &unlisted.error);
        unlisted.path = each;
        check();
        paths.insert(paths.end(), here.begin(), here.end());
    }
    std::ranges::sort(paths);
    return paths;
}

} // namespace

NewPictures newPicturesAt(const std::string& path) {
    std::error_code ignored;
    NewPictures found;
    if (fs::is_directory(path, ignored)) {
        found.paths = picturesFrom(path);
        if (found.paths.empty())
            throw InputError(phrase("Data", "%1: there are no .png or .jpg pictures in the folder "
                                            "or in the folders below it"),
                             pathText(path));
        checkSampleCount(pathText(path), static_cast<int64_t>(found.paths.size()));
        for (const std::string& each : found.paths)
            found.names.push_back(fs::path(each).lexically_relative(path).generic_string());
        return found;
    }
    if (!fs::exists(path, ignored))
        throw InputError(phrase("Data", "%1 cannot be read: %2"), pathText(path), reasonOf(ENOENT));
    if (!isPictureName(path))
        throw InputError(phrase("Data", "%1 is not allowed: a .png or .jpg picture, or a folder of "
                                        "such pictures"),
                         pathText(path));
    return {{path}, {fs::path(path).filename().string()}};
}

int64_t predictedOr(const TaskConfig& task, int64_t validation) {
    if (task.predictFile.empty()) return validation;
    return static_cast<int64_t>(newPicturesAt(task.predictFile).paths.size());
}

} // namespace halfscope
