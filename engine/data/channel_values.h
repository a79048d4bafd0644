// Numbers for the channels of pictures, in the form of the settings data.mean and data.std.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

struct ChannelValues {
    bool measured = false;      ///< the setting is "auto"
    std::vector<float> numbers; ///< one for all channels, or one each; empty when none are set

    bool operator==(const ChannelValues&) const = default;
    bool isSet() const { return measured || !numbers.empty(); }
};

/// Reads "0.5", "0.485, 0.456, 0.406", "auto" or an empty text. Throws InputError with the key;
/// deviations ("data.std") must be above 0.
ChannelValues channelValuesOf(std::string_view key, std::string_view text);
inline void checkChannelValues(std::string_view key, std::string_view text) {
    channelValuesOf(key, text);
}

} // namespace halfscope
