// The text of one sweep over a loop's space. Only writeLoop uses it.
#pragma once

#include "engine/cuda/codegen/loop_sums.h"

#include <functional>
#include <string>

namespace halfscope::cuda {

class LoopWriter {
public:
    /// Raises the text's blocks, shared bytes, scratch and tickets to what the sweep needs.
    LoopWriter(const KernelSite&, const LoopFacts&, const LoopLayout&, SourceLines&, KernelText&);
    void write();
    /// Writes what is done with element i alone, of which the given values are in variables.
    void writeOne();

private:
    /// Where in the nest of loops a value is computed.
    enum class Place : uint8_t { Function, Tile, Row, Pack, Element };

    static std::string text(int64_t n) { return std::to_string(n); }
    static std::string name(NodeId id) { return "v" + std::to_string(id); }

    Place placeOf(Level) const;
    bool isFull(const LoopLoad& load) const {
        return placeOf(m_facts.level(load.value)) == Place::Element;
    }
    std::string valueAt(NodeId, Place user) const;

    void writeFlat();
    void writeSingle();
    void writeTiles();
    void writeRowsOfTile();
    void writeAcrossRow();
    void writeValues(Place, const std::string& row);
    void writeRowValues(Place, const std::string& column);
    void writeElements(int vector);

    void declarePacks(int vector);
    void writeLoads(int vector);
    void fillPack(const LoopLoad&, int vector);
    std::string stridedIndex(const LoopLoad&, const std::string& element) const;
    void fillStrided(const LoopLoad&, int vector);
    void fillEach(const LoopLoad&, int vector, const std::function<std::string(std::string)>&);

    std::string index() const { return m_layout.indexType(); }
    void line(const std::string& words) { m_out.line(words); }

    const LoopFacts& m_facts;
    const LoopLayout& m_layout;
    SourceLines& m_out;
    LoopSums m_sums;
};

} // namespace halfscope::cuda
