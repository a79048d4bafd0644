// Data inside the program as bytes, so that data sets need no folder: a text, and a sample of
// MNIST, whose four files are in resources/data/mnist-sample with a README that names their source
// and licence. engine/CMakeLists.txt puts them there.
#pragma once

#include <string_view>

namespace halfscope {

/// Returns the gzip file of that name, such as "train-images-idx3-ubyte". Throws std::logic_error
/// for any other name.
std::string_view sampleDigits(std::string_view file);

/// Returns the GNU General Public License, version 3, of the Free Software Foundation, which allows
/// verbatim copies. It is this program's own licence: the file LICENSE.
std::string_view sampleText();

} // namespace halfscope
