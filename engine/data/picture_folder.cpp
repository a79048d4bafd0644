// Goes by the names of folders: parts first, then classes.
#include "engine/data/picture_folder.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/picture_samples.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

namespace halfscope {

namespace {

namespace fs = std::filesystem;

using PartNames = std::array<std::string_view, 3>; // in any case
constexpr PartNames kTrainParts{"train", "training", "training_set"};
constexpr PartNames kValidationParts{"val", "valid", "validation"};
constexpr PartNames kTestParts{"test", "testing", "test_set"}; // to validate on where no other is

/// Reads the classes; folders without pictures are not classes.
void readTrained(PictureFolder& found) {
    found.noClasses.clear(); // those of a folder that was looked into before
    for (const std::string& folder : found.foldersIn(found.train)) {
        if (found.classes.size() > size_t{kMostPictureClasses}) return; // too many in any case
        const std::vector<std::string> paths = found.picturesIn(folder);
        std::string name = fs::path(folder).filename().string();
        if (paths.empty()) {
            const bool ofArchiver = name == "__MACOSX"; // no user's folder
            if (!ofArchiver) found.noClasses.push_back(std::move(name));
            continue;
        }
        const auto label = static_cast<int32_t>(found.classes.size());
        found.classes.push_back(std::move(name));
        for (const std::string& path : paths)
            found.trained.push_back({path, label});
    }
}

/// Returns the pictures of the classes to train on in another folder; sets `unknown` to the first
/// class that is none of them.
std::vector<PictureFile> readOthers(PictureFolder& found, const std::string& within,
                                    std::string& unknown) {
    std::vector<PictureFile> others;
    for (const std::string& folder : found.foldersIn(within)) {
        const std::vector<std::string> paths = found.picturesIn(folder);
        if (paths.empty()) continue;
        const std::string name = fs::path(folder).filename().string();
        const auto known = std::find(found.classes.begin(), found.classes.end(), name);
        if (known == found.classes.end()) {
            unknown = name;
            return others;
        }
        for (const std::string& path : paths)
            others.push_back({path, static_cast<int32_t>(known - found.classes.begin())});
    }
    return others;
}

void readJudged(PictureFolder& found) {
    std::string unknown;
    found.judged = readOthers(found, found.validation, unknown);
    if (!unknown.empty())
        throw InputError(phrase("Data", "%1: the class %2 is not among those to train on, in %3"),
                         pathText(found.validation), quotedText(unknown), pathText(found.train));
}

/// Reads what is to be tested. Its classes may be others, as where they are to be found out.
void readTested(PictureFolder& found, const std::string& folder) {
    found.test = folder;
    found.tested = readOthers(found, folder, found.unknown);
    if (found.error != 0) found.untested = std::exchange(found.error, 0);
    if (!found.unknown.empty() || found.untested != 0) found.tested.clear();
}

/// Returns the folders with such names, in the order of the names.
std::vector<std::string> partsAmong(const std::vector<std::string>& folders,
                                    const PartNames& names) {
    std::vector<std::string> parts;
    for (const std::string_view name : names)
        for (const std::string& folder : folders)
            if (lowerCase(fs::path(folder).filename().string()) == name) parts.push_back(folder);
    return parts;
}

/// Looks into a folder that has other folders for training and perhaps for validation and a test.
PictureFolder lookIntoParts(const std::string& folder, Depth depth) {
    PictureFolder found;
    found.depth = depth;
    const std::vector<std::string> inside = PictureFolder().foldersIn(folder);
    for (const std::string& part : partsAmong(inside, kTrainParts)) {
        found.train = part;
        readTrained(found);
        if (!found.classes.empty()) break;
    }
    if (found.classes.empty()) return found;
    const std::vector<std::string> tests = partsAmong(inside, kTestParts);
    std::vector<std::string> others = partsAmong(inside, kValidationParts);
    const size_t own = others.size(); // for validation alone
    others.insert(others.end(), tests.begin(), tests.end());
    for (size_t i = 0; i < others.size(); ++i) {
        found.validation = others[i];
        readJudged(found);
        if (found.judged.empty()) continue;
        // a folder that cannot be listed is refused, so that the test's alone is told of
        if (i < own && !tests.empty() && found.error == 0) readTested(found, tests.front());
        return found;
    }
    found.validation.clear(); // none has classes, so a share of the others is held back
    return found;
}

} // namespace

std::vector<std::string> PictureFolder::entriesOf(const std::string& folder, Entries kind,
                                                  bool (*wanted)(const std::string& name)) {
    int failed = 0;
    std::vector<std::string> paths = pathsIn(folder, kind, wanted, &failed);
    if (failed != 0 && error == 0) {
        unread = folder;
        error = failed;
    }
    return paths;
}

std::vector<std::string> PictureFolder::picturesIn(const std::string& folder) {
    std::vector<std::string> paths, folders{folder};
    if (depth == Depth::Whole) folders = folderAndBelow(folder);
    for (const std::string& each : folders) {
        const std::vector<std::string> here =
            entriesOf(each, Entries::NotFolders, [](const std::string& name) {
                return isPictureName(name) || isOtherPictureName(name);
            });
        for (const std::string& path : here)
            (isPictureName(path) ? paths : others).push_back(path);
    }
    return paths;
}

std::vector<std::string> PictureFolder::foldersIn(const std::string& folder) {
    return entriesOf(folder, Entries::Folders, [](const std::string&) { return true; });
}

std::vector<std::string> PictureFolder::folderAndBelow(const std::string& folder) {
    UnlistedFolder unlisted;
    std::vector<std::string> all = foldersFrom(folder, unlisted);
    if (unlisted.error != 0 && error == 0) {
        unread = unlisted.path;
        error = unlisted.error;
    }
    return all;
}

std::vector<std::string> trainPartsIn(const std::string& folder) {
    return partsAmong(PictureFolder().foldersIn(folder), kTrainParts);
}

PictureFolder lookInto(const std::string& path, Depth depth) {
    PictureFolder found = lookIntoParts(path, depth);
    if (!found.classes.empty() || found.error != 0) return found;
    found = {};
    found.depth = depth;
    found.train = path;
    readTrained(found);
    return found;
}

} // namespace halfscope
