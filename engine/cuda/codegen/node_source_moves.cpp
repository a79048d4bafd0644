// Kernels that move elements: an index written out for each result, a transpose in tiles, gather
// and scatter along an axis, pooling windows. Moves copy storage unchanged, as integers of its
// size.
#include "engine/cuda/codegen/node_source.h"

#include "engine/core/axis_view.h"
#include "engine/core/error.h"

#include <algorithm>
#include <limits>

namespace halfscope::cuda {
namespace {

/// Where a move reads: input strides by axis of the result, and the first element.
struct Source {
    Shape strides{};
    int64_t offset = 0;
};

/// A permutation without axes of extent 1, with neighbours that stay together joined.
struct Permutation {
    Shape extents, in, out; ///< by axis of the result: strides in the input and in the result
};
Permutation joined(const Shape& shape, const Shape& strides) {
    Permutation p;
    const Shape dense = shape.strides();
    for (int i = 0; i < shape.rank(); ++i) {
        if (shape[i] == 1) continue;
        const int last = p.extents.rank() - 1;
        if (last >= 0 && p.in[last] == shape[i] * strides[i]) {
            p.extents[last] *= shape[i];
            p.in[last] = strides[i];
            p.out[last] = dense[i];
        } else {
            p.extents.push(shape[i]);
            p.in.push(strides[i]);
            p.out.push(dense[i]);
        }
    }
    return p;
}

/// Returns the axis along which the input is contiguous but the result is not, which tiles
/// transpose; or -1.
int turnedAxis(const Permutation& p) {
    constexpr int64_t kWorthIt = 8; ///< shorter runs fit into a cache line either way
    const int last = p.extents.rank() - 1;
    if (last < 1 || p.in[last] == 1 || p.extents[last] < kWorthIt) return -1;
    for (int i = 0; i < last; ++i)
        if (p.in[i] == 1 && p.extents[i] >= kWorthIt) return i;
    return -1;
}

KernelText writeTurned(const NodeSite& site, const Permutation& p, int row) {
    constexpr int64_t kSide = 32; // of movement.cuh
    const int last = p.extents.rank() - 1;
    Shape outer, outerIn, outerOut;
    for (int i = 0; i < last; ++i) {
        if (i == row) continue;
        outer.push(p.extents[i]);
        outerIn.push(p.in[i]);
        outerOut.push(p.out[i]);
    }
    const int64_t planes = outer.elements();
    const int64_t blocks =
        site.blocksFor(planes * ceilDiv(p.extents[row], kSide) * ceilDiv(p.extents[last], kSide));
    HowText how(site);
    how.use("T", rawWord(site.node().dtype));
    how.number("rows", p.extents[row]).number("outStride", p.out[row]);
    how.number("columns", p.extents[last]).number("inStride", p.in[last]);
    how.number("planes", planes).count("blocks", blocks);
    how.place("from", "p", placeWords("p", outer, outerIn));
    how.place("to", "p", placeWords("p", outer, outerOut));
    KernelText text =
        site.function(how.text(),
                      "    hs::nodes::transpose<" + site.howName() + ">(" + site.rawInput(0) +
                          ", " + site.rawOutput() + ", shared, block);\n",
                      blocks);
    text.sharedBytes = static_cast<size_t>(kSide * (kSide + 1)) * bytesOf(site.node().dtype);
    text.sharedBytes = (text.sharedBytes + 15) / 16 * 16;
    return text;
}

/// Writes a loop over the result whose body assigns out[i].
KernelText writeElements(const NodeSite& site, const std::string& body) {
    const int64_t blocks = elementBlocks(site);
    const std::string out = "    using Index = " + site.indexWord() + ";\n    " +
                            rawWord(site.node().dtype) + "* out = " + site.rawOutput() + ";\n";
    return site.function("", out + site.elementLoop(blocks, body), blocks);
}

/// Returns the bits of an element that an index outside its axis asked for: NaN if the type has
/// one.
std::string missingBits(DType type) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (type == DType::I32) return bitsWord(type, std::numeric_limits<int32_t>::min());
    return bitsWord(type, type == DType::Bool ? 0 : nan);
}

/// Reads each element from where the source says.
KernelText writeFrom(const NodeSite& site, const Source& source) {
    return writeElements(
        site, "        out[i] = (" + site.rawInput(0) + ")[" +
                  placeWords("i", site.node().shape, source.strides, source.offset) + "];\n");
}

} // namespace

// used only when a program asks for a copy
KernelText writeReshape(const NodeSite& site) {
    return writeFrom(site, {site.node().shape.strides()});
}

KernelText writeTranspose(const NodeSite& site) {
    const Shape strides = site.in(0).shape.strides();
    Source source;
    for (const int64_t axis : std::get<AxesAttrs>(site.node().attrs).axes)
        source.strides.push(strides[static_cast<int>(axis)]);
    const Permutation p = joined(site.node().shape, source.strides);
    if (const int row = turnedAxis(p); row >= 0) return writeTurned(site, p, row);
    return writeFrom(site, source);
}

KernelText writeSlice(const NodeSite& site) {
    const Shape strides = site.in(0).shape.strides();
    const auto& cut = std::get<SliceAttrs>(site.node().attrs);
    Source source;
    for (int i = 0; i < strides.rank(); ++i) {
        source.strides.push(strides[i] * cut.step[i]);
        source.offset += strides[i] * cut.begin[i];
    }
    return writeFrom(site, source);
}

KernelText writeExpand(const NodeSite& site) {
    const Shape &to = site.node().shape, &from = site.in(0).shape;
    const Shape strides = from.strides();
    Source source{Shape::filled(to.rank(), 0)};
    const int extra = to.rank() - from.rank();
    for (int i = 0; i < from.rank(); ++i)
        source.strides[i + extra] = from[i] == 1 ? 0 : strides[i];
    return writeFrom(site, source);
}

KernelText writePad(const NodeSite& site) {
    const auto& pad = std::get<PadAttrs>(site.node().attrs);
    const Shape &from = site.in(0).shape, &to = site.node().shape;
    const Shape dense = to.strides(), strides = from.strides();
    std::string body, inside, place;
    for (int i = 0; i < to.rank(); ++i) {
        const std::string name = "at" + std::to_string(i);
        const int64_t step = pad.between[i] + 1;
        // / and % come before the subtraction, because after it they would round towards zero:
        // negative places are outside
        body += "        const Index " + name + " = i / " + std::to_string(dense[i]) + " % " +
                std::to_string(to[i]) + " - " + std::to_string(pad.before[i]) + ";\n";
        inside += (inside.empty() ? "" : " && ") + name + " >= 0 && " + name + " < " +
                  std::to_string((from[i] - 1) * step + 1);
        if (step > 1) inside += " && " + name + " % " + std::to_string(step) + " == 0";
        place += (place.empty() ? "" : " + ") + name + " / " + std::to_string(step) + " * " +
                 std::to_string(strides[i]);
    }
    if (inside.empty()) inside = "true", place = "0";
    body += "        out[i] = " + inside + " ? (" + site.rawInput(0) + ")[" + place +
            "] : " + rawWord(site.node().dtype) + "(" + bitsWord(site.node().dtype, pad.value) +
            ");\n";
    return writeElements(site, body);
}

KernelText writeConcat(const NodeSite& site) {
    const int axis = std::get<AxisAttrs>(site.node().attrs).axis;
    const AxisView view = around(site.node().shape, axis);
    std::string body = "        const Index at = i / " + std::to_string(view.inner) + " % " +
                       std::to_string(view.extent) + ", outer = i / " +
                       std::to_string(view.inner * view.extent) + ", inner = i % " +
                       std::to_string(view.inner) + ";\n";
    int64_t begin = 0;
    for (size_t part = 0; part < site.inputs(); ++part) {
        const int64_t extent = site.in(part).shape[axis];
        const bool last = part + 1 == site.inputs();
        body += "        " + std::string(part == 0 ? "" : "else ");
        if (!last) body += "if (at < " + std::to_string(begin + extent) + ") ";
        body += "out[i] = (" + site.rawInput(part) + ")[(outer * " + std::to_string(extent) +
                " + at - " + std::to_string(begin) + ") * " + std::to_string(view.inner) +
                " + inner];\n";
        begin += extent;
    }
    return writeElements(site, body);
}

KernelText writeIota(const NodeSite& site) {
    const AxisView view = around(site.node().shape, std::get<AxisAttrs>(site.node().attrs).axis);
    const std::string at =
        "i / " + std::to_string(view.inner) + " % " + std::to_string(view.extent);
    const std::string body =
        "        hs::store(" + site.output() + " + i, static_cast<double>(" + at + "));\n";
    const int64_t blocks = elementBlocks(site);
    return site.function("", site.elementLoop(blocks, body), blocks);
}

KernelText writeGather(const NodeSite& site) {
    const int axis = std::get<AxisAttrs>(site.node().attrs).axis;
    const AxisView from = around(site.in(0).shape, axis), to = around(site.node().shape, axis);
    const DType type = site.node().dtype;
    // A kernel cannot stop a step: a wrong index shows as NaN and reads no foreign memory.
    const std::string body =
        "        const Index at = (" + site.input(1) + ")[i];\n        const Index outer = i / " +
        std::to_string(to.extent * to.inner) + ", inner = i % " + std::to_string(to.inner) +
        ";\n        out[i] = at >= 0 && at < " + std::to_string(from.extent) + " ? (" +
        site.rawInput(0) + ")[(outer * " + std::to_string(from.extent) + " + at) * " +
        std::to_string(to.inner) + " + inner] : " + rawWord(type) + "(" + missingBits(type) +
        ");\n";
    return writeElements(site, body);
}

KernelText writeScatter(const NodeSite& site) {
    constexpr int64_t kShortLine = 32; ///< indices that each target may look at
    constexpr int64_t kWidth = 2048;   ///< targets per block
    const Node& node = site.node();
    const int axis = std::get<AxisAttrs>(node.attrs).axis;
    const AxisView from = around(site.in(0).shape, axis), to = around(node.shape, axis);
    const bool byLine = to.inner == 1 && from.extent > kShortLine;
    const int64_t width = std::min(to.extent, kWidth);
    const int64_t blocks = byLine ? site.blocksFor(to.outer * ceilDiv(to.extent, width))
                                  : site.blocksFor(ceilDiv(node.elements(), kThreads));
    const std::string acc = node.dtype == DType::F64   ? "double"
                            : node.dtype == DType::I32 ? "int"
                                                       : "float";
    HowText how(site);
    how.use("T", storageWord(node.dtype)).use("Acc", acc);
    how.number("outer", to.outer).number("count", from.extent).number("inner", to.inner);
    how.number("extent", to.extent).number("width", width).count("blocks", blocks);
    const std::string values = "(" + site.input(0) + ", " + site.input(1) + ", " + site.output();
    KernelText text = site.function(
        how.text(),
        "    hs::nodes::" + std::string(byLine ? "scatterByLine<" : "scatterByTarget<") +
            site.howName() + ">" + values + (byLine ? ", shared" : "") + ", block);\n",
        blocks);
    const size_t bytes = node.dtype == DType::F64 ? 8 : 4;
    if (byLine)
        text.sharedBytes =
            ((static_cast<size_t>(width) + kThreads) * bytes + kThreads * sizeof(int32_t) + 15) /
            16 * 16;
    return text;
}

KernelText writePool(const NodeSite& site) {
    const Node& node = site.node();
    const bool gradient = node.op == Op::AvgPool2dGrad;
    const Shape& image = gradient ? node.shape : site.in(0).shape;
    const Shape& pooled = gradient ? site.in(0).shape : node.shape;
    const auto& pool = std::get<PoolAttrs>(node.attrs);
    const int64_t blocks = site.blocksFor(ceilDiv(node.elements(), kThreads));
    HowText how(site);
    how.use("In", storageWord(site.in(0).dtype)).use("Out", storageWord(node.dtype));
    how.use("Acc", site.isExact() ? "double" : "float");
    how.number("planes", image[0] * image[1]).number("h", image[2]).number("w", image[3]);
    how.number("oh", pooled[2]).number("ow", pooled[3]);
    how.number("ky", pool.kernel[0]).number("kx", pool.kernel[1]);
    how.number("sy", pool.stride[0]).number("sx", pool.stride[1]);
    how.number("py", pool.padding[0]).number("px", pool.padding[1]).count("blocks", blocks);
    const char* function = node.op == Op::MaxPool2dIndex ? "maxPoolIndex"
                           : gradient                    ? "averagePoolGrad"
                                                         : "averagePool";
    return site.function(how.text(),
                         "    hs::nodes::" + std::string(function) + "<" + site.howName() + ">(" +
                             site.input(0) + ", " + site.output() + ", block);\n",
                         blocks);
}

} // namespace halfscope::cuda
