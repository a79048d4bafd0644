// Writes a fused loop as a device function: first the loads of a batch, then its elements in the
// CPU loop's arithmetic, then its stores; sums are in registers, then over the block, then over
// blocks.
#include "engine/core/error.h"
#include "engine/cuda/codegen/element_source.h"
#include "engine/cuda/codegen/loop_writer.h"
#include "engine/cuda/codegen/node_source.h"

#include <algorithm>

namespace halfscope::cuda {

namespace {

/// Writes a kernel over nothing: its sums are 0, its means NaN.
void writeEmpty(SourceLines& out, const LoopFacts& facts) {
    for (const LoopReduction& reduction : facts.reductions) {
        const Node& node = facts.node(reduction.node);
        out.line("for (int i = threadIdx.x; i < " + std::to_string(node.elements()) +
                 "; i += kThreads)");
        out.line("    store((" + storageType(node.dtype) + "*)(arena + " +
                 std::to_string(reduction.offset) + ") + i, " +
                 (node.op == Op::Mean ? "floatOf(0x7FC00000u)" : "0.0f") + ");");
    }
}

/// Returns the part of a loop that has a sweep of its own.
LoopFacts only(const LoopFacts& facts, bool columnSums) {
    LoopFacts part = facts;
    std::erase_if(part.reductions, [&](const LoopReduction& reduction) {
        return (reduction.kind == ReduceKind::Columns) != columnSums;
    });
    if (columnSums) part.stores.clear();
    return part;
}

} // namespace

KernelText writeLoop(const KernelSite& site, const DeviceTraits& traits) {
    const Kernel& kernel = site.program.kernels[site.kernel];
    require(kernel.loop, "cuda loop: not a loop kernel");
    const LoopFacts facts = factsOf(site.program, kernel);
    KernelText text;
    SourceLines out;
    out.line("__device__ void " + site.name +
             "(char* arena, char* scratch, unsigned* tickets, char* shared, int block) {");
    out.line("using namespace hs;");
    if (facts.elements() == 0) {
        writeEmpty(out, facts);
    } else {
        const LoopLayout layout = layOut(facts, site.maxBlocks, traits);
        // A single block has no scratch for the row sums of several column tiles: it makes a sweep
        // for them before the one that stores.
        const bool twice = layout.blocks == 1 && layout.tiles > 1 &&
                           facts.reduces(ReduceKind::Columns) && facts.reduces(ReduceKind::Rows);
        if (twice) {
            const LoopFacts sums = only(facts, true), rest = only(facts, false);
            LoopWriter(site, sums, layOut(sums, 1, traits), out, text).write();
            out.line("__syncthreads();");
            LoopWriter(site, rest, layOut(rest, 1, traits), out, text).write();
        } else {
            LoopWriter(site, facts, layout, out, text).write();
        }
    }
    out.line("}");
    text.function = out.text();
    return text;
}

std::string writeElementOfProduct(const KernelSite& site, const std::string& sum) {
    const Program& program = site.program;
    const LoopFacts facts = factsOf(program, program.kernels[site.kernel]);
    require(!facts.given.empty(), "cuda loop: no product is behind it");
    SourceLines out;
    std::string value =
        facts.node(facts.given.front()).dtype == DType::F32
            ? sum
            : "rounded<" + storageType(facts.node(facts.given.front()).dtype) + ">(" + sum + ")";
    for (NodeId id : facts.given) {
        const std::string name = "v" + std::to_string(id);
        out.line("const float " + name + " = " + value + ";");
        value = name;
    }
    LoopLayout layout;
    layout.wideIndex = facts.elements() >= (int64_t{1} << 31);
    KernelText none;
    LoopWriter(site, facts, layout, out, none).writeOne();
    return out.text();
}

} // namespace halfscope::cuda
