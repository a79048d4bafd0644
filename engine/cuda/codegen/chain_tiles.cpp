// Chooses the tile sizes of chains for the current device, and decides for which chains there are
// tiles.
#include "engine/cuda/codegen/chain_tiles.h"

#include "engine/passes/fuse.h"

#include <algorithm>
#include <cstdint>

namespace halfscope::cuda {

namespace {

constexpr int kTileRows = 128;
/// Inner extent of a tile; half of it for a weight gradient with operands of 4 bytes. Warpgroups
/// take twice as much at once, because each step has a barrier.
constexpr int kRowsDepth = 32, kDeepDepth = 32;
/// For each column of operand a, what belongs to it (RowProduct's kKnows): 12 values fit.
constexpr size_t kKnownBytes = 48;
constexpr int kPassRows = 64; ///< rows of a pass at once
/// Blocks of a pass that share a multiprocessor: two, which may spend 128 registers a thread.
/// Three, where 80 are enough: 10 to 25 % faster on an H200, where four were no better.
int blocksOfPass(const ChainShape& shape, ElementForm form) {
    const auto factors = std::count_if(shape.sums.begin(), shape.sums.end(),
                                       [](const RowSum& sum) { return sum.factor != kNoNode; });
    const bool few = shape.sums.empty() || (form != ElementForm::AsWritten && factors <= 1);
    return few && !shape.readsWide ? 3 : 2;
}

// Columns that a thread computes side by side. With few, values of columns fit into registers; many
// allow wider accesses. A sum over a row needs all its threads in one warp.
constexpr int kRowsGroup = 4, kDeepGroup = 2, kSinkGroup = 2, kPassGroup = 4, kDotGroup = 8;
constexpr int kCollectedDeepGroup = 4; ///< when collected, a column has few values

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

size_t operandBytes(const Graph& graph, const ChainShape& shape) {
    return bytesOf(graph[graph[shape.product].in[0]].dtype);
}

/// Returns the bytes of Panel's exchange and running sums for `rows` rows at once, with `group`
/// columns per thread (kernels/panel.cuh, which checks that they are enough).
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
/// Returns the bytes of RowProduct (kernels/chain.cuh, which checks that they are enough).
size_t rowsBytes(const Graph& graph, const ChainShape& shape, const ChainTiles& tiles) {
    const size_t bytes = operandBytes(graph, shape);
    const size_t areaA = static_cast<size_t>(tiles.rows * tiles.depth) * bytes;
    const size_t areaB = static_cast<size_t>(tiles.columns * tiles.depth) * bytes;
    const size_t steps = static_cast<size_t>(ceilDiv(depthOf(graph, shape), tiles.depth));
    const size_t staged = static_cast<size_t>(tiles.rows / 2 * (tiles.columns + 8)) *
                          bytesOf(graph[shape.product].dtype);
    const size_t known =
        tiles.warpgroups ? kKnownBytes * steps * static_cast<size_t>(tiles.depth) : 0;
    return 2 * areaA + (tiles.resident ? steps : 2) * areaB + staged +
           panelBytes(shape, tiles.rows / 2, tiles.columns, kSinkGroup) +
           runningBytes(shape.partials(), tiles.columns) + known;
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

/// Returns the rows of a tile: half of them before capability 9.0, where operand b does not fit
/// into shared memory and goes through registers on its way there (ptxas would spill up to 290
/// bytes per thread).
int tallestOf(const DeviceTraits& traits) {
    return traits.capability >= 90 ? kTileRows : kTileRows / 2;
}
/// Returns the columns of a tile: half of them for 4-byte operands, of which 256 and what is read
/// ahead do not fit into the registers.
int widestOf(const ChainShape& shape, bool half) {
    return std::min(widthFor(shape.columns), half ? 256 : 128);
}

/// Whether warpgroups multiply: two of them take 64 of a tile's rows each.
bool byWarpgroups(bool half, const DeviceTraits& traits) {
    return traits.chainWay.warpgroups && traits.capability == kWarpgroupCapability && half;
}

std::optional<ChainTiles> rowsTiles(const Graph& graph, const ChainShape& shape,
                                    const DeviceTraits& traits) {
    const bool half = operandBytes(graph, shape) == 2;
    const int rows = tallestOf(traits);
    const bool groups = byWarpgroups(half, traits);
    const int deepest = groups ? 2 * kRowsDepth : kRowsDepth, least = half ? 32 : 16;
    for (int width = widestOf(shape, half); width >= 64; width /= 2)
        for (int depth = deepest; depth >= least; depth /= 2)
            for (bool resident : {true, false}) {
                if (depth == 16 && width == 64) continue; // fewer groups than threads
                ChainTiles tiles{rows, width, depth, resident, 1, 0, groups};
                tiles.sharedBytes = rowsBytes(graph, shape, tiles);
                if (tiles.sharedBytes > traits.sharedBytes) continue;
                tiles.parts = static_cast<int>(std::clamp<int64_t>(
                    traits.multiprocessors / tiles.acrossOf(shape), 1, ceilDiv(shape.rows, rows)));
                return tiles;
            }
    return std::nullopt;
}

std::optional<ChainTiles> deepTiles(const Graph& graph, const ChainShape& shape,
                                    const DeviceTraits& traits) {
    const size_t bytes = operandBytes(graph, shape);
    const int rows = tallestOf(traits);
    const bool groups = byWarpgroups(bytes == 2, traits);
    const int depth = groups ? 2 * kDeepDepth : bytes == 2 ? kDeepDepth : kDeepDepth / 2;
    for (int width = widestOf(shape, bytes == 2); width >= 64; width /= 2) {
        ChainTiles tiles{rows, width, depth, false, 1, 0, groups};
        tiles.sharedBytes =
            2 * static_cast<size_t>((tiles.rows + tiles.columns) * tiles.depth) * bytes;
        if (tiles.sharedBytes > traits.sharedBytes) continue;
        const int64_t results = ceilDiv(shape.rows, tiles.rows) * tiles.acrossOf(shape);
        const int64_t steps = ceilDiv(depthOf(graph, shape), tiles.depth);
        tiles.parts =
            static_cast<int>(std::clamp<int64_t>(traits.multiprocessors / results, 1, steps));
        return tiles;
    }
    return std::nullopt;
}

ChainTiles passTiles(const ChainShape& shape, const DeviceTraits& traits) {
    ChainTiles tiles{kPassRows, widthFor(shape.columns), 0, false, 1, 0};
    tiles.sharedBytes =
        panelBytes(shape, kPassRows, tiles.columns, groupOf(shape, traits.chainWay.form)) +
        runningBytes(shape.partials(), tiles.columns);
    tiles.parts = static_cast<int>(std::clamp<int64_t>(
        blocksOfPass(shape, traits.chainWay.form) * traits.multiprocessors / tiles.acrossOf(shape),
        1, ceilDiv(shape.rows, kPassRows)));
    tiles.blocksEach = blocksOfPass(shape, traits.chainWay.form);
    return tiles;
}

/// Whether an Expand reads what a source can provide: a value of the column, of the row or of all.
bool canExpand(const Graph& graph, NodeId id) {
    const Shape strides = loadStrides(graph, id);
    if (strides.rank() != 2) return true; // an Expand of columns is resolved by index
    return (strides[0] == 0 && strides[1] <= 1) || strides[1] == 0;
}

} // namespace

int groupOf(const ChainShape& shape, ElementForm form) {
    if (shape.kind == ChainKind::Pass) return shape.dot == kNoNode ? kPassGroup : kDotGroup;
    if (shape.kind != ChainKind::Deep) return kRowsGroup;
    return form == ElementForm::AsWritten ? kDeepGroup : kCollectedDeepGroup;
}

int64_t depthOf(const Graph& graph, const ChainShape& shape) {
    const Shape& a = graph[graph[shape.product].in[0]].shape;
    return shape.kind == ChainKind::Deep ? a[0] : a[1];
}

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
    // Kernels count the rows of whole tiles, and the inner extent of whole steps, in 32 bits.
    constexpr int64_t kMost = int64_t{INT32_MAX} + 1 - kTileRows;
    if (shape.rows == 0 || shape.rows > kMost || shape.columns > INT32_MAX / kNarrow ||
        (shape.product != kNoNode && depthOf(graph, shape) > kMost))
        return false;
    const auto known = [&](NodeId id) { return graph[id].dtype != DType::F64; };
    if (!std::all_of(kernel.loads.begin(), kernel.loads.end(), known)) return false;
    for (NodeId id : kernel.members)
        if (!known(id) || (graph[id].op == Op::Expand && !canExpand(graph, id))) return false;
    return chainTiles(graph, shape, traits).has_value();
}

} // namespace halfscope::cuda
