// The sums of a sweep over a loop's space. Only LoopWriter uses it.
#pragma once

#include "engine/cuda/codegen/loop_layout.h"
#include "engine/cuda/codegen/source_lines.h"

#include <string>

namespace halfscope::cuda {

/// Writes the accumulators of a thread, and the code that adds them up over its block and over all
/// blocks; LoopWriter says where. Its lines add elements to columnSumN[k], rowSumN and batchN of
/// node N.
class LoopSums {
public:
    /// Raises the text's shared bytes, scratch and tickets to what the sums need.
    LoopSums(const KernelSite&, const LoopFacts&, const LoopLayout&, SourceLines&, KernelText&);

    void declare(ReduceKind);
    void declareBatches(ReduceKind); ///< batchN, the short sums of a batch
    void closeBatch();
    void closeRowBatch(); ///< of a row across which a thread walks
    void startColumnBlocks();
    void finishRow(const std::string& row);
    void finishTile();
    void finishColumnBlocks();
    void finishAll();

private:
    /// Sums of up to 64 floats stay floats, with no more rounding than in the CPU's tiles.
    static constexpr int64_t kMaxRun = 64;

    static std::string text(int64_t n) { return std::to_string(n); }
    std::string storeSum(const LoopReduction&, const std::string& index) const;
    void needShared(int64_t bytes);
    size_t takeScratch(int64_t doubles);
    int takeTickets(int64_t count);
    void line(const std::string& words) { m_out.line(words); }
    template <class Do>
    void forEach(ReduceKind kind, Do act) const {
        m_facts.forEachReduction(kind, act);
    }

    const KernelSite& m_site;
    const LoopFacts& m_facts;
    const LoopLayout& m_layout;
    SourceLines& m_out;
    KernelText& m_text;
    bool m_flushes;             ///< column sums: floats are added to doubles after kMaxRun rows
    size_t m_columnScratch = 0; ///< of the row sums of several column blocks
    int m_columnTickets = 0;
};

} // namespace halfscope::cuda
