// Finds the models in a Python program: calls of nn.Sequential and the numbers that they use. Knows
// strings, comments and brackets, which statements bind a name, and of a class whether it only runs
// one model; parse() reads what is found.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope::lang {

class ProgramNames;

/// A model that stands in a program.
struct FoundModel {
    int firstLine = 1, lastLine = 1; ///< in the program
    size_t begin = 0, end = 0;       ///< its bytes in the program
};

/// Whether a name with dots is that of nn.Sequential.
bool isSequential(std::string_view name);

/// Returns the models of a program in their order. One within another is a part of it, and an empty
/// one, to which the program adds its layers later, is none. Takes time in proportion to the text,
/// however many models it has.
std::vector<FoundModel> modelsIn(std::string_view program);

/// What parse() reads of a program.
struct ModelText {
    std::string text{};                 ///< numbers with names, then the model
    std::vector<std::string> numbers{}; ///< the names, in the order in which they get their numbers
    std::string inPlace{};              ///< the same in its lines, with spaces for all else
    /// Names in the model that the program binds, but not to numbers that are known.
    std::vector<std::string> unknown{};
    std::vector<std::string> arguments{}; ///< those of them that are arguments of its functions
};
/// Returns the text of a model, with the numbers above it that it uses. The value of a name that
/// another statement may change is not known: the text then lacks it, so that parse() refuses it.
/// Statements below a model count where it may be made after they have run, as in a function.
ModelText textOfModel(std::string_view program, const FoundModel&);
/// Does the same for one of many models of a program, with what has been read of it for others.
ModelText textOfModel(std::string_view program, ProgramNames&, const FoundModel&);
/// Returns the names in such a model without its texts.
ModelText namesOfModel(ProgramNames&, const FoundModel&);

/// A model with the numbers that it uses, in its lines, with spaces for all else.
struct ModelLines {
    std::string text{};
    size_t begin = 0; ///< the first of the lines in the program
};
/// Returns the lines of a program from the first number that a model uses, or from the model, up to
/// the end of the model.
ModelLines linesOfModel(std::string_view program, ProgramNames&, const FoundModel&);

/// Returns the text of a class with spaces in place of everything but its one model and the numbers
/// that it uses, so that every line stays where it was: a class that keeps the model as
/// "self.net = nn.Sequential(...)", and whose forward() is "return self.net(x)"; behind it may
/// stand what makes it, see onlyMakesModels(). Empty for anything else, of which forward() may do
/// more than the model does.
std::string modelOfClass(std::string_view program);

} // namespace halfscope::lang
