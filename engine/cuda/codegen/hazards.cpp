// Hazards from byte ranges: read after write, write after read, write after write.
#include "engine/cuda/codegen/hazards.h"

#include "engine/core/error.h"
#include "engine/passes/fuse.h"

#include <algorithm>

namespace halfscope::cuda {

namespace {

bool overlap(const ByteRange& a, const ByteRange& b) { return a.begin < b.end && b.begin < a.end; }

bool anyOverlap(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b) {
    return std::any_of(a.begin(), a.end(), [&](const ByteRange& x) {
        return std::any_of(b.begin(), b.end(), [&](const ByteRange& y) { return overlap(x, y); });
    });
}

} // namespace

ByteRange rangeOf(const Program& program, NodeId id) {
    const NodeId storage = storageOf(program.graph, id);
    const size_t offset = program.memory.offset[static_cast<size_t>(storage)];
    require(offset != MemoryPlan::kNowhere, "cuda: a value that a kernel touches is not stored");
    return {offset, offset + program.graph[storage].bytes()};
}

Access accessOf(const Program& program, const Kernel& kernel) {
    Access access;
    for (NodeId id : kernel.loads)
        access.reads.push_back(rangeOf(program, id));
    for (NodeId id : kernel.stores)
        access.writes.push_back(rangeOf(program, id));
    return access;
}

Access accessOfCommit(const Program& program, const std::vector<size_t>& states) {
    Access access;
    for (size_t index : states) {
        const StateInfo& state = program.graph.states()[index];
        access.reads.push_back(rangeOf(program, state.next));
        access.writes.push_back(rangeOf(program, state.node));
    }
    return access;
}

bool conflict(const Access& a, const Access& b) {
    return anyOverlap(a.writes, b.writes) || anyOverlap(a.writes, b.reads) ||
           anyOverlap(a.reads, b.writes);
}

std::vector<std::vector<size_t>> hazards(const std::vector<Access>& units) {
    const size_t n = units.size();
    std::vector<std::vector<size_t>> before(n);
    // implied[u]: what must have run before u, directly or through others
    std::vector<std::vector<bool>> implied(n, std::vector<bool>(n, false));
    for (size_t u = 0; u < n; ++u) {
        // Starts with the nearest: what that one waits for needs no edge of its own.
        for (size_t v = u; v-- > 0;) {
            if (implied[u][v] || !conflict(units[v], units[u])) continue;
            before[u].push_back(v);
            implied[u][v] = true;
            for (size_t w = 0; w < v; ++w)
                if (implied[v][w]) implied[u][w] = true;
        }
        std::reverse(before[u].begin(), before[u].end());
    }
    return before;
}

} // namespace halfscope::cuda
