// A class of a program whose forward() hands its input from one call to the next, and nothing else:
// which calls these are, and what the class makes for them. Knows no layers and no functions.
#pragma once

#include "engine/lang/found_models.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope::lang {

/// What a class sets in __init__(), as in "self.conv1 = nn.Conv2d(1, 32, 3)".
struct ClassMember {
    std::string_view name; ///< "conv1"
    FoundModel made;       ///< the code behind "="
};

/// The number of samples, which is given as x.size(0), among the arguments of a call.
inline constexpr std::string_view kSampleCount = "the number of samples";

struct ChainedCall {
    enum class Of : uint8_t { Member, Function, Method };
    Of of = Of::Member;
    std::string_view name;              ///< "conv1", "F.relu" or "view"
    size_t begin = 0;                   ///< of the name in the program
    std::vector<std::string_view> rest; ///< the arguments beside the value that is handed on
};

struct ClassChain {
    std::string_view name; ///< of the class
    FoundModel whole;      ///< the class
    std::vector<ClassMember> members;
    std::vector<ChainedCall> calls; ///< in the order in which they run
};

/// Returns the calls of the one class of a program that findClass() finds. Nothing where forward()
/// or __init__() may do more than such calls need, or where a model stands outside the class.
std::optional<ClassChain> chainOfClass(std::string_view program);

/// Returns the place of the first statement in forward() of that class that is no such call, or of
/// forward() itself where it has more than one input; nothing where there is none.
std::optional<size_t> unreadIn(std::string_view program);

/// Whether the program ends with the class, but for lines such as "net = Net().to(device)" and
/// "print(net)", see onlyMakesModels().
bool endsWithClass(std::string_view program, const ClassChain&);

/// Whether an argument of __init__() has a default.
enum class InitArgumentIs : uint8_t { Absent, Open, ByDefault };
/// Looks for the argument in the class of a program that findClass() finds.
InitArgumentIs initArgument(std::string_view program, std::string_view name);

/// Returns the program with the numbers that arguments of __init__() have, in `lines` new lines
/// above it and not in __init__(): those with which the program makes the class, as in "Net(784,
/// hidden)" where it gives hidden one number, and else those that they have by default, as in
/// "def __init__(self, classes=10)". The program as it was, and no lines, where it may make the
/// class in several ways, and where there are hundreds of arguments. An argument stays where
/// another statement sets its name for the whole program.
std::string withArguments(std::string_view program, int& lines);

} // namespace halfscope::lang
