// Writes the structs and functions of chains (kernels/chain.cuh).
#include "engine/core/error.h"
#include "engine/cuda/codegen/chain.h"
#include "engine/cuda/codegen/chain_text.h"
#include "engine/cuda/codegen/chain_tiles.h"
#include "engine/cuda/codegen/element_source.h"

#include <algorithm>

namespace halfscope::cuda {

namespace {

// See KernelText::compiling: by NVRTC 13.0, for sm_90a, a pass takes 0.1 to 0.3 seconds, a product
// 0.5 to 1.3.
constexpr size_t kPassCompiling = 10 << 10, kProductCompiling = 64 << 10;

constexpr int kMergeColumns = 8; ///< of a block that adds up partial sums
constexpr size_t kAlignment = 256;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

const MatmulAttrs& attrsOf(const Graph& graph, NodeId product) {
    return std::get<MatmulAttrs>(graph[product].attrs);
}

/// Writes the text of one chain.
class ChainWriter {
public:
    ChainWriter(const KernelSite& site, const ChainShape& shape, const ChainTiles& tiles,
                const ChainWay& way)
        : m_site(site), m_program(site.program), m_graph(site.program.graph),
          m_kernel(site.program.kernels[site.kernel]), m_shape(shape), m_tiles(tiles), m_way(way) {}

    std::vector<KernelText> run() { return m_shape.kind == ChainKind::Deep ? deep() : rows(); }

private:
    const Node& node(NodeId id) const { return m_graph[id]; }
    std::string name(const char* suffix) const { return m_site.name + suffix; }

    std::string mathText() const {
        const Node& product = node(m_shape.product);
        if (product.math == MathMode::F32FromHalf)
            return "HalfMath<" + storageType(node(product.in[0]).dtype) + ">";
        return product.math == MathMode::TF32 ? "Tf32Math" : "FloatMath";
    }
    static std::string number(const char* name, int64_t value) {
        return "    static constexpr int " + std::string(name) + " = " + std::to_string(value) +
               ";\n";
    }
    static std::string flag(const char* name, bool value) {
        return "    static constexpr bool " + std::string(name) +
               (value ? " = true;\n" : " = false;\n");
    }

    /// Whether the chain walks backwards through the rows, as every other one in the program does.
    bool isReversed() const {
        const auto& kernels = m_program.kernels;
        return std::count_if(kernels.begin(),
                             kernels.begin() + static_cast<std::ptrdiff_t>(m_site.kernel),
                             isChain) %
                   2 !=
               0;
    }

    /// Returns operands and tiles, for both kinds of product.
    std::string operandsText() const {
        const MatmulAttrs& attrs = attrsOf(m_graph, m_shape.product);
        return "    using Math = " + mathText() + ";\n    using A = " + name("_a") +
               ";\n    using B = " + name("_b") + ";\n" + number("kTileM", m_tiles.rows) +
               number("kTileN", m_tiles.columns) + number("kTileK", m_tiles.depth) +
               number("kGroup", groupOf(m_shape, m_way.form)) + flag("kReversed", isReversed()) +
               flag("kHeld", m_shape.kind == ChainKind::Deep) +
               flag("kColumnSums", !m_shape.columnSums.empty()) + flag("kLean", m_way.lean) +
               flag("kWarpgroups", m_tiles.warpgroups) + flag("kAAlongK", !attrs.transposeA) +
               flag("kBAlongK", attrs.transposeB) + number("kN", m_shape.columns) +
               number("kParts", m_tiles.parts) +
               number("kSharedBytes", static_cast<int64_t>(m_tiles.sharedBytes));
    }
    std::string sourcesText() const {
        const Node& product = node(m_shape.product);
        const DType type = node(product.in[0]).dtype;
        const std::optional<DType> keeps =
            product.math == MathMode::TF32 ? std::nullopt : std::optional(type);
        return sourceText(name("_a"), m_program, m_kernel, product.in[0], keeps,
                          m_shape.storesOperand, m_way) +
               sourceText(name("_b"), m_program, m_kernel, product.in[1], keeps, false, m_way);
    }

    static std::string functionText(const std::string& name, const std::string& call) {
        return "__device__ void " + name +
               "(char* arena, char* scratch, unsigned* tickets, char* shared, int block) {\n"
               "    static_cast<void>(tickets), static_cast<void>(scratch), "
               "static_cast<void>(shared);\n    " +
               call + ";\n}\n";
    }
    std::string scratchText(const char* type, size_t from, bool constant) const {
        return std::string("reinterpret_cast<") + (constant ? "const " : "") + type +
               "*>(scratch + " + std::to_string(m_site.scratchOffset + from) + "ll)";
    }

    /// Returns the function for the rows of a part: in 32 bits when that is enough, because
    /// dividing is then much cheaper.
    std::string rowsOfText() const {
        const int64_t tiles = ceilDiv(m_shape.rows, m_tiles.rows);
        const std::string type = tiles * (m_tiles.parts + 1) < INT32_MAX ? "int" : "i64";
        const std::string size = std::to_string(m_tiles.rows), all = std::to_string(tiles);
        const auto bound = [&](const std::string& part) {
            return "static_cast<" + type + ">(" + all + ") * (" + part + ") / kParts * " + size;
        };
        return "    static HS_D " + type + " rowsOf(int part) {\n        const " + type +
               " rows = static_cast<" + type + ">(kM), first = " + bound("part") +
               ", end = " + bound("part + 1") +
               ";\n        return (end < rows ? end : rows) - first;\n    }\n";
    }

    std::vector<KernelText> rows() const {
        const bool pass = m_shape.kind == ChainKind::Pass;
        const std::string config = name("_c"), walker = pass ? "RowPass" : "RowProduct";
        std::string text = "namespace hs {\n";
        if (!pass) text += sourcesText();
        text += sinkText(name("_out"), m_program, m_kernel, m_shape, m_way);
        text += "struct " + config + " {\n    using Out = " + name("_out") +
                ";\n    static constexpr i64 kM = " + std::to_string(m_shape.rows) + ";\n";
        if (pass)
            text += flag("kReversed", isReversed()) +
                    number("kGroup", groupOf(m_shape, m_way.form)) +
                    number("kTileRows", m_tiles.rows) + number("kTileN", m_tiles.columns) +
                    number("kN", m_shape.columns) + number("kParts", m_tiles.parts) +
                    number("kSharedBytes", static_cast<int64_t>(m_tiles.sharedBytes));
        else
            text += operandsText() + number("kK", depthOf(m_graph, m_shape)) +
                    flag("kResident", m_tiles.resident);
        text += rowsOfText() + "};\n} // namespace hs\n";
        const int partials = m_shape.partials();
        KernelText first;
        first.function =
            text +
            functionText(m_site.name, "hs::" + walker + "<hs::" + config + ">::run(arena, " +
                                          scratchText("double", 0, false) + ", shared, block)");
        first.blocks = m_tiles.parts * m_tiles.acrossOf(m_shape);
        first.sharedBytes = m_tiles.sharedBytes;
        first.warpgroups = m_tiles.warpgroups;
        first.blocksEach = m_tiles.blocksEach;
        first.compiling = pass ? kPassCompiling : kProductCompiling;
        if (partials == 0) return {first};
        first.scratchBytes =
            aligned(static_cast<size_t>(m_tiles.parts) * static_cast<size_t>(partials) *
                    static_cast<size_t>(m_shape.columns) * sizeof(double));
        KernelText second;
        second.function = functionText(m_site.name + "_merge",
                                       "hs::mergePartials<hs::" + config + ">(arena, " +
                                           scratchText("double", 0, true) + ", shared, block)");
        second.blocks = static_cast<int>(ceilDiv(m_shape.columns, kMergeColumns));
        second.sharedBytes =
            static_cast<size_t>((kThreads + kMergeColumns) * partials + kThreads / kMergeColumns) *
            sizeof(double);
        return {first, second};
    }

    std::vector<KernelText> deep() const {
        const std::string config = name("_c");
        const bool columnSums = !m_shape.columnSums.empty();
        std::string text =
            "namespace hs {\n" + sourcesText() + "struct " + config + " {\n" + operandsText() +
            number("kM", m_shape.rows) +
            "    static constexpr i64 kK = " + std::to_string(depthOf(m_graph, m_shape)) + ";\n" +
            putText() + "};\n} // namespace hs\n";
        const size_t products =
            aligned(static_cast<size_t>(m_tiles.parts) *
                    static_cast<size_t>(m_shape.rows * m_shape.columns) * sizeof(float));
        const size_t sums = columnSums ? static_cast<size_t>(m_tiles.parts) *
                                             static_cast<size_t>(m_shape.rows) * sizeof(double)
                                       : 0;
        KernelText first, second;
        first.function =
            text + functionText(m_site.name, "hs::DeepProduct<hs::" + config + ">::run(arena, " +
                                                 scratchText("float", 0, false) + ", " +
                                                 scratchText("double", products, false) +
                                                 ", shared, block)");
        first.blocks = m_tiles.parts * m_tiles.acrossOf(m_shape) *
                       static_cast<int>(ceilDiv(m_shape.rows, m_tiles.rows));
        first.sharedBytes = m_tiles.sharedBytes;
        first.warpgroups = m_tiles.warpgroups;
        first.blocksEach = m_tiles.blocksEach;
        first.compiling = kProductCompiling;
        first.scratchBytes = aligned(products + sums);
        second.function = functionText(m_site.name + "_merge",
                                       "hs::mergeRuns<hs::" + config + ">(arena, " +
                                           scratchText("float", 0, true) + ", " +
                                           scratchText("double", products, true) + ", block)");
        second.blocks =
            static_cast<int>(ceilDiv(m_shape.rows * m_shape.columns, int64_t{kThreads}));
        return {first, second};
    }

    std::string putText() const {
        const auto pointer = [&](NodeId id) {
            return pointerText(storageType(node(id).dtype),
                               m_program.memory.offset[static_cast<size_t>(id)], false);
        };
        std::string text =
            "    static HS_D void put(char* arena, i64 at, float x) {\n        store(" +
            pointer(m_shape.product) +
            " + at, x);\n    }\n"
            "    static HS_D void putColumn(char* arena, int column, double sum) {\n"
            "        static_cast<void>(arena), static_cast<void>(column);\n"
            "        static_cast<void>(sum);\n";
        for (NodeId id : m_shape.columnSums)
            text += "        store(" + pointer(id) + " + column, static_cast<float>(sum));\n";
        return text + "    }\n";
    }

    const KernelSite& m_site;
    const Program& m_program;
    const Graph& m_graph;
    const Kernel& m_kernel;
    const ChainShape& m_shape;
    const ChainTiles& m_tiles;
    const ChainWay& m_way;
};

} // namespace

std::vector<KernelText> writeChain(const KernelSite& site, const DeviceTraits& traits) {
    const Graph& graph = site.program.graph;
    const std::optional<ChainShape> shape =
        chainShape(graph, site.program.kernels[site.kernel], traits.chainWay.form);
    require(shape.has_value(), "cuda chain: a kernel that no chain is");
    const std::optional<ChainTiles> tiles = chainTiles(graph, *shape, traits);
    require(tiles.has_value(), "cuda chain: made for another device");
    return ChainWriter(site, *shape, *tiles, traits.chainWay).run();
}

int chainPhases(const Program& program, size_t kernel, const DeviceTraits& traits) {
    const std::optional<ChainShape> shape =
        chainShape(program.graph, program.kernels[kernel], traits.chainWay.form);
    require(shape.has_value(), "cuda chain: a kernel that no chain is");
    return shape->kind == ChainKind::Deep || shape->partials() > 0 ? 2 : 1;
}

Traffic trafficOf(const Program& program, size_t index) {
    const Graph& graph = program.graph;
    const Kernel& kernel = program.kernels[index];
    Traffic traffic;
    for (NodeId id : kernel.loads)
        traffic.readBytes += static_cast<double>(graph[id].bytes());
    for (NodeId id : kernel.stores)
        traffic.writtenBytes += static_cast<double>(graph[id].bytes());
    for (NodeId id : kernel.members)
        if (graph[id].op == Op::Matmul) {
            const Node& node = graph[id];
            const Shape& a = graph[node.in[0]].shape;
            const bool transposed = std::get<MatmulAttrs>(node.attrs).transposeA;
            const int64_t depth = transposed ? a[a.rank() - 2] : a.back();
            traffic.flops += 2.0 * static_cast<double>(node.elements() * depth);
        }
    return traffic;
}

} // namespace halfscope::cuda
