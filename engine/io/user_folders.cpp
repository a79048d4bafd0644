// Asks the environment first, then the account.
#include "engine/io/user_folders.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <pwd.h>
#include <unistd.h>

namespace halfscope {

namespace {

std::filesystem::path variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::filesystem::path homeFolder() {
    std::filesystem::path home = variable("HOME");
    if (home.is_absolute()) return home;
    std::array<char, 4096> memory{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::geteuid(), &entry, memory.data(), memory.size(), &found) != 0 || !found)
        return {};
    home = found->pw_dir;
    return home.is_absolute() ? home : std::filesystem::path();
}

} // namespace

std::string userDataFolder() {
    const std::filesystem::path data = variable("XDG_DATA_HOME");
    if (data.is_absolute()) return data.string();
    const std::filesystem::path home = homeFolder();
    return home.empty() ? std::string() : (home / ".local/share").string();
}

std::vector<std::string> sharedDataFolders() {
    std::vector<std::string> folders;
    std::string given = variable("XDG_DATA_DIRS").string();
    if (given.empty()) given = "/usr/local/share"; // and /usr/share, as the standard says
    std::istringstream all(given);
    for (std::string each; std::getline(all, each, ':');)
        if (std::filesystem::path(each).is_absolute()) folders.push_back(each);
    folders.emplace_back("/usr/share");
    return folders;
}

} // namespace halfscope
