// From samples to batches: the order of samples, and workers that read ahead.
#pragma once

#include "engine/data/dataset.h"
#include "engine/data/epochs.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

namespace halfscope {

enum class Order : uint8_t { AsStored, Shuffled };

/// The order of samples: a function of the seed and the epoch alone.
class Sampler {
public:
    Sampler(int64_t samples, uint64_t seed, Order order)
        : m_samples(samples), m_seed(seed), m_order(order) {}
    /// Returns the order in an epoch; 1 is the first.
    std::vector<int32_t> order(int64_t epoch) const;
    bool shuffles() const { return m_order == Order::Shuffled; }

private:
    int64_t m_samples;
    uint64_t m_seed;
    Order m_order;
};

/// Reads samples like Dataset::read(), with the threads of a pool if there is one and the samples
/// are large enough.
std::vector<Unread> readTogether(const Dataset&, Pass, std::span<const int64_t> samples, Batch& out,
                                 ThreadPool*);

/// Reads samples likewise. The place of a sample that is skipped is taken by the first of
/// substitute(0), substitute(1), ... that can be read, so that a batch is always whole;
/// Batch::skipped tells why. Throws RunError when none of the `substitutes` can be read. Can be
/// cancelled.
void readWhole(const Dataset&, Pass, std::span<const int64_t> samples,
               const std::function<int64_t(int64_t)>& substitute, int64_t substitutes, Batch& out,
               ThreadPool* pool = nullptr);

/// Memory of batches that nobody needs any more, for those that come. A batch of pictures is large
/// enough for the system to take its memory back each time and to clear it before it comes again,
/// which takes longer than reading what it holds.
class SpareBatches : public std::enable_shared_from_this<SpareBatches> {
public:
    SpareBatches() { m_batches.reserve(kMost); }
    /// Returns a batch like Batch::of(), but of any values. The last one who lets go of it gives
    /// its memory back, from any thread.
    std::shared_ptr<Batch> take(std::span<const TensorSpec>, int64_t rows);

private:
    static constexpr size_t kMost = 2;
    void giveBack(std::unique_ptr<Batch>) noexcept;
    std::mutex m_mutex;
    std::vector<std::unique_ptr<Batch>> m_batches; ///< of the same specs; at most kMost
};

/// Batches of the train split in the sampler's order, whatever the number of workers. Steps may ask
/// for them in any order and from several threads; the batches that come next are read ahead. Holds
/// a few batches at a time, fewer of large ones. Its destructor stops reads that have begun and
/// drops the others. The place of a skipped sample goes to the samples that follow the batch in its
/// epoch, so this, too, depends on the step alone.
class Loader : public BatchSource {
public:
    static constexpr size_t kMostAhead = size_t{512} << 20; ///< bytes
    /// With 0 workers, the thread that asks for a batch reads it. Those that are read ahead take at
    /// most `mostAhead` bytes, or are two.
    Loader(std::shared_ptr<const Dataset>, const EpochPlan&, const Sampler&, int workers,
           size_t mostAhead = kMostAhead);
    ~Loader() override;
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;

    using BatchSource::rows;
    std::span<const TensorSpec> tensors() const override { return m_dataset->tensors(); }
    int64_t rows() const override { return m_plan.batch; }
    int64_t stepsPerEpoch() const override { return m_plan.stepsPerEpoch(); }
    int64_t rows(int64_t step) const override { return m_plan.rowsOf(step); }
    int64_t batchNumber(int64_t step) const override;
    std::shared_ptr<const Batch> load(int64_t step, ThreadPool* pool = nullptr) const override;
    int64_t sampleAt(int64_t step, int64_t row) const override;

    const Dataset* validation() const override {
        return m_dataset->samples(Split::Validation) > 0 ? m_dataset.get() : nullptr;
    }
    bool targetsAreSides() const override { return m_dataset->targetsAreSides(); }
    const Dataset* test() const override { return m_dataset->test(); }
    const Dataset& dataset() const { return *m_dataset; }
    /// Returns it for another loader, with another seed.
    const std::shared_ptr<const Dataset>& sharedDataset() const { return m_dataset; }
    /// Returns the number of batches in memory and being read.
    size_t held() const;

private:
    void end();
    /// A batch, or the reason why there is none; it has neither while it is being read.
    struct Entry {
        std::shared_ptr<const Batch> batch;
        std::exception_ptr error;
        bool done() const { return batch || error; }
    };

    using EpochOrder = std::shared_ptr<const std::vector<int32_t>>;
    EpochOrder orderOf(int64_t epoch) const;
    std::shared_ptr<const Batch> read(int64_t step, ThreadPool*) const;
    void readInto(int64_t step, ThreadPool*, std::unique_lock<std::mutex>& lock) const;
    void askAhead() const;
    void forgetFar() const;
    void work();

    std::shared_ptr<const Dataset> m_dataset;
    std::shared_ptr<SpareBatches> m_spare = std::make_shared<SpareBatches>();
    EpochPlan m_plan;
    Sampler m_sampler;
    int64_t m_ahead; ///< batches
    mutable std::mutex m_mutex;
    mutable std::condition_variable m_changed;
    mutable std::map<int64_t, Entry> m_entries;     ///< by batch number
    mutable std::deque<int64_t> m_asked;            ///< batches that workers are to read
    mutable int64_t m_last = 0;                     ///< the batch that was asked for last
    mutable std::map<int64_t, EpochOrder> m_orders; ///< by epoch
    bool m_ending = false;
    std::stop_source m_stop; ///< stops reads that workers have begun
    std::vector<std::thread> m_workers;
};

} // namespace halfscope
