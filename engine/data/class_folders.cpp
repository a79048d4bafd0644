// Looks at names only, and no further than it takes.
#include "engine/data/class_folders.h"

#include "engine/data/picture_samples.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

namespace halfscope {

std::vector<std::string> classFoldersIn(const std::string& folder) {
    std::vector<std::string> folders =
        pathsIn(folder, Entries::Folders, [](const std::string&) { return true; });
    std::erase_if(folders, [](const std::string& path) { return path.ends_with("__MACOSX"); });
    return folders;
}

std::vector<std::string> namesInAll(const std::vector<std::string>& folders) {
    std::vector<std::string> common;
    for (size_t i = 0; i < folders.size(); ++i) {
        std::vector<std::string> names, both;
        for (const std::string& path : classFoldersIn(folders[i]))
            names.push_back(std::filesystem::path(path).filename().string());
        std::ranges::set_intersection(i == 0 ? names : common, names, std::back_inserter(both));
        if (both.size() < 2) return {};
        common = std::move(both);
    }
    return common;
}

} // namespace halfscope
