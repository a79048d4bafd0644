// Up to 4096 values of a column and their steps, in the smallest coding that keeps them exactly,
// with the pyramid of extremes and sums over them; column.h describes the layout. Also packs a
// chunk into bytes for a file.
#pragma once

#include "engine/runs/points.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halfscope {

/// Any thread may read while one appends. A reader sees what was there when its view was made: the
/// first `count` values and `runs` runs, which never change; the writer writes behind them.
class ChunkValues {
public:
    static constexpr size_t kMost = 4096;
    /// The number of values under a node of the pyramid, and of nodes under a node of the next
    /// level.
    static constexpr size_t kFan = 16;
    static constexpr size_t kWide = kFan * kFan;
    enum class Coding : uint8_t { Runs, Bytes, Floats, Doubles };
    /// What a chunk must gain before a value fits.
    enum class Lack : uint8_t { Nothing, Room, Coding, Steps };

    /// Returns the chunk that a column starts with.
    static std::shared_ptr<ChunkValues> first();
    /// With stepRoom 0, the steps follow each other at equal distances.
    ChunkValues(Coding, size_t room, size_t stepRoom);

    Coding coding() const { return m_coding; }
    /// Returns how many values fit, or how many runs when the coding is Runs.
    size_t room() const { return m_room; }

    /// Returns why value number `count` cannot be written here, or Nothing when it can.
    Lack lackFor(size_t count, size_t runs, int64_t step, double value) const;
    /// Writes value number `count`, or returns why it cannot be written. Allocates no memory.
    Lack put(size_t count, size_t& runs, int64_t step, double value);
    /// Returns a copy of the values with what was lacking added.
    std::shared_ptr<ChunkValues> with(Lack, size_t count, size_t& runs, double next) const;
    /// Returns a copy without unused room, or null when there is no unused room to give back.
    std::shared_ptr<ChunkValues> trimmed(size_t count, size_t& runs) const;

    int64_t stepAt(size_t i) const {
        if (i == 0) return m_first;
        return m_steps ? m_steps[i] : m_first + static_cast<int64_t>(i) * m_stride;
    }
    /// Returns the index of the first of `count` values at or after a step.
    size_t indexAt(size_t count, int64_t step) const;
    double valueAt(size_t runs, size_t i) const {
        return m_coding == Coding::Runs ? runValue(runAt(runs, i), i) : load(i);
    }
    void read(size_t runs, size_t from, std::span<Point> out) const;
    /// Adds the values from <= i < to to `into`.
    void gather(size_t runs, size_t from, size_t to, Extremes& into) const;
    /// Returns the index of the first value from <= i < to that is not finite, or `to` when all
    /// are.
    size_t firstNotFinite(size_t runs, size_t from, size_t to) const;

    /// Returns the bytes that the chunk takes on the heap.
    size_t bytes() const;
    /// Returns the values as bytes for a file that only this machine reads.
    std::vector<std::byte> packed(size_t count, size_t runs) const;
    /// Returns the chunk that packed() turned into these bytes, or null for any other bytes.
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
    /// A node over 16 or 256 values; `lowest` and `highest` are indices in the chunk.
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
    double sumOf(size_t from, size_t width) const;
    bool isSound(size_t count, size_t runs) const;
    void gatherValue(size_t i, Extremes& into) const;
    void gatherNode(const Node& node, size_t from, size_t width, double sum, Extremes& into) const;
    void gatherRuns(size_t runs, size_t from, size_t to, Extremes& into) const;
    std::shared_ptr<ChunkValues> copied(Coding coding, size_t room, size_t stepRoom, size_t count,
                                        size_t& runs) const;

    Coding m_coding;
    size_t m_room; ///< values, or runs when the coding is Runs
    size_t m_stepRoom;
    int64_t m_first = 0, m_stride = 1;
    std::unique_ptr<std::byte[]> m_values;
    std::unique_ptr<Node[]> m_nodes, m_wide; ///< over 16 and over 256 values
    std::unique_ptr<double[]> m_sums;        ///< of the finite ones of 256 values
    std::unique_ptr<int64_t[]> m_steps;      ///< null while the steps follow at equal distances
};

} // namespace halfscope
