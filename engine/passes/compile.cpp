// The order of the passes.
#include "engine/passes/compile.h"

#include "engine/ops/inspect.h"
#include "engine/passes/bias_apart.h"
#include "engine/passes/fuse.h"
#include "engine/passes/linear_sums.h"
#include "engine/passes/plan.h"
#include "engine/passes/rewrite.h"
#include "engine/passes/thin_products.h"

namespace halfscope {

namespace {

/// Leaves out the marks for the rounding of gradients: once these are taken, a mark is its operand.
Graph withoutMarks(const Graph& graph) {
    const auto marks = [&](NodeId id) { return graph[id].op == Op::QuantizeGradient; };
    bool any = false;
    for (NodeId id = 0; id < graph.size(); ++id)
        any = any || marks(id);
    if (!any) return pruned(graph);
    return rewritten(graph, [&](Builder&, NodeId id, std::span<const NodeId> at) {
        return marks(id) ? at[static_cast<size_t>(graph[id].in[0])] : kNoNode;
    });
}

} // namespace

Program compile(const Graph& graph, const CompileOptions& options) {
    Program program;
    program.graph = withoutMarks(graph);
    if (options.rewrites == Rewrites::SavePasses)
        program.graph = linearSumsApart(thinProductsByElement(program.graph));
    if (options.takesChannelsLast != nullptr)
        program.graph = storeChannelsLast(program.graph, options.takesChannelsLast);
    if (!options.wideBias) program.graph = biasApart(program.graph);
    validate(program.graph);
    program.kernels = fuse(program.graph, options.fuse, options.channelSums);
    program.memory = planMemory(program.graph, program.kernels, program.pointOfNoReturn);
    return program;
}

} // namespace halfscope
