// Sampler and loader: an order that depends on seed and epoch alone, the same batches whatever the
// number of workers and whoever asks for them, bounded memory, errors, an end in the middle.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/thread_pool.h"
#include "engine/data/loader.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <atomic>
#include <set>

namespace tst_loader {

using namespace halfscope;

namespace {

/// Sample i has the value i, and a label. Reading takes a while.
class NumberedData final : public Dataset {
public:
    explicit NumberedData(int64_t samples, std::atomic<int>* reads = nullptr)
        : m_samples(samples), m_reads(reads) {}
    std::span<const TensorSpec> tensors() const override { return m_tensors; }
    int64_t samples(Split split) const override { return split == Split::Train ? m_samples : 0; }
    std::vector<Unread> read(Pass pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        if (m_reads) ++*m_reads;
        if (whenRead) whenRead();
        std::this_thread::sleep_for(std::chrono::microseconds(samples[0] % 7 * 100));
        std::vector<Unread> unread;
        for (size_t i = 0; i < samples.size(); ++i) {
            for (size_t each = 0; each < 6; ++each)
                out.floats(kX)[6 * i + each] =
                    static_cast<float>(samples[i]) + (changing ? 0.01f * float(pass.epoch) : 0);
            out.labels(kTarget)[i] = static_cast<int32_t>(samples[i] % 3);
            if (broken.contains(samples[i]))
                unread.push_back({i, Message::data("no " + std::to_string(samples[i]))});
        }
        return unread;
    }
    TaskView view() const override { return {}; }

    bool varies() const override { return changing; }

    std::set<int64_t> broken; ///< cannot be read
    bool changing = false;    ///< a sample's value tells the epoch, too
    std::function<void()> whenRead;

private:
    int64_t m_samples;
    std::atomic<int>* m_reads;
    std::array<TensorSpec, 2> m_tensors{TensorSpec{"x", {2, 3}},
                                        TensorSpec{"target", {}, DType::I32, 3}};
};

constexpr int64_t kSamples = 53;
constexpr EpochPlan kPlan{kSamples, 10, LastBatch::Keep};

Loader loaderOf(int workers, std::atomic<int>* reads = nullptr) {
    return Loader(std::make_unique<NumberedData>(kSamples, reads), kPlan,
                  Sampler(kSamples, 7, Order::Shuffled), workers);
}

} // namespace

class TestLoader : public QObject {
    Q_OBJECT

private slots:
    void orderIsOfSeedAndEpoch() {
        const Sampler a(100, 5, Order::Shuffled), same(100, 5, Order::Shuffled);
        const Sampler other(100, 6, Order::Shuffled), plain(100, 5, Order::AsStored);
        QCOMPARE(a.order(9), same.order(9)); // without asking for the epochs before it
        QVERIFY(a.order(1) != a.order(2));
        QVERIFY(a.order(1) != other.order(1));
        const std::vector<int32_t> order = a.order(3);
        QCOMPARE(std::set<int32_t>(order.begin(), order.end()).size(), size_t{100});
        QCOMPARE(plain.order(4)[17], 17);
    }

    void shapes() {
        const Loader loader = loaderOf(0);
        const BatchShape whole = loader.shape();
        QCOMPARE(whole.rows, int64_t{10});
        QCOMPARE(whole.inputs, int64_t{6});
        QCOMPARE(whole.outputs, int64_t{3});
        QVERIFY(whole.labels);
        QVERIFY((whole.x() == Shape{10, 2, 3}));
        QVERIFY(whole.target() == Shape{10});
        QVERIFY((loader.load(6)->tensors[kX].shape == Shape{3, 2, 3})); // the last one of an epoch
        QCOMPARE(loader.load(6)->labels(kTarget)[0],
                 static_cast<int32_t>(loader.load(6)->floats(kX)[0]) % 3);
    }

    /// Several lanes ask for the same steps, and one of them goes back now and then.
    void sameBatchesWhateverTheWorkers_data() {
        QTest::addColumn<int>("workers");
        for (const int workers : {0, 1, 3, 8})
            QTest::addRow("%d workers", workers) << workers;
    }
    void sameBatchesWhateverTheWorkers() {
        QFETCH(int, workers);
        const Loader loader = loaderOf(workers);
        const Sampler sampler(kSamples, 7, Order::Shuffled);
        std::atomic<int> wrong{0};
        std::atomic<size_t> most{0};
        const auto ask = [&](int64_t back) {
            for (int64_t i = 1; i <= 40; ++i) {
                const int64_t step = i % 9 == 0 ? std::max<int64_t>(i - back, 1) : i;
                const auto batch = loader.load(step);
                const std::vector<int32_t> order = sampler.order(kPlan.epochOf(step));
                for (int64_t row = 0; row < batch->rows(); ++row) {
                    const auto at = static_cast<size_t>(kPlan.firstOf(step) + row);
                    const auto is = batch->floats(kX)[static_cast<size_t>(6 * row)];
                    wrong += is != static_cast<float>(order[at]);
                    wrong += loader.sampleAt(step, row) != order[at];
                }
                most = std::max(most.load(), loader.held());
            }
        };
        std::thread other([&] { ask(5); });
        ask(0);
        other.join();
        QCOMPARE(wrong.load(), 0);
        // those ahead, those kept behind, and one that each thread reads
        QVERIFY(most <= static_cast<size_t>(2 * workers + 2 + workers + 2));
    }

    /// Of large ones, fewer are read ahead than the workers could: of 280 bytes each here.
    void largeBatchesAreFewAhead() {
        for (const auto& [bytes, ahead] : {std::pair{size_t{3 * 280 + 279}, 3}, {size_t{1}, 2}}) {
            std::atomic<int> reads{0};
            const Loader loader(std::make_unique<NumberedData>(kSamples, &reads), kPlan,
                                Sampler(kSamples, 7, Order::Shuffled), 8, bytes);
            const Loader plain = loaderOf(0);
            loader.load(1);
            QTRY_COMPARE(loader.held(), static_cast<size_t>(1 + ahead));
            QTest::qWait(50); // the other workers find nothing to read
            QCOMPARE(reads.load(), 1 + ahead);
            for (int64_t step = 1; step <= 20; ++step) {
                const auto batch = loader.load(step), expected = plain.load(step);
                QCOMPARE(batch->tensors[kX].bytes, expected->tensors[kX].bytes);
                QVERIFY(loader.held() <= static_cast<size_t>(ahead + 2 + ahead));
            }
        }
    }

    void lanesReadABatchOnce() {
        std::atomic<int> reads{0};
        const Loader loader = loaderOf(0, &reads);
        for (int64_t step = 1; step <= 12; ++step)
            for (int lane = 0; lane < 6; ++lane)
                loader.load(step);
        QCOMPARE(reads.load(), 12);
    }

    /// Of 6,000 samples, large enough to be read by several threads; the last batch is not.
    void threadsOfAPoolShareABatch() {
        constexpr int64_t kMany = 6000;
        std::atomic<int> reads{0};
        const auto make = [&] {
            auto data = std::make_unique<NumberedData>(kMany, &reads);
            data->broken = {7, 2499, 2500, 4999};
            return std::make_unique<Loader>(std::move(data),
                                            EpochPlan{kMany, 2500, LastBatch::Keep},
                                            Sampler(kMany, 7, Order::Shuffled), 0);
        };
        const auto alone = make(), helped = make();
        ThreadPool pool(3);
        for (int64_t step = 1; step <= 6; ++step) {
            const auto expected = alone->load(step);
            const auto others = static_cast<int>(expected->skipped.size()); // read one by one
            reads = 0;
            const auto batch = helped->load(step, &pool);
            QCOMPARE(reads.load(), (step % 3 == 0 ? 1 : 3) + others);
            for (const size_t tensor : {kX, kTarget})
                QCOMPARE(batch->tensors[tensor].bytes, expected->tensors[tensor].bytes);
            QCOMPARE(batch->skipped, expected->skipped);
        }
    }

    /// Both threads wait for each other, so each reads its part.
    void eachThreadOfAPoolCanBeCancelled() {
        constexpr int64_t kMany = 4000;
        const std::thread::id caller = std::this_thread::get_id();
        std::atomic<int> arrived{0};
        auto data = std::make_unique<NumberedData>(kMany);
        data->whenRead = [&] {
            for (++arrived; arrived < 2;)
                std::this_thread::yield();
            if (std::this_thread::get_id() != caller) checkCancelled();
        };
        const Loader loader(std::move(data), EpochPlan{kMany, kMany, LastBatch::Keep},
                            Sampler(kMany, 7, Order::Shuffled), 0);
        ThreadPool pool(2);
        std::stop_source stop;
        stop.request_stop();
        const Cancellable until(stop.get_token());
        QVERIFY_EXCEPTION_THROWN(loader.load(1, &pool), Cancelled);
    }

    void memoryOfBatchesIsUsedAgain() {
        const auto spare = std::make_shared<SpareBatches>();
        const NumberedData data(kSamples);
        std::shared_ptr<Batch> held = spare->take(data.tensors(), 10);
        held->skipped.push_back(Message::data("an old one"));
        const float* memory = held->floats(kX).data();
        QVERIFY(spare->take(data.tensors(), 10)->floats(kX).data() != memory);
        held->floats(kX)[0] = 42;
        held.reset();
        QCOMPARE(spare->take(data.tensors(), 3)->rows(), int64_t{3}); // that has room for ten
        const std::shared_ptr<Batch> first = spare->take(data.tensors(), 10);
        QCOMPARE(first->floats(kX)[0], 42.0f); // new memory would hold 0
        QVERIFY(first->skipped.empty());
        std::set<const float*> taken;
        std::vector<std::shared_ptr<Batch>> batches;
        for (int i = 0; i < 3; ++i) {
            batches.push_back(spare->take(data.tensors(), 10));
            QCOMPARE(batches.back()->rows(), int64_t{10});
            QVERIFY(batches.back()->skipped.empty());
            taken.insert(batches.back()->floats(kX).data());
        }
        QCOMPARE(taken.size(), size_t{3});
    }

    /// A batch that someone holds keeps its values, and outlives the loader.
    void heldBatchesStay() {
        std::vector<std::shared_ptr<const Batch>> held;
        {
            const Loader loader = loaderOf(0);
            for (int64_t step = 1; step <= 40; ++step) {
                const auto batch = loader.load(step);
                if (step % 4 == 0) held.push_back(batch);
            }
        }
        const Loader again = loaderOf(0);
        for (size_t i = 0; i < held.size(); ++i)
            QVERIFY(std::ranges::equal(held[i]->floats(kX),
                                       again.load(4 * (int64_t(i) + 1))->floats(kX)));
    }

    void oneBatchThatNeverChanges() {
        std::atomic<int> reads{0};
        const Loader loader(std::make_unique<NumberedData>(kSamples, &reads),
                            EpochPlan{kSamples, kSamples, LastBatch::Keep},
                            Sampler(kSamples, 7, Order::AsStored), 2);
        for (const int64_t step : {1, 2, 500})
            QCOMPARE(loader.batchNumber(step), int64_t{1});
        QCOMPARE(loader.load(500)->floats(kX)[6 * 20], 20.0f);
        QCOMPARE(loader.load(1)->rows(), kSamples);
        QCOMPARE(reads.load(), 1);
    }

    void skipsWhatCannotBeRead_data() {
        QTest::addColumn<int>("workers");
        QTest::newRow("none") << 0;
        QTest::newRow("two") << 2;
    }
    void skipsWhatCannotBeRead() {
        QFETCH(int, workers);
        auto data = std::make_unique<NumberedData>(kSamples);
        data->broken = {31, 35, 40};
        const Loader loader(std::move(data), kPlan, Sampler(kSamples, 7, Order::AsStored), workers);
        for (int64_t step = 1; step <= 3; ++step)
            QVERIFY(loader.load(step)->skipped.empty());
        for (int twice = 0; twice < 2; ++twice) { // 30 to 39: the samples from 40 on take two
                                                  // places
            const auto batch = loader.load(4);
            QCOMPARE(batch->skipped,
                     (std::vector<Message>{Message::data("no 31"), Message::data("no 35")}));
            const std::array<int32_t, 10> samples{30, 41, 32, 33, 34, 42, 36, 37, 38, 39};
            for (size_t row = 0; row < samples.size(); ++row) {
                QCOMPARE(batch->floats(kX)[6 * row + 5], static_cast<float>(samples[row]));
                QCOMPARE(batch->labels(kTarget)[row], samples[row] % 3);
            }
        }
        QCOMPARE(loader.load(5)->rows(), int64_t{10});
        QCOMPARE(loader.load(5)->skipped.size(), size_t{1});
    }

    /// At the end of an epoch its first samples fill the places; when no sample can be read, that
    /// is an error.
    void placesAreTakenFromTheWholeEpoch() {
        auto data = std::make_unique<NumberedData>(kSamples);
        data->broken = {50, 51, 52, 0};
        const Loader loader(std::move(data), kPlan, Sampler(kSamples, 7, Order::AsStored), 0);
        const auto last = loader.load(6);
        for (size_t row = 0; row < 3; ++row)
            QCOMPARE(last->floats(kX)[6 * row], static_cast<float>(row + 1));
        auto none = std::make_unique<NumberedData>(2);
        none->broken = {0, 1};
        const Loader empty(std::move(none), EpochPlan{2, 2, LastBatch::Keep},
                           Sampler(2, 7, Order::AsStored), 0);
        QCOMPARE(thrownBy<InputError>([&] { empty.load(1); }),
                 std::string("no 0 (and no other sample can take its place)"));
    }

    /// A whole set in one batch is always the same batch, unless its samples change.
    void changingSamples() {
        for (const bool changing : {false, true}) {
            auto data = std::make_unique<NumberedData>(4);
            data->changing = changing;
            const Loader loader(std::move(data), EpochPlan{4, 4, LastBatch::Keep},
                                Sampler(4, 7, Order::AsStored), 0);
            QCOMPARE(loader.batchNumber(3), int64_t{changing ? 3 : 1});
            QCOMPARE(loader.load(3)->floats(kX)[6], changing ? 1.03f : 1.0f);
        }
    }

    /// A worker that is searching for a sample to fill a place stops searching.
    void endsWhileAllIsBroken() {
        constexpr int64_t kMany = 50'000;
        std::atomic<int> reads{0};
        auto data = std::make_unique<NumberedData>(kMany, &reads);
        for (int64_t i = 10; i < kMany; ++i)
            data->broken.insert(i);
        {
            const Loader loader(std::move(data), EpochPlan{kMany, 10, LastBatch::Keep},
                                Sampler(kMany, 7, Order::AsStored), 2);
            loader.load(1);
            QTRY_VERIFY(reads > 10);
        }
        QVERIFY(reads < kMany);
    }

    void endsInTheMiddle() {
        for (int i = 0; i < 20; ++i) {
            const Loader loader = loaderOf(4);
            loader.load(1 + i);
        }
    }
};

} // namespace tst_loader

QTEST_GUILESS_MAIN(tst_loader::TestLoader)
#include "tst_loader.moc"
