// What lies in a folder of pictures that has a folder for each class, by names alone.
#pragma once

#include "engine/io/open_folder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace halfscope {

struct PictureFile {
    std::string path;
    int32_t label = 0;
};

/// Where the pictures of a class may lie: also in the folders below its own one, or not.
enum class Depth : uint8_t { Whole, ClassFolder };

struct PictureFolder {
    std::string train, validation; ///< `validation` is empty when samples are held back
    std::string test;              ///< empty unless it is there beside `validation`
    std::vector<std::string> classes;
    std::vector<PictureFile> trained, judged;
    std::vector<PictureFile> tested; ///< once, at the end of a run
    std::string unknown;             ///< a class of `test` that is not trained on: none are tested
    int untested = 0;                ///< why a folder in `test` cannot be listed: none are tested
    std::string unread; ///< the first folder that cannot be listed; its class would be missing
    int error = 0;      ///< the reason, as from namesIn()
    std::vector<std::string> others;    ///< pictures in formats that are not read
    std::vector<std::string> noClasses; ///< names of folders in `train` without pictures to read
    Depth depth = Depth::Whole;

    /// Return the sorted paths of what is `wanted`, of pictures and of folders in a folder. The
    /// first folder that cannot be listed sets `unread` and `error`. Pictures come folder by folder
    /// in the order of the folders' paths, as torchvision has them.
    std::vector<std::string> entriesOf(const std::string& folder, Entries kind,
                                       bool (*wanted)(const std::string& name));
    std::vector<std::string> picturesIn(const std::string& folder);
    std::vector<std::string> foldersIn(const std::string& folder);

private:
    std::vector<std::string> folderAndBelow(const std::string& folder);
};

/// Returns the folders in a folder that are called as one to train on is: "train", "Training".
std::vector<std::string> trainPartsIn(const std::string& folder);
/// Looks at names only and opens no picture. A folder that cannot be listed counts as empty.
/// Throws InputError for a folder to validate on that has another class than those to train on.
PictureFolder lookInto(const std::string& path, Depth depth = Depth::Whole);

} // namespace halfscope
