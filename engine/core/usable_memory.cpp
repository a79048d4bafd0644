// Asks the system for the limits that programs run under.
#include "engine/core/usable_memory.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace halfscope {

namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();
constexpr const char *kOwnGroups = "/proc/self/cgroup", *kGroupRoot = "/sys/fs/cgroup";

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

/// Returns the lines that can be read.
std::string textOfFile(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    for (std::string line; std::getline(file, line);)
        text += line + '\n';
    return text;
}

/// Returns the number behind a name at the start of a line: "MemAvailable:  12 kB", "cache 12".
std::optional<size_t> numberAfter(std::string_view name, std::string_view lines) {
    while (!lines.empty()) {
        std::string_view line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(lines.size(), line.size() + 1));
        if (!line.starts_with(name)) continue;
        line.remove_prefix(name.size());
        const size_t spaces = line.find_first_not_of(' ');
        if (spaces == 0 || spaces == std::string_view::npos) continue; // a longer name, no number
        size_t number = 0;
        if (std::from_chars(line.data() + spaces, line.data() + line.size(), number).ec ==
            std::errc())
            return number;
    }
    return std::nullopt;
}

/// The files of a version of control groups.
struct GroupFiles {
    const char *limit, *use;
    /// Lines of memory.stat: bytes of files, and of what the system knows of them, which are given
    /// back when needed.
    std::array<const char*, 3> cached;
};
constexpr GroupFiles kVersion1{"/memory.limit_in_bytes",
                               "/memory.usage_in_bytes",
                               {"total_inactive_file", "total_active_file", nullptr}};
constexpr GroupFiles kVersion2{
    "/memory.max", "/memory.current", {"inactive_file", "active_file", "slab_reclaimable"}};

size_t limitIn(const std::string& group, const GroupFiles& files) {
    return numberIn(group + files.limit).value_or(kNoLimit);
}

size_t freeIn(const std::string& group, const GroupFiles& files) {
    const size_t limit = limitIn(group, files);
    if (limit == kNoLimit) return kNoLimit;
    size_t used = numberIn(group + files.use).value_or(0);
    const std::string counts = textOfFile(group + "/memory.stat");
    for (const char* const name : files.cached)
        if (name) used -= std::min(used, numberAfter(name, counts).value_or(0));
    return limit - std::min(limit, used);
}

using OfGroup = size_t (*)(const std::string& group, const GroupFiles&);

/// Returns the lowest value of a group and of those around it. Inside a container, the root itself
/// may be the group, under the path that the group has outside.
size_t lowestFrom(const std::string& root, std::string path, OfGroup value,
                  const GroupFiles& files) {
    size_t lowest = kNoLimit;
    for (;;) {
        lowest = std::min(lowest, value(root + path, files));
        if (path.empty()) return lowest;
        path.erase(path.rfind('/'));
    }
}

/// Whether a list such as "cpu,memory" has the memory in it.
bool limitsMemory(std::string_view controllers) {
    return ("," + std::string(controllers) + ",").find(",memory,") != std::string::npos;
}

/// Returns the lowest value of the groups in a text such as that of /proc/self/cgroup.
std::optional<size_t> lowestOf(std::string_view groups, const std::string& root, OfGroup value) {
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
            lowest = std::min(lowest, lowestFrom(root, path, value, kVersion2));
        else if (limitsMemory(controllers))
            lowest = std::min(lowest, lowestFrom(root + "/memory", path, value, kVersion1));
    }
    return lowest == kNoLimit ? std::nullopt : std::optional(lowest);
}

} // namespace

std::optional<size_t> groupLimit(std::string_view groups, const std::string& root) {
    return lowestOf(groups, root, limitIn);
}

std::optional<size_t> freeInGroups(std::string_view groups, const std::string& root) {
    return lowestOf(groups, root, freeIn);
}

std::optional<size_t> freeInMachine(std::string_view meminfo) {
    const std::optional<size_t> kibibytes = numberAfter("MemAvailable:", meminfo);
    return kibibytes ? std::optional(*kibibytes << 10) : std::nullopt;
}

size_t usableMemory() {
    const size_t least =
        std::min({machineMemory(), addressLimit().value_or(kNoLimit),
                  groupLimit(textOfFile(kOwnGroups), kGroupRoot).value_or(kNoLimit)});
    return least == kNoLimit ? 0 : least;
}

std::optional<size_t> freeMemory() {
    const size_t usable = usableMemory();
    const size_t least =
        std::min({usable == 0 ? kNoLimit : usable,
                  freeInMachine(textOfFile("/proc/meminfo")).value_or(kNoLimit),
                  freeInGroups(textOfFile(kOwnGroups), kGroupRoot).value_or(kNoLimit)});
    return least == kNoLimit ? std::nullopt : std::optional(least);
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
