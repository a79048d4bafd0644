// Folders of the user who runs the program, and those that all users share.
#pragma once

#include <string>
#include <vector>

namespace halfscope {

/// Returns where programs keep a user's data: $XDG_DATA_HOME if that is an absolute path, otherwise
/// ~/.local/share. Without $HOME, the home folder is that of the account. Empty when neither is
/// known.
std::string userDataFolder();
/// Returns where installed packages keep data: the absolute paths in $XDG_DATA_DIRS, or
/// /usr/local/share where that is not set, and always /usr/share at the end, where Debian's
/// packages keep them whatever the variable says.
std::vector<std::string> sharedDataFolders();

} // namespace halfscope
