// A run of elementwise instructions as one loop of machine code. Every value stays in a vector
// register from the instruction that makes it to the last that reads it, so that a tile is loaded
// and stored once rather than once per instruction. The results have the bits of the ops' own
// loops, whichever set of vector instructions the code is for. Xbyak encodes the instructions; a
// build without it, or for a machine other than x86-64, compiles no loops and interprets them all.
#pragma once

#include "engine/core/vector_set.h"
#include "engine/cpu/arena.h"
#include "engine/graph/op.h"

#include <memory>
#include <span>
#include <vector>

namespace halfscope {

class VectorCode;

/// Where a vector step reads or writes: the thread's scratch (always f32) or the arena.
struct VectorPlace {
    enum class Walk : uint8_t {
        Elements, ///< element i of the tile is at index i
        Columns,  ///< one value per column, read at the column's index
        Still,    ///< 16 equal values, read at index 0
        Rows,     ///< one value per row, `offset` is behind that of the last: see VectorStep
    };
    bool scratch = false;
    size_t offset = 0; ///< bytes in the scratch or, for the tile at element 0, in the arena
    DType dtype = DType::F32;
    Walk walk = Walk::Elements;
    bool sameAs(const VectorPlace& other) const {
        return scratch == other.scratch && offset == other.offset && dtype == other.dtype;
    }
};

/// One instruction: out = op(in), rounded to `rounded`. A load or a store is a Cast; a Sum adds to
/// `out`, a place by columns, over the rows. A Cast from Rows to Still is done once per row before
/// all others: it spreads the row's value.
struct VectorStep {
    Op op = Op::Cast;
    VectorPlace in[3];
    int inputs = 0;
    VectorPlace out;
    DType rounded = DType::F32;
};

class VectorLoop {
public:
    /// The places in the arena that one loop can walk: this many pointers stay in registers.
    static constexpr size_t kMaxPointers = 9;
    /// Columns are a multiple of this: the widest set's vector, for all sets.
    static constexpr int64_t kLanes = 16;

    ~VectorLoop();

    /// Whether this build can compile loops of the set and this machine can run them; never for
    /// Portable.
    static bool available(VectorSet);
    /// Whether there is code for the op, its rounding and its places: the same for all sets.
    static bool supports(const VectorStep&);
    /// Compiles steps. The scratch places in `wanted` are read later by others: their last values
    /// are stored. Returns null when the machine or the system does not let such code run. What a
    /// loop reads and overwrites, such as the mean of gradients that stay away, may become
    /// subnormal and stay so: with `guarded`, such vectors take a way that is not delayed by that,
    /// with the same bits.
    static std::unique_ptr<VectorLoop> compile(VectorSet, std::span<const VectorStep>,
                                               std::span<const size_t> wanted,
                                               bool guarded = subnormalsAreSlow());

    /// Runs over rows x columns elements; columns is a multiple of kLanes. `element` is the index
    /// in the arena's tensors of the tile's first element.
    void run(const Arena& arena, float* scratch, int64_t element, int64_t rows,
             int64_t columns) const;

private:
    struct Stream {
        size_t offset, bytes;
    };
    VectorLoop();
    std::vector<Stream> m_streams;
    /// Where in the scratch are divisors that the code multiplies by the reciprocal of, and the
    /// loop that takes its place where one of them is too small or too large for that.
    std::vector<size_t> m_divisors;
    std::unique_ptr<VectorLoop> m_dividing;
    std::unique_ptr<VectorCode> m_code;
    friend class VectorCompiler;
};

} // namespace halfscope
