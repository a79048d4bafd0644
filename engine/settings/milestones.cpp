// Milestones of a schedule are written as in PyTorch, without the brackets.
#include "engine/settings/milestones.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <charconv>

namespace halfscope {

std::vector<int64_t> milestonesOf(std::string_view text) {
    std::vector<int64_t> milestones;
    for (const std::string_view part : partsOf(text, ',')) {
        const std::string_view digits = trimmed(part);
        const char* const last = digits.data() + digits.size();
        int64_t number = 0;
        const auto [end, code] = std::from_chars(digits.data(), last, number);
        const int64_t before = milestones.empty() ? 0 : milestones.back();
        if (code != std::errc{} || end != last || number <= before || number > kLastMilestone)
            throw InputError(phrase("Settings",
                                    "schedule.milestones: %1 is not allowed: whole numbers from 1 "
                                    "to %2, each above the one before, separated by commas"),
                             quotedText(text), kLastMilestone);
        milestones.push_back(number);
    }
    return milestones;
}

std::string milestonesText(const std::vector<int64_t>& milestones) {
    std::string text;
    for (const int64_t each : milestones)
        text += (text.empty() ? "" : ", ") + std::to_string(each);
    return text;
}

} // namespace halfscope
