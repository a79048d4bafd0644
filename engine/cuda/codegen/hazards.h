// Which units of a step must run after which others, derived from the bytes of the arena that they
// read and write: values share memory, states are overwritten in place, views read other values'
// bytes.
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

/// Returns where a value is. It must be stored.
ByteRange rangeOf(const Program&, NodeId);
Access accessOf(const Program&, const Kernel&);
/// Returns the accesses of a copy of states' next values into their places.
Access accessOfCommit(const Program&, const std::vector<size_t>& states);

/// Whether one of them writes what the other one reads or writes.
bool conflict(const Access&, const Access&);

/// Takes units in an order in which they can run one by one. Returns for each the earlier ones that
/// it must not run beside or before, except those that others of them imply.
std::vector<std::vector<size_t>> hazards(const std::vector<Access>& units);

} // namespace halfscope::cuda
