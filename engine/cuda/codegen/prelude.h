// The device headers inside the library: text that travels with the program and is compiled for the
// current device.
#pragma once

#include <string_view>
#include <vector>

namespace halfscope::cuda {

struct DeviceHeader {
    std::string_view name; ///< "block.cuh"
    std::string_view text;
};

/// Returns the headers in the order in which they build on each other.
std::vector<DeviceHeader> deviceHeaders();

} // namespace halfscope::cuda
