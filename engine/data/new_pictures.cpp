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

constexpr int kDeepest = 2; // folders below the one that was chosen, as in test/cat/1.png

void addFrom(const std::string& folder, int depth, std::vector<std::string>& paths) {
    int error = 0;
    const auto add = [&](Entries kind, bool (*wanted)(const std::string&)) {
        std::vector<std::string> found = pathsIn(folder, kind, wanted, &error);
        if (error != 0)
            throw InputError(phrase("Data", "%1 cannot be read: %2"), pathText(folder),
                             reasonOf(error));
        return found;
    };
    const std::vector<std::string> found = add(Entries::NotFolders, isPictureName);
    paths.insert(paths.end(), found.begin(), found.end());
    if (depth == kDeepest) return;
    for (const std::string& each : add(Entries::Folders, [](const std::string&) { return true; }))
        addFrom(each, depth + 1, paths);
}

} // namespace

NewPictures newPicturesAt(const std::string& path) {
    std::error_code ignored;
    NewPictures found;
    if (fs::is_directory(path, ignored)) {
        addFrom(path, 0, found.paths);
        std::sort(found.paths.begin(), found.paths.end());
        if (found.paths.empty())
            throw InputError(phrase("Data", "%1: there are no .png or .jpg pictures in the folder "
                                            "or in the folders in it"),
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
