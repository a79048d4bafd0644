// The text of one sweep over a loop's space. Used by writeLoop alone.
#pragma once

#include "engine/cuda/codegen/loop_layout.h"

#include <functional>
#include <string>

namespace halfscope::cuda {

/// Lines with the indentation of their braces.
class SourceLines {
public:
    void line(const std::string& words);
    const std::string& text() const { return m_text; }

private:
    std::string m_text;
    int m_depth = 0;
};

class LoopWriter {
public:
    /// Raises the text's blocks, shared bytes, scratch and tickets to what the sweep needs.
    LoopWriter(const KernelSite&, const LoopFacts&, const LoopLayout&, SourceLines&, KernelText&);
    void write();

private:
    /// Sums of up to 64 floats stay floats: no more rounding than in the CPU's tiles.
    static constexpr int64_t kMaxRun = 64;
    /// Where in the nest of loops a value is computed.
    enum class Place : uint8_t { Function, Tile, Row, Pack, Element };

    static std::string text(int64_t n) { return std::to_string(n); }
    static std::string name(NodeId id) { return "v" + std::to_string(id); }

    Place placeOf(Level) const;
    bool isFull(const LoopLoad& load) const {
        return placeOf(m_facts.level(load.value)) == Place::Element;
    }
    std::string valueAt(NodeId, Place user) const;
    std::string pointer(DType, size_t offset) const;

    void writeFlat();
    void writeTiles();
    void writeRowsOfTile();
    void writeAcrossRow();
    void writeValues(Place, const std::string& row);
    void writeRowValues(Place, const std::string& column);
    void writeElements(int vector);

    // loop_loads.cpp
    void declarePacks(int vector);
    void writeLoads(int vector);
    void fillPack(const LoopLoad&, int vector);
    std::string stridedIndex(const LoopLoad&, const std::string& element) const;
    void fillStrided(const LoopLoad&, int vector);
    void fillEach(const LoopLoad&, int vector, const std::function<std::string(std::string)>&);

    // loop_sums.cpp
    void declareAccumulators(ReduceKind);
    void closeBatch();
    void finishRow(const std::string& row);
    void finishTile();
    void finishColumnBlocks();
    void finishAll();
    std::string storeSum(const LoopReduction&, const std::string& index) const;
    size_t takeScratch(int64_t doubles);
    int takeTickets(int64_t count);

    std::string index() const { return m_layout.wideIndex ? "u64" : "u32"; }
    void needShared(int64_t bytes);
    void line(const std::string& words) { m_out.line(words); }
    template <class Do>
    void forEach(ReduceKind kind, Do act) {
        for (const LoopReduction& reduction : m_facts.reductions)
            if (reduction.kind == kind) act(reduction);
    }

    const KernelSite& m_site;
    const LoopFacts& m_facts;
    const LoopLayout& m_layout;
    SourceLines& m_out;
    KernelText& m_text;
    bool m_flushes = false;     ///< column sums: floats are added to doubles after kMaxRun rows
    size_t m_columnScratch = 0; ///< of the row sums of several column blocks
    int m_columnTickets = 0;
};

} // namespace halfscope::cuda
