// Matrix products of the graph on the CPU: tiles of rows over all threads; products with a long
// inner axis (weight gradients) are cut along it into a fixed number of partial sums, added in
// order. 16-bit operands are widened tile by tile: the product of two halves is exact in f32. TF32
// rounds f32 operands on the same way.
#include "engine/cpu/cpu_kernels.h"

#include "engine/core/error.h"
#include "engine/cpu/tf32.h"

#include <algorithm>

namespace halfscope {

namespace {

constexpr int64_t kTileRows = 512; ///< rows of a tile: operand and result stay in L2
constexpr int64_t kTileColumns = 1024;
constexpr int64_t kDepth = 1024;     ///< inner extent taken at once for 16-bit operands
constexpr int64_t kSplitDepth = 512; ///< inner extent of one partial product
constexpr int64_t kMaxParts = 16;    ///< partial sums of a split product

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
size_t alignedFloats(int64_t floats) { return static_cast<size_t>(ceilDiv(floats, 16) * 16); }

struct MatmulPlan {
    int64_t batch = 1, m = 0, n = 0, k = 0;
    bool transposeA = false, transposeB = false;
    bool tf32 = false; ///< f32 operands are rounded as they are taken
    DType in = DType::F32, out = DType::F32;
    int64_t rowTiles = 1, columnTiles = 1, parts = 1;

    /// Operands go through scratch: widened, or rounded.
    bool low() const { return in != DType::F32 || tf32; }
    int64_t lda() const { return transposeA ? m : k; }
    int64_t ldb() const { return transposeB ? k : n; }
    /// Floats of scratch: the widened b, then one area for each thread, then the partial sums.
    size_t wideB() const { return low() && parts == 1 ? alignedFloats(k * n) : 0; }
    size_t perThread() const {
        if (!low())
            return out == DType::F32 ? 0 : alignedFloats(kTileRows * std::min(n, kTileColumns));
        if (parts > 1) return alignedFloats(kSplitDepth * m) + alignedFloats(kSplitDepth * n);
        return alignedFloats(kTileRows * std::min(k, kDepth)) +
               alignedFloats(kTileRows * std::min(n, kTileColumns));
    }
    size_t partials() const {
        return parts > 1 ? static_cast<size_t>(parts) * alignedFloats(m * n) : 0;
    }
};

MatmulPlan planOf(const Node& node, const Shape& a, const Shape& b, DType in) {
    MatmulPlan plan;
    const auto& attrs = std::get<MatmulAttrs>(node.attrs);
    plan.transposeA = attrs.transposeA;
    plan.transposeB = attrs.transposeB;
    plan.m = node.shape[node.shape.rank() - 2];
    plan.n = node.shape.back();
    plan.k = attrs.transposeA ? a[a.rank() - 2] : a.back();
    plan.batch = node.elements() / std::max<int64_t>(plan.m * plan.n, 1);
    plan.in = in;
    plan.tf32 = node.math == MathMode::TF32;
    plan.out = node.dtype;
    plan.rowTiles = ceilDiv(plan.m, kTileRows);
    plan.columnTiles = ceilDiv(plan.n, kTileColumns);
    // A long inner axis over a small result has too few tiles to share among threads.
    if (plan.batch == 1 && plan.k >= 2 * kSplitDepth && plan.m * plan.n <= 1 << 20 &&
        plan.k > 2 * std::max(plan.m, plan.n))
        plan.parts = std::min(kMaxParts, ceilDiv(plan.k, kSplitDepth));
    (void)b;
    return plan;
}

const std::byte* at(const void* base, int64_t element, DType type) {
    return static_cast<const std::byte*>(base) + element * static_cast<int64_t>(bytesOf(type));
}

/// Widens a block of `rows` x `columns` with leading dimension `ld` to a dense f32 block, as the
/// plan's arithmetic takes it.
void widen(const MatmulPlan& plan, const void* from, int64_t first, int64_t ld, int64_t rows,
           int64_t columns, float* to) {
    const DType type = plan.in;
    if (ld == columns) {
        loadAsFloat(type, at(from, first, type), to, static_cast<size_t>(rows * columns));
    } else {
        for (int64_t row = 0; row < rows; ++row)
            loadAsFloat(type, at(from, first + row * ld, type), to + row * columns,
                        static_cast<size_t>(columns));
    }
    if (plan.tf32) roundToTf32(to, static_cast<size_t>(rows * columns));
}

class Matmul {
public:
    Matmul(const CpuCall& call, const MatmulPlan& plan)
        : m_call(call), m_plan(plan), m_scratch(reinterpret_cast<float*>(call.scratch.data())) {}

    void run() {
        if (m_plan.k == 0) {
            std::fill_n(static_cast<std::byte*>(m_call.out), m_call.node.bytes(), std::byte{0});
            return;
        }
        if (m_plan.parts > 1) {
            runSplit();
            return;
        }
        const int64_t perBatch = m_plan.rowTiles * m_plan.columnTiles;
        if (!m_plan.low()) {
            m_call.pool.run(m_plan.batch * perBatch, [&](int64_t task, int thread) {
                if (!stopped()) tileF32(task / perBatch, task % perBatch, thread);
            });
            return;
        }
        for (int64_t batch = 0; batch < m_plan.batch; ++batch) {
            const int64_t bRows = m_plan.transposeB ? m_plan.n : m_plan.k;
            const int64_t chunk = std::max<int64_t>(1, (1 << 16) / m_plan.ldb());
            m_call.pool.run(ceilDiv(bRows, chunk), [&](int64_t task, int) {
                const int64_t row = task * chunk, rows = std::min(chunk, bRows - row);
                widen(m_plan, m_call.in[1].data, (batch * bRows + row) * m_plan.ldb(), m_plan.ldb(),
                      rows, m_plan.ldb(), m_scratch + row * m_plan.ldb());
            });
            m_call.pool.run(perBatch, [&](int64_t task, int thread) {
                if (!stopped()) tileLow(batch, task, thread);
            });
        }
    }

private:
    bool stopped() const { return m_call.stop && m_call.stop->load(std::memory_order_relaxed); }
    float* threadArea(int thread) const {
        return m_scratch + m_plan.wideB() + static_cast<size_t>(thread) * m_plan.perThread();
    }

    void tileF32(int64_t batch, int64_t tile, int thread) const {
        const MatmulPlan& p = m_plan;
        const int64_t row = tile / p.columnTiles * kTileRows,
                      column = tile % p.columnTiles * kTileColumns;
        const int64_t rows = std::min(kTileRows, p.m - row),
                      columns = std::min(kTileColumns, p.n - column);
        const float* a = static_cast<const float*>(m_call.in[0].data) + batch * p.m * p.k +
                         (p.transposeA ? row : row * p.k);
        const float* b = static_cast<const float*>(m_call.in[1].data) + batch * p.k * p.n +
                         (p.transposeB ? column * p.k : column);
        const int64_t first = (batch * p.m + row) * p.n + column;
        const bool direct = p.out == DType::F32;
        float* c = direct ? static_cast<float*>(m_call.out) + first : threadArea(thread);
        const int64_t ldc = direct ? p.n : columns;
        gemm({rows, columns, p.k, p.transposeA, p.transposeB, p.lda(), p.ldb(), ldc, false}, a, b,
             c);
        if (!direct) narrow(c, rows, columns, first);
    }

    void tileLow(int64_t batch, int64_t tile, int thread) const {
        const MatmulPlan& p = m_plan;
        const int64_t row = tile / p.columnTiles * kTileRows,
                      column = tile % p.columnTiles * kTileColumns;
        const int64_t rows = std::min(kTileRows, p.m - row),
                      columns = std::min(kTileColumns, p.n - column);
        float* wideA = threadArea(thread);
        float* c = wideA + alignedFloats(kTileRows * std::min(p.k, kDepth));
        for (int64_t k = 0; k < p.k; k += kDepth) {
            const int64_t depth = std::min(kDepth, p.k - k);
            const int64_t base = batch * p.m * p.k;
            if (p.transposeA)
                widen(p, m_call.in[0].data, base + k * p.m + row, p.m, depth, rows, wideA);
            else
                widen(p, m_call.in[0].data, base + row * p.k + k, p.k, rows, depth, wideA);
            const float* b = m_scratch + (p.transposeB ? column * p.k + k : k * p.n + column);
            gemm({rows, columns, depth, p.transposeA, p.transposeB, p.transposeA ? rows : depth,
                  p.ldb(), columns, k > 0},
                 wideA, b, c);
        }
        narrow(c, rows, columns, (batch * p.m + row) * p.n + column);
    }

    void narrow(const float* c, int64_t rows, int64_t columns, int64_t first) const {
        std::byte* out =
            static_cast<std::byte*>(m_call.out) + first * static_cast<int64_t>(bytesOf(m_plan.out));
        if (columns == m_plan.n) {
            storeFromFloat(m_plan.out, c, out, static_cast<size_t>(rows * columns));
            return;
        }
        const int64_t stride = m_plan.n * static_cast<int64_t>(bytesOf(m_plan.out));
        for (int64_t row = 0; row < rows; ++row)
            storeFromFloat(m_plan.out, c + row * columns, out + row * stride,
                           static_cast<size_t>(columns));
    }

    void runSplit() {
        const MatmulPlan& p = m_plan;
        const int64_t chunks = ceilDiv(p.k, kSplitDepth);
        const size_t size = alignedFloats(p.m * p.n);
        float* partials = m_scratch + static_cast<size_t>(m_call.pool.threads()) * p.perThread();
        m_call.pool.run(p.parts, [&](int64_t part, int thread) {
            float* c = partials + static_cast<size_t>(part) * size;
            const int64_t begin = chunks * part / p.parts, end = chunks * (part + 1) / p.parts;
            for (int64_t chunk = begin; chunk < end && !stopped(); ++chunk)
                splitChunk(chunk * kSplitDepth, chunk > begin, thread, c);
        });
        const int64_t elements = p.m * p.n, block = 4096;
        m_call.pool.run(ceilDiv(elements, block), [&](int64_t task, int) {
            const int64_t first = task * block, count = std::min(block, elements - first);
            float* sum = partials + first;
            for (int64_t part = 1; part < p.parts; ++part) {
                const float* more = partials + static_cast<size_t>(part) * size + first;
                for (int64_t i = 0; i < count; ++i)
                    sum[i] += more[i];
            }
            storeFromFloat(p.out, sum,
                           static_cast<std::byte*>(m_call.out) +
                               first * static_cast<int64_t>(bytesOf(p.out)),
                           static_cast<size_t>(count));
        });
    }

    /// Adds the product over inner indices [k, k + kSplitDepth) to c.
    void splitChunk(int64_t k, bool accumulate, int thread, float* c) const {
        const MatmulPlan& p = m_plan;
        const int64_t depth = std::min(kSplitDepth, p.k - k);
        const float* a =
            static_cast<const float*>(m_call.in[0].data) + (p.transposeA ? k * p.m : k);
        const float* b =
            static_cast<const float*>(m_call.in[1].data) + (p.transposeB ? k : k * p.n);
        int64_t lda = p.lda(), ldb = p.ldb();
        if (p.low()) {
            float* wideA = m_scratch + static_cast<size_t>(thread) * p.perThread();
            float* wideB = wideA + alignedFloats(kSplitDepth * p.m);
            if (p.transposeA)
                widen(p, m_call.in[0].data, k * p.m, p.m, depth, p.m, wideA);
            else
                widen(p, m_call.in[0].data, k, p.k, p.m, depth, wideA);
            if (p.transposeB)
                widen(p, m_call.in[1].data, k, p.k, p.n, depth, wideB);
            else
                widen(p, m_call.in[1].data, k * p.n, p.n, depth, p.n, wideB);
            lda = p.transposeA ? p.m : depth;
            ldb = p.transposeB ? depth : p.n;
            a = wideA;
            b = wideB;
        }
        gemm({p.m, p.n, depth, p.transposeA, p.transposeB, lda, ldb, p.n, accumulate}, a, b, c);
    }

    const CpuCall& m_call;
    const MatmulPlan& m_plan;
    float* m_scratch;
};

} // namespace

size_t cpuMatmulScratchBytes(const Graph& graph, NodeId id, int threads) {
    const Node& node = graph[id];
    const Node& a = graph[node.in[0]];
    const MatmulPlan plan = planOf(node, a.shape, graph[node.in[1]].shape, a.dtype);
    return sizeof(float) *
           (plan.wideB() + static_cast<size_t>(threads) * plan.perThread() + plan.partials());
}

void cpuMatmul(const CpuCall& call) {
    const MatmulPlan plan =
        planOf(call.node, *call.in[0].shape, *call.in[1].shape, call.in[0].dtype);
    Matmul(call, plan).run();
}

} // namespace halfscope
