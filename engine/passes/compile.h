// Compiles a graph to a Program: keeps what outputs and next values need, rewrites it, checks it,
// groups it into kernels and lays out its memory.
#pragma once

#include "engine/graph/program.h"
#include "engine/passes/channels_last.h"

namespace halfscope {

enum class FuseOptions : uint8_t { Full, None };

/// What is rewritten before it is fused.
enum class Rewrites : uint8_t {
    None,
    SavePasses, ///< thin_products.h, linear_sums.h: for a device whose loops wait for memory
};

struct CompileOptions {
    FuseOptions fuse = FuseOptions::Full;
    Rewrites rewrites = Rewrites::None;
    bool channelSums = false; ///< whether its loops can do ReduceKind::Channels
    bool wideBias = false;    ///< whether products of more than 16 bits add a bias (bias_apart.h)
    TakesChannelsLast takesChannelsLast = nullptr; ///< null: images stay planes
};

/// Runs prune -> rewrite -> validate -> fuse -> order -> plan.
Program compile(const Graph&, const CompileOptions& = {});

} // namespace halfscope
