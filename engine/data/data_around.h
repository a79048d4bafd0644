// The data that a file belongs to which its user may have chosen in place of them. Looks at names
// only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace halfscope {

/// Whether a file is, by its name, one of the four of MNIST, or of the six of CIFAR-10: each set is
/// opened as a folder.
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
