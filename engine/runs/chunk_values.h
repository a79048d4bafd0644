// Up to 4096 values of a column and their steps, in the smallest coding that keeps them exactly,
// with the pyramid over them; column.h describes the layout. Also as bytes for a file.
#pragma once

#include "engine/runs/points.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halfscope {

/// Readers see what was there when their view was made: the first `count` values and `runs` runs,
/// which never change; the writer writes behind them.
class ChunkValues {
public:
    static constexpr size_t kMost = 4096;
    /// Values under a node of the pyramid, and nodes under the next.
    static constexpr size_t kFan = 16;
    static constexpr size_t kWide = kFan * kFan;
    enum class Coding : uint8_t { Runs, Bytes, Floats, Doubles };
    /// What a chunk must become before a value fits.
    enum class Lack : uint8_t { Nothing, Room, Coding, Steps };

    /// Of an empty column.
    static std::shared_ptr<ChunkValues> first();
    /// stepRoom 0: the steps follow each other at equal distances.
    ChunkValues(Coding, size_t room, size_t stepRoom);

    Coding coding() const { return m_coding; }
    /// Values, or runs.
    size_t room() const { return m_room; }

    /// Why value number `count` cannot be written here.
    Lack lackFor(size_t count, size_t runs, int64_t step, double value) const;
    /// Writes it, or says why it cannot. Takes no memory.
    Lack put(size_t count, size_t& runs, int64_t step, double value);
    /// The same values with what was lacking.
    std::shared_ptr<ChunkValues> with(Lack, size_t count, size_t& runs, double next) const;
    /// Without room for more; nothing where there is none.
    std::shared_ptr<ChunkValues> trimmed(size_t count, size_t& runs) const;

    int64_t stepAt(size_t i) const {
        if (i == 0) return m_first;
        return m_steps ? m_steps[i] : m_first + static_cast<int64_t>(i) * m_stride;
    }
    /// The first of `count` values at or after a step.
    size_t indexAt(size_t count, int64_t step) const;
    double valueAt(size_t runs, size_t i) const {
        return m_coding == Coding::Runs ? runValue(runAt(runs, i), i) : load(i);
    }
    void read(size_t runs, size_t from, std::span<Point> out) const;
    /// Adds the values from <= i < to.
    void gather(size_t runs, size_t from, size_t to, Extremes& into) const;
    /// The first value from <= i < to that is not finite; `to` when there is none.
    size_t firstNotFinite(size_t runs, size_t from, size_t to) const;

    /// Of the heap.
    size_t bytes() const;
    /// For a file of this machine alone.
    std::vector<std::byte> packed(size_t count, size_t runs) const;
    /// Nothing for bytes that packed() did not make.
    static std::shared_ptr<ChunkValues> unpacked(std::span<const std::byte>, size_t& count,
                                                 size_t& runs);

private:
    /// A stretch of values: value, value + rise, value + 2 * rise ...
    struct Stretch {
        double value;
        uint32_t first; ///< index in the chunk
        uint32_t rise;  ///< 0 or 1
    };
    static_assert(sizeof(Stretch) == 16);
    /// Of 16 or 256 values; the places are indices in the chunk.
    struct Node {
        uint16_t lowest, highest, finite;
    };

    static Coding narrowest(double value);
    static size_t widthOf(Coding);
    template <class T>
    T* as() {
        return reinterpret_cast<T*>(m_values.get());
    }
    template <class T>
    const T* as() const {
        return reinterpret_cast<const T*>(m_values.get());
    }
    const Stretch* runList() const { return as<Stretch>(); }
    double load(size_t i) const;
    void store(size_t i, double value);
    double runValue(size_t run, size_t i) const;
    size_t runEnd(size_t count, size_t runs, size_t run) const;
    Coding codingOf(size_t run, size_t last) const;
    size_t runAt(size_t runs, size_t i) const;
    bool continues(size_t count, size_t runs, double value) const;
    void addRun(size_t count, size_t& runs, double value);
    void addNodes(size_t count);
    bool isSound(size_t count, size_t runs) const;
    void gatherValue(size_t i, Extremes& into) const;
    void gatherNode(const Node& node, size_t from, size_t width, Extremes& into) const;
    void gatherRuns(size_t runs, size_t from, size_t to, Extremes& into) const;
    std::shared_ptr<ChunkValues> copied(Coding coding, size_t room, size_t stepRoom, size_t count,
                                        size_t& runs) const;

    Coding m_coding;
    size_t m_room; ///< values, or runs
    size_t m_stepRoom;
    int64_t m_first = 0, m_stride = 1;
    std::unique_ptr<std::byte[]> m_values;
    std::unique_ptr<Node[]> m_nodes, m_wide; ///< of 16 and of 256 values
    std::unique_ptr<int64_t[]> m_steps;      ///< where they do not follow at equal distances
};

} // namespace halfscope
