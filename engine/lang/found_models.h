// Finds the models in a Python program: calls of nn.Sequential and the numbers that they use. Knows
// strings, comments and brackets, and no other statements; parse() reads what is found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halfscope::lang {

/// A model that stands in a program.
struct FoundModel {
    std::string text;                ///< for parse(): numbers with names, then the model
    int firstLine = 1, lastLine = 1; ///< of the model in the program
};

/// Returns the models of a program in their order. One within another is a part of it, and an empty
/// one, to which the program adds its layers later, is none. Takes time in proportion to the text.
std::vector<FoundModel> modelsIn(std::string_view program);

} // namespace halfscope::lang
