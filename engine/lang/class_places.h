// Where the classes of a program stand that may be networks, and what their first lines tell. Knows
// nothing of what forward() runs but whether it runs members.
#pragma once

#include "engine/lang/blocks.h"
#include "engine/lang/code_text.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope::lang {

/// The numbers of the statements that begin a class, its __init__() and its forward(), and of the
/// first behind the class.
struct ClassPlaces {
    size_t head = kNowhere, init = kNowhere, forward = kNowhere, end = 0;
};
/// Returns the places of the one class with a forward() that may be a network; nothing where there
/// are several, or where it has no __init__().
std::optional<ClassPlaces> findClass(const std::vector<IndentedStatement>&);

/// Returns the name of a class that begins with "class Net(nn.Module):"; empty where it is derived
/// from anything else.
std::string_view nameOfModule(std::string_view head);

/// Returns the input of forward(); empty unless that is its only argument beside self.
std::string_view inputOf(std::string_view forward);

/// Returns the names of the classes of a program that are modules of PyTorch with a forward() and
/// may be networks: none that have nothing to train, such as losses, none that only run a network
/// that they are given, and none within others.
std::vector<std::string> networkClassesIn(std::string_view program);

} // namespace halfscope::lang
