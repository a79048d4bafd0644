// Which units of a step must run after which, told by the bytes of the arena that they read and
// write: values share memory, states are written over in place, views read other values' bytes.
#pragma once

#include "engine/graph/program.h"

#include <vector>

namespace halfscope::cuda {

struct ByteRange {
    size_t begin = 0, end = 0; ///< end excluded
};
/// What a unit of work touches in the arena.
struct Access {
    std::vector<ByteRange> reads, writes;
};

/// Where a value lies. It must be stored.
ByteRange rangeOf(const Program&, NodeId);
Access accessOf(const Program&, const Kernel&);
/// A copy of states' next values into their places.
Access accessOfCommit(const Program&, const std::vector<size_t>& states);

/// Whether one of them writes what the other one reads or writes.
bool conflict(const Access&, const Access&);

/// For units in an order in which they can run one by one: for each the earlier ones that it must
/// not run beside or before, those apart that others of them imply.
std::vector<std::vector<size_t>> hazards(const std::vector<Access>& units);

} // namespace halfscope::cuda
