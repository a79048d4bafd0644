// The data that a file belongs to which its user may have chosen in place of them. Reads no files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace halfscope {

/// Whether a file is, by its name, one of the four of MNIST, or one of CIFAR: each set is opened as
/// a folder. Other programs, too, have a train.bin: only one of the right size is of CIFAR-100.
bool isFileOfMnist(const std::string& path);
bool isFileOfCifar(const std::string& path);

struct PictureClasses {
    std::string folder;
    size_t classes = 0; ///< how many folders hold them, each right in it
};
/// Returns the folder that can be opened as pictures of classes, one of which has this picture
/// right in its folder; nothing when there is none.
std::optional<PictureClasses> classesAround(const std::string& picture);

} // namespace halfscope
