// Data inside the program as bytes, so that data sets need no folder: a text, a sample of MNIST and
// words of six languages. The files are in resources/data with READMEs that name their sources and
// licences. engine/CMakeLists.txt puts them there.
#pragma once

#include <string_view>

namespace halfscope {

/// Returns the gzip file of that name, such as "train-images-idx3-ubyte". Throws std::logic_error
/// for any other name.
std::string_view sampleDigits(std::string_view file);

/// Returns the GNU General Public License, version 3, of the Free Software Foundation, which allows
/// verbatim copies. It is this program's own licence: the file LICENSE.
std::string_view sampleText();

/// Returns a csv table of words and their languages.
std::string_view sampleWords();

} // namespace halfscope
