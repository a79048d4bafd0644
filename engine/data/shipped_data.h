// Data as bytes inside the program, so that data sets need no folder: a sample of MNIST, whose four
// files are in resources/data/mnist-sample with a README that names their source and licence, and a
// text. engine/CMakeLists.txt puts them there.
#pragma once

#include <string_view>

namespace halfscope {

/// The gzip file of that name, such as "train-images-idx3-ubyte"; throws std::logic_error for any
/// other name.
std::string_view sampleDigits(std::string_view file);

/// The GNU General Public License, version 3, of the Free Software Foundation, which allows
/// verbatim copies. It is this program's own licence: the file LICENSE.
std::string_view sampleText();

} // namespace halfscope
