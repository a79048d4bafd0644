// How much memory this program may use: what the machine has, or less where somebody has set a
// limit, as containers, clusters and shells do; and how much of it is free now.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace halfscope {

/// Returns the memory of the machine, or the limit of the control groups or of the address space
/// (ulimit -v) where it is lower, in bytes; 0 when nothing is known.
size_t usableMemory();

/// Returns the lowest limit of the control groups that a process is in, and of those around them.
/// `groups` is the text of /proc/self/cgroup; `root` is the folder where the groups are mounted.
std::optional<size_t> groupLimit(std::string_view groups, const std::string& root);

/// Returns how much of usableMemory() is free now, in bytes. A program that fills more makes the
/// system swap, or is ended by it.
std::optional<size_t> freeMemory();

/// Returns the bytes that a machine can give without swapping, from the text of /proc/meminfo.
std::optional<size_t> freeInMachine(std::string_view meminfo);

/// Returns what the limits of the control groups leave beside what the groups use; see groupLimit.
std::optional<size_t> freeInGroups(std::string_view groups, const std::string& root);

/// Whether a limit on the address space leaves so many bytes in one piece; always true without
/// one. Libraries that compile code while they run may crash when there is no room for it.
bool hasAddressSpace(size_t bytes);

} // namespace halfscope
