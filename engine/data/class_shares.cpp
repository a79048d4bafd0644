// A cell holds 1 minus its share, which makes shares of 24 bits behind the point. The difference is
// exact in both directions, and so is the shortest text of a float.
#include "engine/data/class_shares.h"

#include "engine/core/text.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace halfscope {

namespace {

bool isShare(float value) { return value >= 0 && value <= 1; } // nan is none

/// Whether a file of 8 bits tells a value as it is.
bool isWhole(float value) { return static_cast<float>(byteOf(value)) / 255.0F == value; }

} // namespace

std::string sharesText(const Picture& table) {
    if (table.channels != 1 || !std::all_of(table.values.begin(), table.values.end(), isShare) ||
        std::all_of(table.values.begin(), table.values.end(), isWhole))
        return {};
    std::string text;
    for (size_t i = 0; i < table.values.size(); ++i) {
        if (i > 0) text += i % static_cast<size_t>(table.width) == 0 ? '\n' : ' ';
        text += numberText(1 - table.values[i]);
    }
    return text;
}

std::optional<std::vector<float>> sharesOf(std::string_view text, size_t cells) {
    std::vector<float> shares;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (shares.size() < cells) {
        if (!shares.empty()) {
            if (at == end || (*at != ' ' && *at != '\n')) return std::nullopt;
            ++at;
        }
        float share = 0;
        const auto [next, code] = std::from_chars(at, end, share);
        if (code != std::errc() || !isShare(share)) return std::nullopt;
        shares.push_back(share);
        at = next;
    }
    if (at != end) return std::nullopt;
    return shares;
}

bool takeShares(Picture& table, std::string_view text) {
    if (table.channels != 1) return false;
    std::optional<std::vector<float>> values = sharesOf(text, table.values.size());
    if (!values) return false;
    for (float& each : *values)
        each = 1 - each;
    const bool fits = std::equal(values->begin(), values->end(), table.values.begin(),
                                 [](float a, float b) { return byteOf(a) == byteOf(b); });
    if (fits) table.values = std::move(*values);
    return fits;
}

} // namespace halfscope
