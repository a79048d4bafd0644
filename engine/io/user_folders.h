// Folders of the user who runs the program.
#pragma once

#include <string>

namespace halfscope {

/// Where programs keep a user's data: $XDG_DATA_HOME where that is an absolute path, otherwise
/// ~/.local/share. Without $HOME, the home folder is that of the account. Empty where neither is
/// known.
std::string userDataFolder();

} // namespace halfscope
