// Asks the system for the limits that programs run under.
#include "engine/core/usable_memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace halfscope {

namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

size_t machineMemory() {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && size > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(size)
                                 : kNoLimit;
}

std::optional<size_t> addressLimit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return static_cast<size_t>(limit.rlim_cur);
}

/// Returns the number in a group's file; nothing for "max", and where there is no such file.
std::optional<size_t> numberIn(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    file >> text;
    size_t number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return number;
}

/// Returns the lowest limit of a group and of those around it. Inside a container, the root itself
/// may be the group, under the path that the group has outside.
size_t lowestFrom(const std::string& root, std::string path, const std::string& file) {
    size_t lowest = kNoLimit;
    for (;;) {
        lowest = std::min(lowest, numberIn(root + path + "/" + file).value_or(kNoLimit));
        if (path.empty()) return lowest;
        path.erase(path.rfind('/'));
    }
}

/// Whether a list such as "cpu,memory" has the memory in it.
bool limitsMemory(std::string_view controllers) {
    return ("," + std::string(controllers) + ",").find(",memory,") != std::string::npos;
}

/// Returns the lines that can be read.
std::string textOfFile(const char* path) {
    std::ifstream file(path);
    std::string text;
    for (std::string line; std::getline(file, line);)
        text += line + '\n';
    return text;
}

} // namespace

std::optional<size_t> groupLimit(std::string_view groups, const std::string& root) {
    size_t lowest = kNoLimit;
    while (!groups.empty()) { // lines such as "0::/user/job" and "4:cpu,memory:/user/job"
        const std::string_view line = groups.substr(0, groups.find('\n'));
        groups.remove_prefix(std::min(groups.size(), line.size() + 1));
        const size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos) continue;
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        std::string path(line.substr(second + 1));
        if (!path.starts_with('/')) continue;
        if (path == "/") path.clear();
        if (controllers.empty())
            lowest = std::min(lowest, lowestFrom(root, path, "memory.max"));
        else if (limitsMemory(controllers))
            lowest = std::min(lowest, lowestFrom(root + "/memory", path, "memory.limit_in_bytes"));
    }
    return lowest == kNoLimit ? std::nullopt : std::optional(lowest);
}

size_t usableMemory() {
    const size_t least = std::min(
        {machineMemory(), addressLimit().value_or(kNoLimit),
         groupLimit(textOfFile("/proc/self/cgroup"), "/sys/fs/cgroup").value_or(kNoLimit)});
    return least == kNoLimit ? 0 : least;
}

bool hasAddressSpace(size_t bytes) {
    if (!addressLimit()) return true;
    void* const taken =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (taken == MAP_FAILED) return false;
    munmap(taken, bytes);
    return true;
}

} // namespace halfscope
