// Large numbers with small differences, such as times in seconds, lose them as float32. fp16 has
// no large numbers at all.
#include "engine/data/input_scale.h"

#include "engine/core/some_of.h"
#include "engine/data/dataset.h"
#include "engine/data/target_scale.h"

#include <cmath>

namespace halfscope {

bool isBeyondHalf(float value) {
    constexpr float kInfiniteInHalf = 65520; // and above: rounds to inf
    return std::isfinite(value) && std::abs(value) >= kInfiniteInHalf;
}

std::string_view inputScaleSetting(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    if (info.has("data.standardise_x"))
        return task.standardiseX ? std::string_view() : "data.standardise_x";
    return info.has("data.standardise") && !task.standardise ? "data.standardise"
                                                             : std::string_view();
}

Message fittingAdvice(std::string_view setting) {
    return {phrase("Data", "To make the values fit, %1."), Message(kSetToTrue, setting)};
}

std::optional<Message> beyondHalfNote(const std::string& name, float largest,
                                      const TaskConfig& task) {
    const std::string_view setting = inputScaleSetting(task);
    if (setting.empty() || !isBeyondHalf(largest)) return std::nullopt;
    return Message(phrase("Data", "Values of %1 reach %2, and fp16 ends at 65,504: where a lane "
                                  "casts them to fp16, they become inf. %3"),
                   name, std::round(largest), fittingAdvice(setting));
}

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
