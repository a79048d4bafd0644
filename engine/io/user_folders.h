// Folders of the user who runs the program.
#pragma once

#include <string>

namespace halfscope {

/// Returns where programs keep a user's data: $XDG_DATA_HOME if that is an absolute path, otherwise
/// ~/.local/share. Without $HOME, the home folder is that of the account. Empty when neither is
/// known.
std::string userDataFolder();

} // namespace halfscope
