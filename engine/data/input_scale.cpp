// Large numbers with small differences, such as times in seconds, lose them as float32.
#include "engine/data/input_scale.h"

#include "engine/core/some_of.h"
#include "engine/data/target_scale.h"

namespace halfscope {

std::optional<Message> roundedInputsNote(const Standardiser& scale,
                                         const std::vector<std::string>& names,
                                         const char* setting) {
    std::vector<std::string> rounded;
    for (const size_t i : scale.roundedOff())
        rounded.push_back(names[i]);
    if (rounded.empty()) return std::nullopt;
    return Message(phrase("Data", "The numbers of these inputs are so large beside their "
                                  "differences that float32 rounds much of the differences away: "
                                  "%1; to keep them, %2."),
                   someOf(rounded), Message(kSetToTrue, setting));
}

} // namespace halfscope
