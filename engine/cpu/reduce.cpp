// Reductions over any axes. Sums run in f32 (f64 and integers in their own width), in short blocks
// that are joined pairwise, so that the error grows with log n; the order depends only on sizes.
#include "engine/cpu/support.h"

#include "engine/core/error.h"
#include "engine/core/vector_clones.h"

#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

namespace halfscope {
namespace {

constexpr int64_t kBlock = 512; ///< elements of a run that are summed at once, in kLanes lanes
constexpr int kLanes = 16;
constexpr int64_t kColumns = 128; ///< neighbouring outputs per task
constexpr int64_t kRows = 16;     ///< rows summed one after the other before joining pairwise
constexpr int64_t kTaskElements = 1 << 15;
constexpr int64_t kMaxParts = 64;
constexpr int kLevels = 44; ///< levels of the pairwise join: more than any count of blocks needs

struct Add {
    template <class T>
    static T start() {
        return T{0};
    }
    template <class T>
    static T join(T a, T b) {
        return a + b;
    }
};
struct Multiply {
    template <class T>
    static T start() {
        return T{1};
    }
    template <class T>
    static T join(T a, T b) {
        return a * b;
    }
};
/// Takes the larger (Smaller: the smaller) value; NaN wins over every number.
struct Larger {
    template <class T>
    static T start() {
        if constexpr (std::is_floating_point_v<T>)
            return -std::numeric_limits<T>::infinity();
        else
            return std::numeric_limits<T>::min();
    }
    template <class T>
    static T join(T a, T b) {
        const T larger = b > a ? b : a; // two choices, not a condition of two parts: a blend each
        return b != b ? b : larger;
    }
};
struct Smaller {
    template <class T>
    static T start() {
        if constexpr (std::is_floating_point_v<T>)
            return std::numeric_limits<T>::infinity();
        else
            return std::numeric_limits<T>::max();
    }
    template <class T>
    static T join(T a, T b) {
        const T smaller = b < a ? b : a;
        return b != b ? b : smaller;
    }
};

/// The input as kept and reduced axes, with neighbours of the same kind merged. The innermost axis
/// is either reduced (runs of `width` elements) or kept (`width` neighbouring outputs).
struct ReducePlan {
    Shape keptExtents, keptStrides, reducedExtents, reducedStrides; ///< without the innermost axis
    int64_t kept = 1, rows = 1, width = 1;
    bool runs = false;
    int64_t tiles = 1;   ///< pieces of a run, or tiles of neighbouring outputs
    int64_t parts = 1;   ///< partial results per output
    int64_t grouped = 1; ///< kept indices per task

    int64_t outputs() const { return runs ? kept : kept * width; }
    int64_t tileWidth() const { return runs ? kTaskElements : kColumns; }
    /// What is divided among the parts: pieces of runs, or rows.
    int64_t units() const { return runs ? rows * tiles : rows; }
};

void cut(ReducePlan& p) {
    p.tiles = std::max<int64_t>(1, ceilDiv(p.width, p.tileWidth()));
    const int64_t across = p.runs ? p.kept : p.kept * p.tiles;
    const int64_t each = p.rows * (p.runs ? p.width : std::min(p.width, kColumns));
    if (across < kMaxParts) {
        p.parts = std::clamp<int64_t>(ceilDiv(each, kTaskElements), 1,
                                      std::max<int64_t>(1, std::min(kMaxParts, p.units())));
    }
    p.grouped = std::max<int64_t>(1, kTaskElements / std::max<int64_t>(each, 1));
}

ReducePlan planOf(const Shape& in, const Shape& axes) {
    struct Axis {
        int64_t extent, stride;
        bool reduced;
    };
    std::array<Axis, kMaxRank> merged{};
    size_t count = 0;
    const Shape strides = in.strides();
    for (int i = 0; i < in.rank(); ++i) {
        if (in[i] == 1) continue;
        const bool reduced = std::find(axes.begin(), axes.end(), int64_t{i}) != axes.end();
        if (count > 0 && merged[count - 1].reduced == reduced) {
            merged[count - 1].extent *= in[i];
            merged[count - 1].stride = strides[i];
        } else {
            merged[count++] = {in[i], strides[i], reduced};
        }
    }
    ReducePlan p;
    if (count > 0) {
        p.runs = merged[count - 1].reduced;
        p.width = merged[--count].extent;
    }
    for (size_t i = 0; i < count; ++i) {
        (merged[i].reduced ? p.reducedExtents : p.keptExtents).push(merged[i].extent);
        (merged[i].reduced ? p.reducedStrides : p.keptStrides).push(merged[i].stride);
    }
    p.kept = p.keptExtents.elements();
    p.rows = p.reducedExtents.elements();
    cut(p);
    return p;
}

int64_t offsetOf(int64_t index, const Shape& extents, const Shape& strides) {
    int64_t offset = 0;
    for (int i = extents.rank() - 1; i > 0; --i) {
        offset += index % extents[i] * strides[i];
        index /= extents[i];
    }
    return extents.rank() > 0 ? offset + index * strides[0] : 0;
}

/// Returns n elements as Acc: in place when they are stored so, else widened into `buffer`.
template <class Acc>
const Acc* load(const CpuTensor& x, int64_t first, int64_t n, Acc* buffer) {
    const std::byte* from = elementAt(x.data, first, x.dtype);
    if constexpr (std::is_same_v<Acc, float>) {
        if (x.dtype == DType::F32) return reinterpret_cast<const float*>(from);
        loadAsFloat(x.dtype, from, buffer, static_cast<size_t>(n));
        return buffer;
    } else if constexpr (std::is_same_v<Acc, double>) {
        return reinterpret_cast<const double*>(from);
    } else {
        const auto* values = reinterpret_cast<const int32_t*>(from);
        std::copy(values, values + n, buffer);
        return buffer;
    }
}

template <class Acc>
void store(const CpuCall& call, const Acc* values, int64_t first, int64_t n) {
    std::byte* to = elementAt(call.out, first, call.node.dtype);
    if constexpr (std::is_same_v<Acc, float>) {
        storeFromFloat(call.node.dtype, values, to, static_cast<size_t>(n));
    } else if constexpr (std::is_same_v<Acc, double>) {
        std::copy(values, values + n, reinterpret_cast<double*>(to));
    } else {
        std::transform(values, values + n, reinterpret_cast<int32_t*>(to),
                       [](Acc v) { return static_cast<int32_t>(v); });
    }
}

/// Joins blocks of `Width` values pairwise as they come, like a binary counter of partial results.
template <class Acc, class Op, int64_t Width>
class Cascade {
public:
    void push(Acc* values, int64_t width) {
        int level = 0;
        for (; (m_count >> level & 1) != 0; ++level) {
            const Acc* earlier = m_levels[static_cast<size_t>(level)].data();
            for (int64_t i = 0; i < width; ++i)
                values[i] = Op::join(earlier[i], values[i]);
        }
        std::copy_n(values, width, m_levels[static_cast<size_t>(level)].data());
        ++m_count;
    }
    void result(Acc* out, int64_t width) const {
        std::fill_n(out, width, Op::template start<Acc>());
        for (int level = 0; (m_count >> level) != 0; ++level) {
            if ((m_count >> level & 1) == 0) continue;
            const Acc* earlier = m_levels[static_cast<size_t>(level)].data();
            for (int64_t i = 0; i < width; ++i)
                out[i] = Op::join(earlier[i], out[i]);
        }
    }

private:
    std::array<std::array<Acc, static_cast<size_t>(Width)>, kLevels> m_levels;
    uint64_t m_count = 0;
};

/// Some rows of neighbouring elements.
template <class Acc>
struct Rows {
    const Acc* x;
    int64_t rows, stride, width;
};

template <class Acc, class Op>
[[gnu::always_inline]] inline Acc joinLanes(std::array<Acc, kLanes>& lanes) {
    for (size_t half = kLanes / 2; half > 0; half /= 2) {
        for (size_t lane = 0; lane < half; ++lane)
            lanes[lane] = Op::join(lanes[lane], lanes[lane + half]);
    }
    return lanes[0];
}

template <class Acc, class Op>
[[gnu::always_inline]] inline Acc reduceLanes(const Rows<Acc>& in) {
    std::array<Acc, kLanes> lanes;
    lanes.fill(Op::template start<Acc>());
    for (int64_t row = 0; row < in.rows; ++row) {
        const Acc* const x = in.x + row * in.stride;
        int64_t i = 0;
        for (; i + kLanes <= in.width; i += kLanes) {
            for (int lane = 0; lane < kLanes; ++lane) {
                Acc& acc = lanes[static_cast<size_t>(lane)];
                acc = Op::join(acc, x[i + lane]);
            }
        }
        for (int lane = 0; i < in.width; ++i, ++lane) {
            Acc& acc = lanes[static_cast<size_t>(lane)];
            acc = Op::join(acc, x[i]);
        }
    }
    return joinLanes<Acc, Op>(lanes);
}

/// Adds rows of at least kLanes values. The lanes are one variable, which stays in registers from
/// row to row; an array of them would not. What is left after whole vectors is taken as one more
/// that overlaps the last of them.
[[gnu::always_inline]] inline float sumLanes(const Rows<float>& in) {
    using Vector [[gnu::vector_size(kLanes * sizeof(float))]] = float;
    using Mask [[gnu::vector_size(kLanes * sizeof(int))]] = int;
    const int64_t whole = in.width / kLanes * kLanes, rest = in.width - whole;
    const Mask lane{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const Mask isTaken = lane < static_cast<int>(kLanes - rest);
    Vector sums{}, values{};
    const float* x = in.x;
    for (int64_t row = 0; row < in.rows; ++row, x += in.stride) {
        for (int64_t i = 0; i < whole; i += kLanes) {
            std::memcpy(&values, x + i, sizeof values);
            sums += values;
        }
        if (rest == 0) continue;
        std::memcpy(&values, x + in.width - kLanes, sizeof values);
        sums = isTaken ? sums : sums + values;
    }
    std::array<float, kLanes> lanes;
    std::memcpy(lanes.data(), &sums, sizeof sums);
    return joinLanes<float, Add>(lanes);
}

HALFSCOPE_VECTOR float reduceFloats(Add, const Rows<float>& in) {
    return in.width < kLanes ? reduceLanes<float, Add>(in) : sumLanes(in);
}
HALFSCOPE_VECTOR float reduceFloats(Multiply, const Rows<float>& in) {
    return reduceLanes<float, Multiply>(in);
}
HALFSCOPE_VECTOR float reduceFloats(Larger, const Rows<float>& in) {
    return reduceLanes<float, Larger>(in);
}
HALFSCOPE_VECTOR float reduceFloats(Smaller, const Rows<float>& in) {
    return reduceLanes<float, Smaller>(in);
}

/// Reduces up to kBlock values.
template <class Acc, class Op>
Acc reduceBlock(const Rows<Acc>& in) {
    if constexpr (std::is_same_v<Acc, float>)
        return reduceFloats(Op{}, in);
    else
        return reduceLanes<Acc, Op>(in);
}

template <class Acc, class Op>
class Reducer {
public:
    Reducer(const CpuCall& call, const ReducePlan& plan, bool mean)
        : m_call(call), m_plan(plan),
          m_count(mean ? static_cast<Acc>(plan.rows * (plan.runs ? plan.width : 1)) : Acc{1}),
          m_partials(reinterpret_cast<Acc*>(call.scratch.data())) {}

    void run() {
        const ReducePlan& p = m_plan;
        const int64_t groups = ceilDiv(p.kept, p.grouped), columns = p.runs ? 1 : p.tiles;
        m_call.pool.run(groups * columns * p.parts, [&](int64_t task, int) {
            const int64_t part = task % p.parts, tile = task / p.parts % columns;
            const int64_t begin = task / (p.parts * columns) * p.grouped;
            for (int64_t k = begin; k < std::min(begin + p.grouped, p.kept); ++k) {
                if (stopped(m_call)) return;
                if (p.runs)
                    reduceRuns(k, part);
                else
                    reduceColumns(k, tile, part);
            }
        });
        if (p.parts > 1) joinParts();
    }

private:
    void finish(Acc* values, int64_t first, int64_t n, int64_t part) const {
        if (m_plan.parts > 1) {
            std::copy_n(values, n, m_partials + part * m_plan.outputs() + first);
            return;
        }
        divide(values, n);
        store(m_call, values, first, n);
    }

    void divide(Acc* values, int64_t n) const {
        if (m_count == Acc{1}) return;
        for (int64_t i = 0; i < n; ++i)
            values[i] /= m_count;
    }

    void reduceRuns(int64_t k, int64_t part) const {
        const ReducePlan& p = m_plan;
        const int64_t base = offsetOf(k, p.keptExtents, p.keptStrides);
        const int64_t begin = p.units() * part / p.parts, end = p.units() * (part + 1) / p.parts;
        std::array<Acc, kBlock> buffer;
        if (p.units() == 1 && p.width <= kBlock) { // many short rows: without the cascade's levels
            const Acc* x = load(m_call.in[0], base, p.width, buffer.data());
            Acc total =
                Op::join(reduceBlock<Acc, Op>({x, 1, 0, p.width}), Op::template start<Acc>());
            finish(&total, k, 1, part);
            return;
        }
        // short runs, such as the planes of small images, come to a block together
        const bool evenly = p.tiles == 1 && p.reducedExtents.rank() == 1;
        const int64_t together = evenly ? std::max<int64_t>(1, kBlock / p.width) : 1;
        Cascade<Acc, Op, 1> cascade;
        for (int64_t unit = begin; unit < end; unit += together) {
            const int64_t row = unit / p.tiles, at = unit % p.tiles * p.tileWidth();
            const int64_t start = base + offsetOf(row, p.reducedExtents, p.reducedStrides);
            const int64_t last = std::min(at + p.tileWidth(), p.width);
            const int64_t rows = std::min(together, end - unit);
            for (int64_t i = at; i < last; i += kBlock) {
                Acc block = reduceBlock<Acc, Op>(
                    loadRows(start + i, rows, std::min(kBlock, last - i), buffer.data()));
                cascade.push(&block, 1);
            }
        }
        Acc total;
        cascade.result(&total, 1);
        finish(&total, k, 1, part);
    }

    /// Loads some runs, in place where they are stored as Acc.
    Rows<Acc> loadRows(int64_t first, int64_t rows, int64_t width, Acc* buffer) const {
        const int64_t stride = rows > 1 ? m_plan.reducedStrides[0] : 0;
        const Acc* const x = load(m_call.in[0], first, width, buffer);
        if (x != buffer) return {x, rows, stride, width};
        for (int64_t row = 1; row < rows; ++row)
            load(m_call.in[0], first + row * stride, width, buffer + row * width);
        return {buffer, rows, width, width};
    }

    void reduceColumns(int64_t k, int64_t tile, int64_t part) const {
        const ReducePlan& p = m_plan;
        const int64_t column = tile * kColumns, n = std::min(kColumns, p.width - column);
        const int64_t base = offsetOf(k, p.keptExtents, p.keptStrides) + column;
        const int64_t begin = p.rows * part / p.parts, end = p.rows * (part + 1) / p.parts;
        const bool isOneBlock = end > begin && end - begin <= kRows;
        Cascade<Acc, Op, kColumns> cascade;
        std::array<Acc, kColumns> buffer, block;
        for (int64_t row = begin; row < end; row += kRows) {
            std::fill_n(block.begin(), n, Op::template start<Acc>());
            for (int64_t r = row; r < std::min(row + kRows, end); ++r) {
                const int64_t first = base + offsetOf(r, p.reducedExtents, p.reducedStrides);
                const Acc* x = load(m_call.in[0], first, n, buffer.data());
                for (int64_t i = 0; i < n; ++i) {
                    Acc& acc = block[static_cast<size_t>(i)];
                    acc = Op::join(acc, x[i]);
                }
            }
            if (!isOneBlock) cascade.push(block.data(), n);
        }
        if (!isOneBlock) cascade.result(block.data(), n);
        finish(block.data(), k * p.width + column, n, part);
    }

    void joinParts() {
        const int64_t outputs = m_plan.outputs();
        m_call.pool.run(ceilDiv(outputs, kColumns), [&](int64_t task, int) {
            const int64_t first = task * kColumns, n = std::min(kColumns, outputs - first);
            for (int64_t step = 1; step < m_plan.parts; step *= 2) {
                for (int64_t part = 0; part + step < m_plan.parts; part += 2 * step) {
                    Acc* a = m_partials + part * outputs + first;
                    const Acc* b = a + step * outputs;
                    for (int64_t i = 0; i < n; ++i)
                        a[i] = Op::join(a[i], b[i]);
                }
            }
            divide(m_partials + first, n);
            store(m_call, m_partials + first, first, n);
        });
    }

    const CpuCall& m_call;
    const ReducePlan& m_plan;
    Acc m_count; ///< the divisor of a mean; 1 otherwise
    Acc* m_partials;
};

template <class Op>
void reduceBy(const CpuCall& call, bool divides) {
    const ReducePlan plan = planOf(*call.in[0].shape, attrsOf<AxesAttrs>(call.node.attrs).axes);
    switch (call.in[0].dtype) {
    case DType::F64: return Reducer<double, Op>(call, plan, divides).run();
    case DType::I32: return Reducer<int64_t, Op>(call, plan, divides).run();
    default: return Reducer<float, Op>(call, plan, divides).run();
    }
}

} // namespace

size_t cpuReduceScratchBytes(const Graph& graph, NodeId id, int) {
    const Node& node = graph[id];
    const ReducePlan p = planOf(graph[node.in[0]].shape, attrsOf<AxesAttrs>(node.attrs).axes);
    if (p.parts == 1) return 0;
    const bool wide = node.dtype == DType::F64 || node.dtype == DType::I32;
    return static_cast<size_t>(p.parts * p.outputs()) * (wide ? 8 : 4);
}

void cpuSum(const CpuCall& call) { reduceBy<Add>(call, false); }
void cpuMean(const CpuCall& call) { reduceBy<Add>(call, true); }
void cpuProd(const CpuCall& call) { reduceBy<Multiply>(call, false); }
void cpuReduceMax(const CpuCall& call) { reduceBy<Larger>(call, false); }
void cpuReduceMin(const CpuCall& call) { reduceBy<Smaller>(call, false); }

} // namespace halfscope
