// Reads batches ahead.
#include "engine/data/loader.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/core/thread_pool.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <numeric>
#include <string>
#include <system_error>

namespace halfscope {

namespace {

/// The epoch is added to this. The numbers of random streams below belong to data, those from 2^32
/// on to the starting weights. A run has at most 10^9 steps, so the epochs stay below.
constexpr uint64_t kShuffleStream = 16;

constexpr size_t kBehind = 2; ///< batches that are kept besides those ahead
constexpr size_t kOrders = 2; ///< epochs whose order is kept

/// Smaller batches are read sooner than other threads wake up.
constexpr size_t kSharedBytes = 1 << 16;

/// Returns how many batches are read ahead: twice as many as there are workers, so that each has
/// one to read and one that waits, or fewer when they are large.
int64_t batchesAhead(std::span<const TensorSpec> specs, int64_t rows, int workers, size_t most) {
    constexpr int64_t kFewest = 2; // the next one, and one that is read meanwhile
    size_t bytes = 0;
    for (const TensorSpec& spec : specs)
        bytes += static_cast<size_t>(rows * spec.shape.elements()) * bytesOf(spec.dtype);
    const auto fit = static_cast<int64_t>(most / std::max<size_t>(bytes, 1));
    return std::min(int64_t{2} * workers, std::max(fit, kFewest));
}

} // namespace

std::vector<int32_t> Sampler::order(int64_t epoch) const {
    std::vector<int32_t> order(static_cast<size_t>(m_samples));
    std::iota(order.begin(), order.end(), 0);
    if (shuffles())
        shuffle(order, Philox(m_seed, kShuffleStream + static_cast<uint64_t>(epoch - 1)));
    return order;
}

std::vector<Unread> readTogether(const Dataset& data, Pass pass, std::span<const int64_t> samples,
                                 Batch& out, ThreadPool* pool) {
    size_t bytes = 0;
    for (const TypedBytes& tensor : out.tensors)
        bytes += tensor.bytes.size();
    if (pool == nullptr || bytes < kSharedBytes) return data.read(pass, samples, out);
    const size_t parts = std::min(samples.size(), static_cast<size_t>(pool->threads()));
    std::vector<std::vector<Unread>> unread(parts);
    pool->run(static_cast<int64_t>(parts), [&, token = cancelToken()](int64_t index, int) {
        const Cancellable until(token);
        const auto part = static_cast<size_t>(index);
        const size_t first = samples.size() * part / parts;
        const size_t count = samples.size() * (part + 1) / parts - first;
        unread[part] = data.read(pass, samples.subspan(first, count), {out, first, count});
        for (Unread& each : unread[part])
            each.row += first;
    });
    std::vector<Unread> all;
    for (std::vector<Unread>& each : unread)
        std::move(each.begin(), each.end(), std::back_inserter(all));
    return all;
}

void readWhole(const Dataset& data, Pass pass, std::span<const int64_t> samples,
               const std::function<int64_t(int64_t)>& substitute, int64_t substitutes, Batch& out,
               ThreadPool* pool) {
    const std::vector<Unread> unread = readTogether(data, pass, samples, out, pool);
    int64_t next = 0;
    for (const Unread& each : unread) {
        out.skipped.push_back(each.why);
        for (bool found = false; !found;) {
            checkCancelled();
            if (next == substitutes)
                throw InputError(phrase("Data", "%1 (and no other sample can take its place)"),
                                 each.why);
            Batch one = Batch::of(data.tensors(), 1);
            const int64_t sample = substitute(next++);
            found = data.read(pass, std::span(&sample, 1), one).empty();
            if (found) out.setRow(each.row, one, 0);
        }
    }
}

std::shared_ptr<Batch> SpareBatches::take(std::span<const TensorSpec> specs, int64_t rows) {
    std::unique_ptr<Batch> batch;
    {
        const std::lock_guard lock(m_mutex);
        const auto fits = std::find_if(m_batches.begin(), m_batches.end(),
                                       [&](const auto& each) { return each->rows() == rows; });
        if (fits != m_batches.end()) {
            batch = std::move(*fits);
            m_batches.erase(fits);
        }
    }
    if (batch)
        batch->skipped.clear();
    else
        batch = std::make_unique<Batch>(Batch::of(specs, rows));
    return {batch.release(), [spare = shared_from_this()](Batch* unused) {
                spare->giveBack(std::unique_ptr<Batch>(unused));
            }};
}

/// The batch at the end of an epoch, which may be smaller, does not stay in the others' way.
void SpareBatches::giveBack(std::unique_ptr<Batch> unused) noexcept {
    const std::lock_guard lock(m_mutex);
    if (m_batches.size() == kMost) m_batches.erase(m_batches.begin());
    m_batches.push_back(std::move(unused));
}

Loader::Loader(std::shared_ptr<const Dataset> dataset, const EpochPlan& plan,
               const Sampler& sampler, int workers, size_t mostAhead)
    : m_dataset(std::move(dataset)), m_plan(plan), m_sampler(sampler),
      m_ahead(batchesAhead(m_dataset->tensors(), plan.batch, workers, mostAhead)) {
    require(plan.samples == m_dataset->samples(Split::Train),
            "an epoch is one pass over the split");
    try {
        for (int i = 0; i < workers; ++i)
            m_workers.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
        end();
        throw EngineError(
            phrase("Engine", "data.workers: cannot start %1 threads that load batches: %2"),
            workers, error.what());
    } catch (...) { // there is no memory for one more
        end();
        throw;
    }
}

Loader::~Loader() { end(); }

void Loader::end() {
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
    }
    m_stop.request_stop();
    m_changed.notify_all();
    for (std::thread& worker : m_workers)
        worker.join();
}

int64_t Loader::batchNumber(int64_t step) const {
    const bool always =
        !m_sampler.shuffles() && m_plan.stepsPerEpoch() == 1 && !m_dataset->varies();
    return always ? 1 : step;
}

int64_t Loader::sampleAt(int64_t step, int64_t row) const {
    const int64_t first = batchNumber(step);
    const EpochOrder order = orderOf(m_plan.epochOf(first));
    return m_dataset->number(Split::Train,
                             (*order)[static_cast<size_t>(m_plan.firstOf(first) + row)]);
}

size_t Loader::held() const {
    const std::lock_guard lock(m_mutex);
    return m_entries.size();
}

Loader::EpochOrder Loader::orderOf(int64_t epoch) const {
    const std::lock_guard lock(m_mutex);
    EpochOrder& known = m_orders[epoch];
    if (!known) known = std::make_shared<const std::vector<int32_t>>(m_sampler.order(epoch));
    EpochOrder order = known;
    const auto farthest = [&] { // the epoch farthest from this one
        const auto first = m_orders.begin(), last = std::prev(m_orders.end());
        return epoch - first->first > last->first - epoch ? first : last;
    };
    while (m_orders.size() > kOrders)
        m_orders.erase(farthest());
    return order;
}

std::shared_ptr<const Batch> Loader::read(int64_t step, ThreadPool* pool) const {
    const int64_t epoch = m_plan.epochOf(step), rows = m_plan.rowsOf(step);
    const EpochOrder order = orderOf(epoch);
    const auto at = static_cast<size_t>(m_plan.firstOf(step)), count = static_cast<size_t>(rows);
    const auto first = order->begin() + static_cast<std::ptrdiff_t>(at);
    const std::vector<int64_t> samples(first, first + static_cast<std::ptrdiff_t>(rows));
    const std::shared_ptr<Batch> batch = m_spare->take(m_dataset->tensors(), rows);
    readWhole(
        *m_dataset, {Split::Train, epoch}, samples,
        [&](int64_t next) {
            return (*order)[(at + count + static_cast<size_t>(next)) % order->size()];
        },
        m_plan.samples, *batch, pool);
    return batch;
}

/// Reads a batch into its entry, which already exists; the lock is released meanwhile.
void Loader::readInto(int64_t step, ThreadPool* pool, std::unique_lock<std::mutex>& lock) const {
    Entry entry;
    lock.unlock();
    try {
        entry.batch = read(step, pool);
    } catch (...) {
        entry.error = std::current_exception();
    }
    lock.lock();
    m_entries[step] = std::move(entry);
    m_changed.notify_all();
}

void Loader::askAhead() const {
    m_asked.clear(); // a step that goes back asks again
    for (int64_t next = m_last + 1; next <= m_last + m_ahead; ++next)
        if (!m_entries.contains(batchNumber(next))) m_asked.push_back(next);
    if (!m_asked.empty()) m_changed.notify_all();
}

void Loader::forgetFar() const {
    while (m_entries.size() > static_cast<size_t>(m_ahead) + kBehind) {
        auto farthest = m_entries.end();
        int64_t distance = 0;
        for (auto at = m_entries.begin(); at != m_entries.end(); ++at) {
            const int64_t far =
                at->first > m_last ? at->first - m_last - m_ahead : m_last - at->first;
            if (at->second.done() && far > distance) {
                distance = far;
                farthest = at;
            }
        }
        if (farthest == m_entries.end()) return;
        m_entries.erase(farthest);
    }
}

std::shared_ptr<const Batch> Loader::load(int64_t wanted, ThreadPool* pool) const {
    const int64_t step = batchNumber(wanted);
    std::unique_lock lock(m_mutex);
    if (m_entries.try_emplace(step).second)
        readInto(step, pool, lock);
    else
        m_changed.wait(lock, [&] {
            const auto found = m_entries.find(step);
            return found == m_entries.end() || found->second.done();
        });
    const auto found = m_entries.find(step);
    if (found == m_entries.end()) { // it was forgotten, because other steps were asked for since
        lock.unlock();
        return load(step, pool);
    }
    const Entry entry = found->second;
    if (entry.error) m_entries.erase(found); // the next caller tries again
    m_last = step;
    askAhead();
    forgetFar();
    if (entry.error) std::rethrow_exception(entry.error);
    return entry.batch;
}

void Loader::work() {
    const Cancellable until(m_stop.get_token());
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_changed.wait(lock, [this] { return m_ending || !m_asked.empty(); });
        if (m_ending) return;
        const int64_t step = m_asked.front();
        m_asked.pop_front();
        try {
            if (m_entries.try_emplace(step).second) readInto(step, nullptr, lock);
            forgetFar();                  // no caller may come for a long time
        } catch (const std::bad_alloc&) { // the caller that needs the batch reads it, or reports
                                          // the error
        }
    }
}

} // namespace halfscope
