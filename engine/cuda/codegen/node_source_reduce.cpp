// Kernels of reductions and scans: how the axes are arranged, how many threads share an output, and
// into how many parts its sum is cut. All of it depends only on sizes.
#include "engine/cuda/codegen/node_source.h"

#include "engine/core/error.h"

#include <algorithm>

namespace halfscope::cuda {
namespace {

constexpr int64_t kRun = 32;          ///< of reduce.cuh
constexpr int64_t kWantedTiles = 528; ///< four blocks on each multiprocessor of a large device
constexpr int64_t kLaneElements = 4;  ///< the least that a lane joins
constexpr int64_t kNeighbours = 32;   ///< outputs side by side: a warp reads a run

/// The input's axes, kept and reduced, without extents of 1.
struct ReduceAxes {
    Shape keptExtents, keptStrides, reducedExtents, reducedStrides;
    bool runs = false; ///< the innermost axis is reduced
};

ReduceAxes axesOf(const Shape& in, const Shape& axes) {
    ReduceAxes a;
    const Shape strides = in.strides();
    for (int i = 0; i < in.rank(); ++i) {
        if (in[i] == 1) continue;
        a.runs = std::find(axes.begin(), axes.end(), int64_t{i}) != axes.end();
        (a.runs ? a.reducedExtents : a.keptExtents).push(in[i]);
        (a.runs ? a.reducedStrides : a.keptStrides).push(strides[i]);
    }
    return a;
}

struct ReduceCut {
    int64_t lanes = 1, parts = 1, tiles = 1;
};

ReduceCut cutOf(const ReduceAxes& axes, int64_t outputs, int64_t reduced) {
    ReduceCut cut;
    const int64_t most =
        axes.runs ? kThreads : kThreads / std::min(kNeighbours, powerOfTwo(outputs));
    cut.lanes = std::clamp<int64_t>(powerOfTwo(ceilDiv(reduced, kLaneElements)), 1, most);
    cut.tiles = ceilDiv(outputs, kThreads / cut.lanes);
    cut.parts = std::clamp<int64_t>(reduced / (cut.lanes * kRun), 1,
                                    std::max<int64_t>(1, kWantedTiles / cut.tiles));
    return cut;
}

/// The type in which a short run is joined, and that of the whole.
struct ReduceTypes {
    std::string fine, wide;
};

/// What a reduction does with the elements.
struct Reduction {
    const char* step;   ///< the step that joins two
    ReduceTypes floats; ///< types in which those of at most 32 bits are joined
    bool divides = false;
};

ReduceTypes typesOf(const Reduction& reduction, DType in) {
    if (in == DType::I32) return {"hs::i64", "hs::i64"};
    if (in == DType::F64) return {"double", "double"};
    return reduction.floats;
}

KernelText writeReduction(const NodeSite& site, const Reduction& reduction) {
    const Node& node = site.node();
    const DType in = site.in(0).dtype;
    const ReduceAxes axes = axesOf(site.in(0).shape, std::get<AxesAttrs>(node.attrs).axes);
    const int64_t outputs = node.elements(), reduced = axes.reducedExtents.elements();
    const ReduceCut cut = cutOf(axes, outputs, reduced);
    const int64_t blocks = site.blocksFor(cut.tiles * (site.isAlone() ? 1 : cut.parts));
    const ReduceTypes types = typesOf(reduction, in);
    HowText how(site);
    how.use("In", storageWord(in)).use("Out", storageWord(node.dtype));
    how.use("Fine", types.fine).use("Acc", types.wide).use("Step", reduction.step);
    how.number("outputs", outputs).number("reduced", reduced).count("lanes", cut.lanes);
    how.flag("runs", axes.runs).count("parts", cut.parts).flag("alone", site.isAlone());
    how.count("blocks", blocks);
    how.place("kept", "o", placeWords("o", axes.keptExtents, axes.keptStrides));
    how.place("across", "r", placeWords("r", axes.reducedExtents, axes.reducedStrides));
    how.line(in == DType::I32 ? "HS_D static hs::i64 value(const In* x) { return *x; }"
                              : "HS_D static auto value(const In* x) { return hs::load(x); }");
    if (in == DType::I32)
        how.line("HS_D static int finish(Acc total) { return static_cast<int>(total); }");
    else if (reduction.divides)
        how.line("HS_D static Acc finish(Acc total) { return total / Acc(reduced); }");
    else
        how.line("HS_D static Acc finish(Acc total) { return total; }");
    KernelText text = site.function(
        how.text(),
        "    hs::nodes::reduce<" + site.howName() + ">(" + site.input(0) + ", " + site.output() +
            ", " + site.scratch() + ", " + site.tickets() + ", shared, block);\n",
        blocks);
    const size_t bytes = types.wide == "float" ? 4 : 8;
    text.sharedBytes = kThreads * bytes + 16; // and a flag
    if (cut.parts > 1 && !site.isAlone()) {
        text.scratchBytes = static_cast<size_t>(cut.parts * outputs) * bytes;
        text.tickets = static_cast<int>(cut.tiles);
    }
    return text;
}

} // namespace

KernelText writeSum(const NodeSite& site) {
    return writeReduction(site, {"hs::nodes::AddStep", {"float", "double"}});
}
KernelText writeMean(const NodeSite& site) {
    return writeReduction(site, {"hs::nodes::AddStep", {"float", "double"}, true});
}
KernelText writeProd(const NodeSite& site) {
    // a product of floats may leave their range long before it comes back
    return writeReduction(site, {"hs::nodes::TimesStep", {"double", "double"}});
}
KernelText writeReduceMax(const NodeSite& site) {
    return writeReduction(site, {"hs::nodes::LargerStep", {"float", "float"}});
}
KernelText writeReduceMin(const NodeSite& site) {
    return writeReduction(site, {"hs::nodes::SmallerStep", {"float", "float"}});
}

KernelText writeScan(const NodeSite& site) {
    constexpr int64_t kLongLine = 512, kManyLines = 8192;
    const Node& node = site.node();
    const auto& attrs = std::get<ScanAttrs>(node.attrs);
    const int64_t extent = node.shape[attrs.axis], stride = node.shape.strides()[attrs.axis];
    const int64_t lines = extent == 0 ? 0 : node.elements() / extent;
    // A product in any order other than along the line may leave the range of a double and not come
    // back; a sum of floats cannot.
    const bool byBlock = node.op == Op::Cumsum && extent > kLongLine && lines < kManyLines;
    const int64_t blocks = site.blocksFor(byBlock ? lines : ceilDiv(lines, kThreads));
    HowText how(site);
    how.use("T", storageWord(node.dtype));
    how.use("Step", node.op == Op::Cumsum ? "hs::nodes::RunningSum" : "hs::nodes::RunningProduct");
    how.number("lines", lines).number("extent", extent).number("stride", stride);
    how.flag("reverse", attrs.reverse).count("blocks", blocks);
    const std::string values = "(" + site.input(0) + ", " + site.output();
    KernelText text = site.function(
        how.text(),
        "    hs::nodes::" + std::string(byBlock ? "scanByBlock<" : "scanByThread<") +
            site.howName() + ">" + values + (byBlock ? ", shared" : "") + ", block);\n",
        blocks);
    if (byBlock) text.sharedBytes = 2 * kThreads * sizeof(double);
    return text;
}

} // namespace halfscope::cuda
