// What executors of every device have in common.
#include "engine/exec/executor.h"

namespace halfscope {

MemoryUse memoryUse(const Executor& executor, const Program& loaded) {
    const MemoryPlan& plan = executor.memory() != nullptr ? *executor.memory() : loaded.memory;
    const size_t workspace = executor.workspaceBytes();
    MemoryUse use{plan.arenaBytes + workspace, plan.peakBytes + workspace, plan.peakByCause,
                  executor.bytesToFill()};
    use.peakByCause[static_cast<size_t>(MemoryCause::Workspace)] += workspace;
    return use;
}

} // namespace halfscope
