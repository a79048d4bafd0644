// Which call of a program fails, and how: the plan that the shims share (fault_shim.cpp describes
// its form).
#pragma once

namespace halfscope::faults {

enum class Kind {
    Open,
    Read,
    List,
    Write,
    Sync,
    Rename,
    Unlink,
    Close,
    Mmap,
    Thread,
    Alloc,
    Change
};

/// Counts a call and says whether it is to fail; does not return when the program is to end here.
bool fails(Kind, bool changes = false);

} // namespace halfscope::faults
