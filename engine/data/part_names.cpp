// Looks for a word that tells at each place where a word may begin.
#include "engine/data/part_names.h"

#include "engine/core/text.h"

#include <array>
#include <utility>

namespace halfscope {

DataPart partNamed(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, DataPart>, 7> kWords{
        {{"train", DataPart::Train},
         {"training", DataPart::Train},
         {"val", DataPart::Validation},
         {"valid", DataPart::Validation},
         {"validation", DataPart::Validation},
         {"test", DataPart::Test},
         {"testing", DataPart::Test}}};
    constexpr std::string_view kBefore = "-_. ";
    const std::string low = lowerCase(std::string(name));
    const auto isLetter = [](char c) { return c >= 'a' && c <= 'z'; };
    for (size_t at = 0; at < low.size(); ++at) {
        if (at > 0 && kBefore.find(low[at - 1]) == kBefore.npos) continue;
        const std::string_view rest = std::string_view(low).substr(at);
        for (const auto& [word, part] : kWords)
            if (rest.starts_with(word) &&
                (rest.size() == word.size() || !isLetter(rest[word.size()])))
                return part;
    }
    return DataPart::None;
}

} // namespace halfscope
