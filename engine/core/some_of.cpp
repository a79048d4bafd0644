// Names the first eight.
#include "engine/core/some_of.h"

#include "engine/core/text.h"

#include <algorithm>

namespace halfscope {

Message someOf(std::span<const std::string> names) {
    constexpr size_t kShown = 8;
    std::string text;
    for (const std::string& name : names.first(std::min(names.size(), kShown)))
        text += (text.empty() ? "" : ", ") + (name.empty() ? "\"\"" : pathText(name));
    if (names.size() <= kShown) return Message::data(text);
    return {phrase("Data", "%1 and %2 more"), text, names.size() - kShown};
}

} // namespace halfscope
