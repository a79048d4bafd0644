// One matrix product as a chain in the emulator, from random operands, in any tiles.
#pragma once

#include "tests/support/chain_plans.h"
#include "tests/support/cuda_emulator.h"
#include "tests/support/run_program.h"

#include "engine/cuda/codegen/chain.h"
#include "engine/graph/builder.h"

#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace halfscope::test {

inline cuda::DeviceTraits traitsFor(const cuda::TileLimits& tiles,
                                    size_t sharedBytes = kH200Shared) {
    cuda::DeviceTraits traits = small(sharedBytes);
    traits.tiles = tiles;
    return traits;
}

/// A matrix product of which a chain is all there is.
struct ProductCase {
    DType dtype = DType::F16;
    MathMode math = MathMode::F32FromHalf;
    int m = 0, n = 0, k = 0;
    MatmulAttrs attrs;
    size_t sharedBytes = kH200Shared;
    cuda::TileLimits tiles{};
};

/// What a product leaves in memory, and what it asks for ahead.
struct ProductOutcome {
    std::vector<std::byte> arena;
    std::set<std::ptrdiff_t> asked;
};

/// One product alone; of its text, `part` replaced by `by` wherever it stands.
inline ProductOutcome outcomeOf(const ProductCase& c, const cuda::TileLimits& tiles,
                                const std::string& part = "", const std::string& by = "") {
    Graph graph;
    Builder b(graph);
    const NodeId left =
        b.input("a", c.attrs.transposeA ? Shape{c.k, c.m} : Shape{c.m, c.k}, c.dtype);
    const NodeId right =
        b.input("b", c.attrs.transposeB ? Shape{c.n, c.k} : Shape{c.k, c.n}, c.dtype);
    if (c.math == MathMode::TF32) b.setMathMode(MathMode::TF32);
    graph.addOutput("c", b.matmul(left, right, c.attrs));
    const Program program = compile(graph);
    const auto texts =
        cuda::writeChain({program, 0, "product", 1000, 0, 0}, traitsFor(tiles, c.sharedBytes));
    std::string text = textOf(texts);
    bool isReplaced = part.empty();
    for (size_t at = 0; !part.empty() && (at = text.find(part, at)) != std::string::npos;
         at += by.size()) {
        text.replace(at, part.size(), by);
        isReplaced = true;
    }
    if (!isReplaced) throw std::runtime_error("the text has no " + part);

    const EmulatedModule module(text);
    ProductOutcome outcome{std::vector<std::byte>(program.memory.arenaBytes), {}};
    module.watchAhead(&outcome.asked);
    std::mt19937 random(static_cast<unsigned>(c.m * 31 + c.n * 7 + c.k));
    std::uniform_real_distribution<double> uniform(-2, 2);
    for (NodeId id : program.kernels[0].loads) {
        std::vector<double> x(static_cast<size_t>(program.graph[id].elements()));
        for (double& element : x)
            element = roundTo(c.dtype, uniform(random));
        const auto bytes = toBytes(program.graph[id], x);
        std::copy(bytes.begin(), bytes.end(),
                  outcome.arena.data() + program.memory.offset[static_cast<size_t>(id)]);
    }
    std::vector<std::byte> scratch(texts[0].scratchBytes);
    for (size_t phase = 0; phase < texts.size(); ++phase) {
        cuda::Launch launch;
        launch.entry = phase == 0 ? "run_product" : "run_product_merge";
        launch.blocks = texts[phase].blocks;
        launch.sharedBytes = texts[phase].sharedBytes;
        module.launch(launch, outcome.arena.data(), scratch.data(), nullptr, 7,
                      {outcome.arena.size(), scratch.size(), 0});
    }
    return outcome;
}

} // namespace halfscope::test
