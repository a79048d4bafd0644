// What is fuzzed: the readers of all that may come from a stranger. Each takes any bytes; it may
// refuse them with an error that is fit to be shown, and nothing else.
#pragma once

#include <span>
#include <string_view>

namespace halfscope::fuzz {

struct Target {
    std::string_view name;
    void (*run)(std::string_view bytes);
};

/// By name, which is that of the corpus's folder as well.
std::span<const Target> targets();
/// Runs one on these bytes; throws std::logic_error for whatever must not be.
void check(const Target&, std::string_view bytes);

} // namespace halfscope::fuzz
