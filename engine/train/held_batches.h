// Reads the samples to judge in batches, in their order, and skips those that cannot be read.
#pragma once

#include "engine/data/dataset.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace halfscope {

class ThreadPool;

/// What becomes of a last batch of one sample.
enum class LoneSample : uint8_t {
    Alone,
    Joined ///< goes into the batch before it, because statistics of one sample say little or are
           ///< refused
};

/// A batch, and which samples its rows are.
struct HeldBatch {
    Batch batch;
    std::vector<int64_t> samples;
};

class HeldBatches {
public:
    /// `rows` is the size of whole batches. Threads of `pool`, which may be null, help to read. The
    /// data set must outlive this object.
    HeldBatches(const Dataset& judges, int64_t rows, LoneSample, ThreadPool* pool);

    /// Returns the next batch: as many samples as a whole one has, fewer only at the end. Returns
    /// nothing after the last one.
    std::optional<HeldBatch> next();
    /// The reasons why samples were skipped so far.
    const std::vector<Message>& skipped() const { return m_skipped; }

    /// Returns the sizes of the batches of so many samples, each once, where all can be read.
    static std::vector<int64_t> sizes(int64_t samples, int64_t rows, LoneSample);

private:
    std::optional<HeldBatch> read();

    const Dataset& m_judges;
    const int64_t m_rows;
    const LoneSample m_lone;
    ThreadPool* const m_pool;
    const int64_t m_samples;
    int64_t m_next = 0;               ///< the sample to read next
    std::optional<HeldBatch> m_ahead; ///< was read to see whether it is a lone sample
    std::vector<Message> m_skipped;
};

} // namespace halfscope
