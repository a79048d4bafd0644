// Reads numbers for the channels of pictures.
#include "engine/data/channel_values.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <charconv>
#include <cmath>

namespace halfscope {

ChannelValues channelValuesOf(std::string_view key, std::string_view text) {
    constexpr double kMost = 1e6, kLeastDeviation = 1e-6;
    constexpr size_t kMostNumbers = 3;
    ChannelValues values;
    const bool deviation = key == "data.std";
    const auto refuse = [&] {
        throw InputError(
            deviation ? phrase("Data", "%1: %2 is not allowed: a number from 0.000001 to 1000000, "
                                       "three such numbers separated by commas, auto, or nothing")
                      : phrase("Data", "%1: %2 is not allowed: a number from -1000000 to 1000000, "
                                       "three such numbers separated by commas, auto, or nothing"),
            key, quotedText(text));
    };
    text = trimmed(text);
    values.measured = text == "auto";
    if (text.empty() || values.measured) return values;
    for (const std::string_view part : partsOf(text, ',')) {
        const std::string_view number = trimmed(part);
        double value = 0;
        const auto [end, code] =
            std::from_chars(number.data(), number.data() + number.size(), value);
        const bool whole = code == std::errc{} && end == number.data() + number.size();
        if (!whole || !(std::abs(value) <= kMost) || (deviation && value < kLeastDeviation))
            refuse();
        values.numbers.push_back(static_cast<float>(value));
    }
    if (values.numbers.size() != 1 && values.numbers.size() != kMostNumbers) refuse();
    return values;
}

} // namespace halfscope
