// One matrix product as a chain in the emulator, from random operands.
#pragma once

#include "tests/emulator/cuda_emulator.h"
#include "tests/support/chain_plans.h"
#include "tests/support/run_program.h"

#include "engine/cuda/codegen/chain.h"
#include "engine/ops/builder.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace halfscope::test {

inline cuda::DeviceTraits traitsFor(const cuda::ChainWay& way, size_t sharedBytes = kH200Shared,
                                    int capability = 90) {
    cuda::DeviceTraits traits = small(sharedBytes);
    traits.chainWay = way;
    traits.capability = capability;
    return traits;
}

/// A matrix product that is a chain of its own; in 16 bits, a forward one has a bias.
struct ProductCase {
    DType dtype = DType::F16;
    MathMode math = MathMode::F32FromHalf;
    int m = 0, n = 0, k = 0;
    MatmulAttrs attrs;
    size_t sharedBytes = kH200Shared; ///< little of it: narrow tiles
    int capability = 90;              ///< below 90: low tiles
};

/// What a product reads, leaves in memory, and prefetches.
struct ProductOutcome {
    Program program;
    std::vector<cuda::KernelText> texts;
    std::map<NodeId, std::vector<double>> loads;
    std::vector<std::byte> arena;
    std::set<std::ptrdiff_t> asked;
};

/// Returns the product's text with every occurrence of `part` replaced by `by`.
inline std::string changedText(const ProductOutcome& outcome, const std::string& part,
                               const std::string& by) {
    std::string text = textOf(outcome.texts);
    bool isReplaced = part.empty();
    for (size_t at = 0; !part.empty() && (at = text.find(part, at)) != std::string::npos;
         at += by.size()) {
        text.replace(at, part.size(), by);
        isReplaced = true;
    }
    if (!isReplaced) throw std::runtime_error("the text has no " + part);
    return text;
}

/// Runs one product alone, with the text of changedText(). Throws std::runtime_error when it writes
/// outside its result and its scratch area.
inline ProductOutcome outcomeOf(const ProductCase& c, const cuda::ChainWay& way,
                                const std::string& part = "", const std::string& by = "") {
    Graph graph;
    Builder b(graph);
    const NodeId left =
        b.input("a", c.attrs.transposeA ? Shape{c.k, c.m} : Shape{c.m, c.k}, c.dtype);
    const NodeId right =
        b.input("b", c.attrs.transposeB ? Shape{c.n, c.k} : Shape{c.k, c.n}, c.dtype);
    if (c.math == MathMode::TF32) b.setMathMode(MathMode::TF32);
    const bool hasBias = isLow(c.dtype) && !c.attrs.transposeA;
    const NodeId bias = hasBias ? b.input("bias", {c.n}, c.dtype) : kNoNode;
    graph.addOutput("c", b.matmul(left, right, c.attrs, bias));
    ProductOutcome outcome{compile(graph), {}, {}, {}, {}};
    const Program& program = outcome.program;
    outcome.texts = cuda::writeChain({program, 0, "product", 1000, 0, 0},
                                     traitsFor(way, c.sharedBytes, c.capability));
    const EmulatedModule module(changedText(outcome, part, by));
    module.watchAhead(&outcome.asked);

    constexpr std::byte kPattern{0xA5};
    constexpr size_t kGuard = 512;
    const size_t arenaBytes = program.memory.arenaBytes,
                 scratchBytes = outcome.texts[0].scratchBytes;
    std::vector<std::byte> arena(arenaBytes + 2 * kGuard, kPattern),
        scratch(scratchBytes + 2 * kGuard, kPattern);
    const auto placeOf = [&](NodeId id) {
        return arena.begin() +
               static_cast<std::ptrdiff_t>(kGuard + program.memory.offset[static_cast<size_t>(id)]);
    };
    std::mt19937 random(static_cast<unsigned>(c.m * 31 + c.n * 7 + c.k));
    std::uniform_real_distribution<double> uniform(-2, 2);
    for (NodeId id : program.kernels[0].loads) {
        std::vector<double>& x = outcome.loads[id];
        x.resize(static_cast<size_t>(program.graph[id].elements()));
        for (double& element : x)
            element = roundTo(c.dtype, uniform(random));
        const auto bytes = toBytes(program.graph[id], x);
        std::copy(bytes.begin(), bytes.end(), placeOf(id));
    }
    std::vector<std::byte> before = arena;
    for (size_t phase = 0; phase < outcome.texts.size(); ++phase) {
        cuda::Launch launch;
        launch.entry = phase == 0 ? "run_product" : "run_product_merge";
        launch.blocks = outcome.texts[phase].blocks;
        launch.sharedBytes = outcome.texts[phase].sharedBytes;
        module.launch(launch, arena.data() + kGuard, scratch.data() + kGuard, nullptr, 7,
                      {arenaBytes, scratchBytes, 0});
    }
    const NodeId out = program.kernels[0].stores[0];
    std::copy_n(placeOf(out), program.graph[out].bytes(),
                before.begin() + (placeOf(out) - arena.begin()));
    const auto isWhole = [&](auto from) {
        return std::all_of(from, from + kGuard, [](std::byte x) { return x == kPattern; });
    };
    if (arena != before || !isWhole(scratch.begin()) || !isWhole(scratch.end() - kGuard))
        throw std::runtime_error("the product writes outside its result");
    outcome.arena.assign(arena.begin() + kGuard, arena.end() - kGuard);
    return outcome;
}

} // namespace halfscope::test
