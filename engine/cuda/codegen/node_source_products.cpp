// Kernels of matrix products and convolutions: tensor cores or which of matmul.cuh's ways, which
// tile, and into how many parts k is cut. All of it depends only on sizes, never on the available
// blocks, so that merged and single launches give the same bits.
#include "engine/cuda/codegen/node_source.h"

#include "engine/cuda/codegen/product_loops.h"

#include <algorithm>

namespace halfscope::cuda {
namespace {

constexpr size_t kTilesCompiling = 14 << 10; ///< see KernelText::compiling

struct ProductSizes {
    int64_t batch = 1, m = 0, n = 0, k = 0;
    int64_t results() const { return batch * m * n; }
};

struct ProductPlan {
    int64_t lanes = 0; ///< above 0: that many threads share a result, without tiles
    int64_t tileM = 16, tileN = 16, parts = 1;
    /// Of k, staged at once between two barriers. Small tiles have little to do between them.
    int64_t depth() const { return tileM + tileN <= 64 ? 64 : 16; }

    int64_t tiles(const ProductSizes& s) const {
        return s.batch * ceilDiv(s.m, tileM) * ceilDiv(s.n, tileN);
    }
};

constexpr int64_t kWantedTiles = 264;   ///< two blocks on each multiprocessor of a large device
constexpr int64_t kSmallWork = 1 << 20; ///< multiplications below which a tile's barriers cost more
constexpr int64_t kSmallDepth = 2048;   ///< k of a product without tiles
constexpr int64_t kSmallThreads = 16384; ///< threads that share a small product
constexpr int64_t kPartDepth = 256;      ///< the least k of one part
constexpr int64_t kMostTurns = 32;       ///< of a warp, while there is room for more blocks

ProductPlan planOf(const ProductSizes& s) {
    ProductPlan plan;
    if (s.results() * s.k <= kSmallWork && s.k <= kSmallDepth) {
        const int64_t spare = kSmallThreads / std::max<int64_t>(s.results(), 1);
        // a lane takes at least four products; more lanes would only join more
        plan.lanes =
            std::clamp<int64_t>(std::min(powerOfTwo(ceilDiv(s.k, 4)), powerOfTwo(spare)), 1, 32);
        return plan;
    }
    plan.tileM = std::clamp<int64_t>(powerOfTwo(s.m), 16, 64);
    plan.tileN = std::clamp<int64_t>(powerOfTwo(s.n), 16, 64);
    const auto cut = [&] {
        plan.parts = std::clamp<int64_t>(s.k / kPartDepth, 1, ceilDiv(kWantedTiles, plan.tiles(s)));
        return plan.tiles(s) * plan.parts;
    };
    // a smaller tile reads its operands more often, so only when blocks would be idle
    while (cut() < kWantedTiles / 2 && std::max(plan.tileM, plan.tileN) > 16)
        (plan.tileM >= plan.tileN ? plan.tileM : plan.tileN) /= 2;
    return plan;
}

/// A product by tensor cores, see warp_matmul.cuh.
struct WarpPlan {
    int64_t tileN = 16, ways = 1, turns = 1;

    int64_t tiles(const ProductSizes& s) const {
        return s.batch * ceilDiv(s.m, 16) * ceilDiv(s.n, tileN);
    }
    int64_t blocks(const ProductSizes& s) const { return ceilDiv(tiles(s) * ways, kWarps); }
    static constexpr int64_t kWarps = kThreads / 32;
};

WarpPlan warpPlanOf(const ProductSizes& s, DType in) {
    WarpPlan plan;
    const int64_t turns = std::max<int64_t>(ceilDiv(s.k, in == DType::F32 ? 16 : 32), 1);
    const auto cut = [&](int64_t tileN) {
        plan.tileN = tileN;
        plan.ways = 1;
        while (plan.ways < WarpPlan::kWarps && 2 * plan.ways <= turns &&
               plan.blocks(s) < kWantedTiles)
            plan.ways *= 2;
    };
    cut(16);
    // a narrower tile reads its rows more often, so only when multiprocessors would be idle
    if (s.n <= 8 || plan.blocks(s) < kWantedTiles / 2) cut(8);
    plan.turns = ceilDiv(turns, plan.ways);
    return plan;
}

/// Whether warps have enough to do. The warps of a block share k, but tiles cut it for as many
/// blocks as a device runs, which is faster when k is long and the result is small.
bool sharesWell(const WarpPlan& plan, const ProductSizes& s) {
    return plan.turns <= kMostTurns || plan.blocks(s) >= kWantedTiles / 2;
}

/// Whether tensor cores multiply what a product has, with sums in f32.
bool suitsWarps(const NodeSite& site) {
    const Node& node = site.node();
    const DType in = site.in(0).dtype;
    const bool tf32 = in == DType::F32 && node.math == MathMode::TF32;
    if (node.op != Op::Matmul || !(in == DType::F16 || in == DType::BF16 || tf32)) return false;
    return site.traits().capability >= (in == DType::F16 ? 75 : 80);
}

const Shape& imageOf(const NodeSite& site) {
    return site.node().op == Op::Conv2dInputGrad ? site.node().shape : site.in(0).shape;
}

/// Adds the extents of a convolution as members, and returns the product that it is.
ProductSizes addConvolution(const NodeSite& site, HowText& how) {
    const Op op = site.node().op;
    const Shape &result = site.node().shape, &a = site.in(0).shape, &b = site.in(1).shape;
    const Shape& image = imageOf(site);
    const Shape& weight = op == Op::Conv2dWeightGrad ? result : b;
    const Shape& y = op == Op::Conv2d ? result : op == Op::Conv2dInputGrad ? a : b;
    const auto& attrs = std::get<ConvAttrs>(site.node().attrs);
    how.number("n", image[0]).number("c", image[1]).number("h", image[2]).number("w", image[3]);
    how.number("o", weight[0]).number("kh", weight[2]).number("kw", weight[3]);
    how.number("oh", y[2]).number("ow", y[3]);
    how.number("sy", attrs.stride[0]).number("sx", attrs.stride[1]);
    how.number("py", attrs.padding[0]).number("px", attrs.padding[1]);
    how.number("dilationY", attrs.dilation[0]).number("dilationX", attrs.dilation[1]);
    const int64_t places = image[0] * y[2] * y[3], kernel = weight[2] * weight[3];
    const int64_t groups = attrs.groups, channels = weight[1], outputs = weight[0] / groups;
    if (op == Op::Conv2d) return {groups, outputs, places, channels * kernel};
    if (op == Op::Conv2dInputGrad)
        return {groups, channels, image[0] * image[2] * image[3], outputs * kernel};
    return {groups, outputs, channels * kernel, places};
}

ProductSizes addMatmul(const NodeSite& site, HowText& how) {
    const auto& attrs = std::get<MatmulAttrs>(site.node().attrs);
    const Shape &a = site.in(0).shape, &out = site.node().shape;
    const int last = out.rank() - 1;
    ProductSizes s;
    s.m = out[last - 1];
    s.n = out[last];
    s.k = attrs.transposeA ? a[last - 1] : a[last];
    for (int i = 0; i < last - 1; ++i)
        s.batch *= out[i];
    how.number("m", s.m).number("n", s.n).number("k", s.k);
    how.flag("transposeA", attrs.transposeA).flag("transposeB", attrs.transposeB);
    how.flag("bias", site.inputs() == 3);
    return s;
}

/// Returns a struct of a product's operands that does with each result what a loop does with it.
std::string joinedOperands(const NodeSite& site) {
    const char* index = site.node().elements() >= (int64_t{1} << 31) ? "hs::u64" : "hs::u32";
    return "struct " + site.name() + "_x : hs::nodes::MatmulOperands<" + site.howName() +
           "> {\n    char* arena;\n"
           "    HS_D void put(Index batch, Index row, Index column, float product) const {\n"
           "        using namespace hs;\n"
           "        const float sum = withBias(product, column);\n        const " +
           index + " i = (static_cast<" + index + ">(batch) * m + row) * n + column;\n" +
           writeElementOfProduct(site.site(), "sum") + "    }\n};\n";
}

/// Returns the operands' template and its pointers.
std::string operandsOf(const NodeSite& site) {
    const auto with = [&](const char* type, std::string pointers) {
        return "hs::nodes::" + std::string(type) + "<" + site.howName() + "> x{" +
               std::move(pointers) + ", " + site.output() + "};\n";
    };
    const std::string a = site.input(0), b = site.input(1), none = "nullptr";
    const Op op = site.node().op;
    const std::string bias = site.inputs() == 3 ? site.input(2) : none;
    if (isProductLoop(site.graph(), site.kernel()))
        return site.name() + "_x x{{" + a + ", " + b + ", " + bias + ", " + none + "}, arena};\n";
    if (op == Op::Matmul) return with("MatmulOperands", a + ", " + b + ", " + bias);
    if (op == Op::Conv2d) return with("ConvForward", a + ", " + b + ", " + none);
    if (op == Op::Conv2dInputGrad) return with("ConvInputGrad", none + ", " + b + ", " + a);
    return with("ConvWeightGrad", a + ", " + none + ", " + b);
}

/// Writes the kernel that calls a template for these operands.
KernelText callOf(const NodeSite& site, const HowText& how, const std::string& call,
                  int64_t blocks) {
    const bool joined = isProductLoop(site.graph(), site.kernel());
    return site.function(how.text(),
                         "    const " + operandsOf(site) + "    hs::nodes::" + call + ";\n", blocks,
                         joined ? joinedOperands(site) : std::string());
}

KernelText writeLanes(const NodeSite& site, HowText& how, const ProductSizes& s, int64_t lanes) {
    const int64_t blocks = site.blocksFor(ceilDiv(s.results() * lanes, kThreads));
    how.count("blocks", blocks).count("lanes", lanes);
    return callOf(site, how, "multiplySmall<" + site.howName() + ">(x, block)", blocks);
}

KernelText writeWarps(const NodeSite& site, HowText& how, const ProductSizes& s) {
    const WarpPlan plan = warpPlanOf(s, site.in(0).dtype);
    const int64_t blocks = site.blocksFor(plan.blocks(s));
    how.count("blocks", blocks).count("tileN", plan.tileN);
    how.count("ways", plan.ways).count("turns", plan.turns);
    KernelText text =
        callOf(site, how, "multiplyByWarps<" + site.howName() + ">(x, shared, block)", blocks);
    text.compiling = kTilesCompiling;
    if (plan.ways > 1)
        text.sharedBytes = static_cast<size_t>(WarpPlan::kWarps * 16 * plan.tileN) * sizeof(float);
    return text;
}

KernelText writeTiles(const NodeSite& site, HowText& how, const ProductSizes& s,
                      const ProductPlan& plan) {
    const int64_t blocks = site.blocksFor(plan.tiles(s) * (site.isAlone() ? 1 : plan.parts));
    how.count("blocks", blocks);
    how.count("tileM", plan.tileM).count("tileN", plan.tileN).count("parts", plan.parts);
    how.count("depth", plan.depth());
    how.flag("alone", site.isAlone());
    KernelText text = callOf(site, how,
                             "multiplyTiles<" + site.howName() + ">(x, " + site.scratch() + ", " +
                                 site.tickets() + ", shared, block)",
                             blocks);
    text.compiling = kTilesCompiling;
    const int64_t bytes = site.in(0).dtype == DType::F64 ? 8 : 4;
    text.sharedBytes =
        static_cast<size_t>(plan.depth() * (plan.tileM + plan.tileN + 2) * bytes + 16); // a flag
    if (plan.parts > 1 && !site.isAlone()) {
        text.scratchBytes =
            static_cast<size_t>(plan.tiles(s) * plan.parts * plan.tileM * plan.tileN * bytes);
        text.tickets = static_cast<int>(plan.tiles(s));
    }
    return text;
}

} // namespace

KernelText writeProduct(const NodeSite& site) {
    const Node& node = site.node();
    HowText how(site);
    how.use("In", storageWord(site.in(0).dtype)).use("Out", storageWord(node.dtype));
    how.use("Acc", site.in(0).dtype == DType::F64 ? "double" : "float");
    how.flag("tf32", node.math == MathMode::TF32 && site.in(0).dtype == DType::F32);
    const ProductSizes s = node.op == Op::Matmul ? addMatmul(site, how) : addConvolution(site, how);
    how.number("batch", s.batch);
    const ProductPlan plan = planOf(s);
    if (plan.lanes > 0) return writeLanes(site, how, s, plan.lanes);
    const bool warps = suitsWarps(site) && sharesWell(warpPlanOf(s, site.in(0).dtype), s);
    return warps ? writeWarps(site, how, s) : writeTiles(site, how, s, plan);
}

} // namespace halfscope::cuda
