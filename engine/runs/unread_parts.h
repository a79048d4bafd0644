// What a run lacks because a session from which it was restored could not be read to the end. Each
// later session hands this on: what looks as if it had never been there would let a file go that
// still has it.
#pragma once

#include "engine/core/message.h"

#include <cstdint>
#include <string>

namespace halfscope {

class Database;

struct UnreadParts {
    /// The name of the run in the first of the sessions, such as "20261121-173455-1/2", which may
    /// still have what is unread; empty for a run that no session has given.
    std::string keeper{};
    bool values = false, gradients = false, target = false;
    /// Why they could not be read, and the steps that they are of; empty when they could.
    Message pictures{}, checkpoint{};
    int64_t picturesStep = 0, checkpointStep = 0;
    bool operator==(const UnreadParts&) const = default;
};

/// Returns what a session's file tells of a run.
UnreadParts unreadPartsIn(const Database&, int64_t run);
/// Writes it in place of what was told before.
void storeUnreadParts(const Database&, int64_t run, const UnreadParts&);

} // namespace halfscope
