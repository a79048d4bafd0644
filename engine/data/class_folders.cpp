// Looks at names only, and no further than it takes.
#include "engine/data/class_folders.h"

#include "engine/data/picture_samples.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
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

std::vector<std::string> classesInNames(const std::vector<std::string>& pictures) {
    constexpr size_t kMost = 100; // more are hardly classes
    constexpr std::string_view kEnds = "._-", kDigits = "0123456789";
    std::set<std::string> classes;
    for (const std::string& path : pictures) {
        const std::string name = std::filesystem::path(path).filename().string();
        const size_t end = name.find_first_of(kEnds);
        const bool numbered = end != name.npos && end > 0 && end + 1 < name.size() &&
                              name.find_first_of(kDigits) > end &&
                              kDigits.find(name[end + 1]) != kDigits.npos;
        if (!numbered || classes.size() > kMost) return {};
        classes.insert(name.substr(0, end));
    }
    if (classes.size() < 2 || classes.size() > kMost || 2 * classes.size() > pictures.size())
        return {};
    return {classes.begin(), classes.end()};
}

} // namespace halfscope
