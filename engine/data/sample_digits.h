// A sample of MNIST as bytes inside the program: engine/CMakeLists.txt puts the four files of
// resources/data/mnist-sample there, so that the data set needs no folder. The README beside them
// names where they come from and their licence.
#pragma once

#include <string_view>

namespace halfscope {

/// The gzip file of that name, such as "train-images-idx3-ubyte"; throws std::logic_error for any
/// other name.
std::string_view sampleDigits(std::string_view file);

} // namespace halfscope
