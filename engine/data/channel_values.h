// Numbers for the channels of pictures, as the settings data.mean and data.std write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

struct ChannelValues {
    bool measured = false;      ///< "auto"
    std::vector<float> numbers; ///< one for all channels, or one for each; empty: none are set

    bool isSet() const { return measured || !numbers.empty(); }
};

/// "0.5", "0.485, 0.456, 0.406", "auto" or nothing. InputError with the key; deviations
/// ("data.std") are above 0.
ChannelValues channelValuesOf(std::string_view key, std::string_view text);
inline void checkChannelValues(std::string_view key, std::string_view text) {
    channelValuesOf(key, text);
}

} // namespace halfscope
