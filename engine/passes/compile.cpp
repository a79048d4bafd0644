// The order of the passes.
#include "engine/passes/compile.h"

#include "engine/ops/inspect.h"
#include "engine/passes/fuse.h"
#include "engine/passes/linear_sums.h"
#include "engine/passes/plan.h"
#include "engine/passes/rewrite.h"
#include "engine/passes/thin_products.h"

namespace halfscope {

Program compile(const Graph& graph, const CompileOptions& options) {
    Program program;
    program.graph = pruned(graph);
    if (options.rewrites == Rewrites::SavePasses)
        program.graph = linearSumsApart(thinProductsByElement(program.graph));
    validate(program.graph);
    program.kernels = fuse(program.graph, options.fuse, options.channelSums);
    program.memory = planMemory(program.graph, program.kernels, program.pointOfNoReturn);
    return program;
}

} // namespace halfscope
