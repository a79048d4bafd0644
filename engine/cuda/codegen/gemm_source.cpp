// Chooses tiles and writes the structs and functions of chains (kernels/gemm.cuh).
#include "engine/cuda/codegen/gemm_source.h"

#include "engine/core/error.h"
#include "engine/cuda/codegen/chain_text.h"
#include "engine/cuda/codegen/element_source.h"
#include "engine/passes/fuse.h"

#include <algorithm>

namespace halfscope::cuda {

namespace {

constexpr int kTileRows = 128;
/// Inner extent of a tile; of a weight gradient's with operands in 4 bytes, half of it.
constexpr int kRowsDepth = 32, kDeepDepth = 32;
constexpr int kPassRows = 64;     ///< of a pass at once
constexpr int kBlocksPerPass = 2; ///< blocks of a pass that share a multiprocessor
constexpr int kMergeColumns = 8;  ///< of a block that adds partial sums up
constexpr size_t kAlignment = 256;

// Columns that a thread computes side by side. Few: values of columns fit in registers. Many: wider
// accesses; a sum over a row needs all its threads in one warp.
constexpr int kRowsGroup = 4, kDeepGroup = 2, kSinkGroup = 2, kPassGroup = 4, kDotGroup = 8;
constexpr int kCollectedDeepGroup = 4; ///< collected, a column has few values

int groupOf(const ChainShape& shape, ElementForm form) {
    if (shape.kind == ChainKind::Pass) return shape.dot == kNoNode ? kPassGroup : kDotGroup;
    if (shape.kind != ChainKind::Deep) return kRowsGroup;
    return form == ElementForm::AsWritten ? kDeepGroup : kCollectedDeepGroup;
}

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

const MatmulAttrs& attrsOf(const Graph& graph, NodeId product) {
    return std::get<MatmulAttrs>(graph[product].attrs);
}
size_t operandBytes(const Graph& graph, const ChainShape& shape) {
    return bytesOf(graph[graph[shape.product].in[0]].dtype);
}
int64_t depthOf(const Graph& graph, const ChainShape& shape) {
    const Shape& a = graph[graph[shape.product].in[0]].shape;
    return shape.kind == ChainKind::Deep ? a[0] : a[1];
}

/// Panel's exchange and running sums for `rows` rows at once, `group` columns a thread
/// (kernels/panel.cuh, which checks that it is enough).
size_t panelBytes(const ChainShape& shape, int rows, int width, int group) {
    const int groups = width / group, lanes = kThreads / groups;
    const int batch = std::min(rows / lanes, 32 / group);
    const size_t lines = shape.sums.size() * static_cast<size_t>(lanes) +
                         2 * shape.stats.size() * static_cast<size_t>(rows / batch);
    return lines * static_cast<size_t>(group * (groups + 32 / group)) * sizeof(float);
}
size_t runningBytes(int partials, int width) {
    return static_cast<size_t>(partials * width) * sizeof(double);
}
/// Of RowProduct (kernels/gemm.cuh), which checks that it is enough.
size_t rowsBytes(const Graph& graph, const ChainShape& shape, const ChainTiles& tiles) {
    const size_t bytes = operandBytes(graph, shape);
    const size_t areaA = static_cast<size_t>(tiles.rows * tiles.depth) * bytes;
    const size_t areaB = static_cast<size_t>(tiles.columns * tiles.depth) * bytes;
    const size_t steps = static_cast<size_t>(ceilDiv(depthOf(graph, shape), tiles.depth));
    const size_t staged = static_cast<size_t>(tiles.rows / 2 * (tiles.columns + 8)) *
                          bytesOf(graph[shape.product].dtype);
    return 2 * areaA + (tiles.resident ? steps : 2) * areaB + staged +
           panelBytes(shape, tiles.rows / 2, tiles.columns, kSinkGroup) +
           runningBytes(shape.partials(), tiles.columns);
}

int widthFor(int64_t columns) { return columns <= 64 ? 64 : columns <= 128 ? 128 : 256; }

bool hasArithmetic(const Graph& graph, NodeId product, const DeviceTraits& traits) {
    const Node& node = graph[product];
    const DType a = graph[node.in[0]].dtype, b = graph[node.in[1]].dtype;
    if (a != b || a != node.dtype) return false;
    if (node.math == MathMode::F32FromHalf)
        return a == DType::F16 || (a == DType::BF16 && traits.capability >= 80);
    if (a != DType::F32) return false;
    return node.math == MathMode::F32 || traits.capability >= 80;
}

int upTo(int limit, int usual) { return limit > 0 ? std::min(limit, usual) : usual; }

int blocksEach(const DeviceTraits& traits) { return std::max(1, traits.tiles.blocks); }
/// Shared memory of a block where several share a multiprocessor: each costs the device one KiB
/// more, which what one block may ask for leaves out once.
size_t sharedOfEach(const DeviceTraits& traits) {
    constexpr size_t kReserved = 1 << 10;
    const auto blocks = static_cast<size_t>(blocksEach(traits));
    return (traits.sharedBytes + kReserved) / blocks - kReserved;
}

/// Rows of a tile: half of them before capability 9.0, where operand b does not fit into shared
/// memory and takes registers on its way there (ptxas would spill up to 290 bytes a thread).
int tallestOf(const DeviceTraits& traits) {
    return upTo(traits.tiles.rows, traits.capability >= 90 ? kTileRows : kTileRows / 2);
}
/// Columns of a tile: half of them for 4-byte operands, of which 256 and what is read ahead are
/// more than the registers.
int widestOf(const ChainShape& shape, bool half, const TileLimits& limits) {
    return std::min(widthFor(shape.columns), limits.columns > 0 ? limits.columns
                                             : half             ? 256
                                                                : 128);
}

/// Whether warpgroups multiply: two of them have 64 rows of a tile each.
bool byWarpgroups(const ChainTiles& tiles, bool half, const DeviceTraits& traits) {
    return traits.tiles.warpgroups && traits.capability == kWarpgroupCapability && half &&
           tiles.rows == kTileRows;
}

std::optional<ChainTiles> rowsTiles(const Graph& graph, const ChainShape& shape,
                                    const DeviceTraits& traits) {
    const bool half = operandBytes(graph, shape) == 2;
    const TileLimits& limits = traits.tiles;
    const int rows = tallestOf(traits);
    const int deepest = std::max(limits.depth > 0 ? limits.depth : kRowsDepth, half ? 32 : 16);
    for (int width = widestOf(shape, half, limits); width >= 64; width /= 2)
        for (int depth : {64, 32, 16})
            for (bool resident : {true, false}) {
                if (depth > deepest || depth < (half ? 32 : 16) || depth > (half ? 64 : 32))
                    continue;
                if (depth == 16 && width == 64) continue; // fewer groups than threads
                ChainTiles tiles{rows, width, depth, resident, 1, 0};
                tiles.sharedBytes = rowsBytes(graph, shape, tiles);
                if (tiles.sharedBytes > sharedOfEach(traits)) continue;
                const int64_t most = ceilDiv(shape.rows, rows);
                const int blocks = blocksEach(traits) * traits.multiprocessors;
                tiles.parts =
                    static_cast<int>(std::clamp<int64_t>(blocks / tiles.acrossOf(shape), 1, most));
                tiles.warpgroups = byWarpgroups(tiles, half, traits);
                return tiles;
            }
    return std::nullopt;
}

std::optional<ChainTiles> deepTiles(const Graph& graph, const ChainShape& shape,
                                    const DeviceTraits& traits) {
    const size_t bytes = operandBytes(graph, shape);
    const TileLimits& limits = traits.tiles;
    const int rows = tallestOf(traits);
    const int depth = upTo(limits.depth, bytes == 2 ? kDeepDepth : kDeepDepth / 2);
    for (int width = widestOf(shape, bytes == 2, limits); width >= 64; width /= 2) {
        ChainTiles tiles{rows, width, depth, false, 1, 0};
        tiles.sharedBytes =
            2 * static_cast<size_t>((tiles.rows + tiles.columns) * tiles.depth) * bytes;
        if (tiles.sharedBytes > sharedOfEach(traits)) continue;
        const int64_t results = ceilDiv(shape.rows, tiles.rows) * tiles.acrossOf(shape);
        const int64_t steps = ceilDiv(depthOf(graph, shape), tiles.depth);
        const int blocks = blocksEach(traits) * traits.multiprocessors;
        tiles.parts = static_cast<int>(std::clamp<int64_t>(blocks / results, 1, steps));
        tiles.warpgroups = byWarpgroups(tiles, bytes == 2, traits);
        return tiles;
    }
    return std::nullopt;
}

ChainTiles passTiles(const ChainShape& shape, const DeviceTraits& traits) {
    ChainTiles tiles{kPassRows, widthFor(shape.columns), 0, false, 1, 0};
    tiles.sharedBytes =
        panelBytes(shape, kPassRows, tiles.columns, groupOf(shape, traits.tiles.form)) +
        runningBytes(shape.partials(), tiles.columns);
    tiles.parts = static_cast<int>(
        std::clamp<int64_t>(kBlocksPerPass * traits.multiprocessors / tiles.acrossOf(shape), 1,
                            ceilDiv(shape.rows, kPassRows)));
    return tiles;
}

/// The text of one chain.
class ChainWriter {
public:
    ChainWriter(const KernelSite& site, const ChainShape& shape, const ChainTiles& tiles,
                const TileLimits& limits)
        : m_site(site), m_program(site.program), m_graph(site.program.graph),
          m_kernel(site.program.kernels[site.kernel]), m_shape(shape), m_tiles(tiles),
          m_limits(limits) {}

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

    /// Every other chain of the program runs backwards through the rows.
    bool isReversed() const {
        const auto& kernels = m_program.kernels;
        return std::count_if(kernels.begin(),
                             kernels.begin() + static_cast<std::ptrdiff_t>(m_site.kernel),
                             isChain) %
                   2 !=
               0;
    }

    /// Operands and tiles, for both kinds of product.
    std::string operandsText() const {
        const MatmulAttrs& attrs = attrsOf(m_graph, m_shape.product);
        return "    using Math = " + mathText() + ";\n    using A = " + name("_a") +
               ";\n    using B = " + name("_b") + ";\n" + number("kTileM", m_tiles.rows) +
               number("kTileN", m_tiles.columns) + number("kTileK", m_tiles.depth) +
               number("kGroup", groupOf(m_shape, m_limits.form)) + flag("kReversed", isReversed()) +
               flag("kHeld", m_shape.kind == ChainKind::Deep) +
               flag("kColumnSums", !m_shape.columnSums.empty()) + flag("kLean", m_limits.lean) +
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
                          m_shape.storesOperand, m_limits) +
               sourceText(name("_b"), m_program, m_kernel, product.in[1], keeps, false, m_limits);
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

    /// How many rows a part has: in 32 bits where that is enough, which is much cheaper to divide.
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
        text += sinkText(name("_out"), m_program, m_kernel, m_shape, m_limits);
        text += "struct " + config + " {\n    using Out = " + name("_out") +
                ";\n    static constexpr i64 kM = " + std::to_string(m_shape.rows) + ";\n";
        if (pass)
            text += flag("kReversed", isReversed()) +
                    number("kGroup", groupOf(m_shape, m_limits.form)) +
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
    const TileLimits& m_limits;
};

/// Whether an Expand reads what a source can: a value of the column, the row or all.
bool canExpand(const Graph& graph, NodeId id) {
    const Shape strides = loadStrides(graph, id);
    if (strides.rank() != 2) return true; // of columns: resolved by index
    return (strides[0] == 0 && strides[1] <= 1) || strides[1] == 0;
}

} // namespace

std::optional<ChainTiles> chainTiles(const Graph& graph, const ChainShape& shape,
                                     const DeviceTraits& traits) {
    if (shape.kind == ChainKind::Pass) {
        if (shape.dot != kNoNode && shape.columns > widthFor(shape.columns)) return std::nullopt;
        const ChainTiles tiles = passTiles(shape, traits);
        return tiles.sharedBytes <= traits.sharedBytes ? std::optional(tiles) : std::nullopt;
    }
    if (!hasArithmetic(graph, shape.product, traits)) return std::nullopt;
    return shape.kind == ChainKind::Deep ? deepTiles(graph, shape, traits)
                                         : rowsTiles(graph, shape, traits);
}

bool canWriteChain(const Graph& graph, const Kernel& kernel, const ChainShape& shape,
                   const DeviceTraits& traits) {
    if (shape.rows == 0 || shape.rows > INT32_MAX || shape.columns > INT32_MAX / kNarrow)
        return false;
    const auto known = [&](NodeId id) { return graph[id].dtype != DType::F64; };
    if (!std::all_of(kernel.loads.begin(), kernel.loads.end(), known)) return false;
    for (NodeId id : kernel.members)
        if (!known(id) || (graph[id].op == Op::Expand && !canExpand(graph, id))) return false;
    return chainTiles(graph, shape, traits).has_value();
}

std::vector<KernelText> writeChain(const KernelSite& site, const DeviceTraits& traits) {
    const Graph& graph = site.program.graph;
    const std::optional<ChainShape> shape =
        chainShape(graph, site.program.kernels[site.kernel], traits.tiles.form);
    require(shape.has_value(), "cuda chain: a kernel that no chain is");
    const std::optional<ChainTiles> tiles = chainTiles(graph, *shape, traits);
    require(tiles.has_value(), "cuda chain: made for another device");
    return ChainWriter(site, *shape, *tiles, traits.tiles).run();
}

int chainPhases(const Program& program, size_t kernel, const DeviceTraits& traits) {
    const std::optional<ChainShape> shape =
        chainShape(program.graph, program.kernels[kernel], traits.tiles.form);
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
