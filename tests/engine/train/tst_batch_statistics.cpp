// Networks whose predictions depend on the batch, because a batch norm keeps no running statistics:
// they are judged in batches of the training, and a last sample alone goes into the batch before
// it. Programs for PyTorch judge them alike; ./dev clients runs these.
#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"
#include "engine/train/held_batches.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/pytorch_program.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <atomic>
#include <cmath>
#include <set>

namespace tst_batch_statistics {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int kLines = 30;

/// Sample i, to be validated on, has the value i; some cannot be read.
class NumberedHeld final : public Dataset {
public:
    NumberedHeld(int64_t samples, std::set<int64_t> broken)
        : m_samples(samples), m_broken(std::move(broken)) {}
    std::span<const TensorSpec> tensors() const override { return m_tensors; }
    int64_t samples(Split split) const override {
        return split == Split::Validation ? m_samples : 0;
    }
    std::vector<Unread> read(Pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        std::vector<Unread> unread;
        for (size_t row = 0; row < samples.size(); ++row) {
            out.floats(kX)[row] = out.floats(kTarget)[row] = static_cast<float>(samples[row]);
            if (m_broken.contains(samples[row])) unread.push_back({row, Message::data("broken")});
        }
        return unread;
    }
    TaskView view() const override { return {}; }

private:
    int64_t m_samples;
    std::set<int64_t> m_broken;
    std::array<TensorSpec, 2> m_tensors{TensorSpec{"x", {1}}, TensorSpec{"target", {1}}};
};

QByteArray textOf(const std::vector<int64_t>& numbers) {
    QByteArrayList parts;
    for (const int64_t number : numbers)
        parts << QByteArray::number(qlonglong{number});
    return parts.join(' ');
}

/// Returns the mean squared error of BatchNorm1d(2), Linear(2, 1) in float64, where batches have
/// these sizes.
double lossByHand(const Batch& held, const Weights& weights, const std::vector<size_t>& sizes) {
    const auto x = [&](size_t row, size_t i) { return double{held.floats(kX)[2 * row + i]}; };
    const auto at = [&](const char* name, size_t i) { return double{weights.at(name).at(i)}; };
    double sum = 0;
    size_t first = 0;
    for (const size_t size : sizes) {
        std::vector<double> made(size, at("1.bias", 0));
        for (size_t i = 0; i < 2; ++i) {
            double mean = 0, variance = 0;
            for (size_t row = 0; row < size; ++row)
                mean += x(first + row, i) / static_cast<double>(size);
            for (size_t row = 0; row < size; ++row)
                variance += std::pow(x(first + row, i) - mean, 2) / static_cast<double>(size);
            for (size_t row = 0; row < size; ++row) {
                const double scaled = (x(first + row, i) - mean) / std::sqrt(variance + 1e-5);
                made[row] += at("1.weight", i) * (scaled * at("0.weight", i) + at("0.bias", i));
            }
        }
        for (size_t row = 0; row < size; ++row)
            sum += std::pow(made[row] - double{held.floats(kTarget)[first + row]}, 2);
        first += size;
    }
    return sum / static_cast<double>(first);
}

} // namespace

class TestBatchStatistics : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void batches_data();
    void batches();
    void lossByBatches_data();
    void lossByBatches();
    void oneSampleIsTooFew_data();
    void oneSampleIsTooFew();
    void programsJudgeAlike();

private:
    RunConfig config(const QStringList& settings) const;
    std::string m_table;
    QTemporaryDir m_folder;
};

void TestBatchStatistics::initTestCase() {
    std::string text = "a,b,c\n";
    for (int i = 0; i < kLines; ++i)
        text += std::to_string(std::sin(0.7 * i)) + "," + std::to_string(i * i % 7) + "," +
                std::to_string(std::cos(0.3 * i)) + "\n";
    m_table = writeBytes(m_folder.filePath("table.csv").toStdString(), text);
}

RunConfig TestBatchStatistics::config(const QStringList& settings) const {
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32");
    config.device = "cpu";
    for (const QString& setting :
         QStringList{"data.kind=csv", "data.path=" + QString::fromStdString(m_table),
                     "data.validation=0.3", "data.held_back=last", "task.batch=4", "task.loss=mse",
                     "data.last_batch=drop", "run.epochs=1",
                     "model.layers=nn.Sequential(nn.BatchNorm1d(2, track_running_stats=False), "
                     "nn.Linear(2, 1))"} +
             settings)
        applySetting(config, setting.toStdString());
    return config;
}

void TestBatchStatistics::batches_data() {
    QTest::addColumn<int>("samples");
    QTest::addColumn<QList<int>>("broken");
    QTest::addColumn<bool>("joins");
    QTest::addColumn<QByteArray>("sizes"); // as far as they are known before anything is read
    QTest::addColumn<QList<QByteArray>>("read");
    const auto row = [](const char* name, int samples, const QList<int>& broken, bool joins,
                        const char* sizes, const QList<QByteArray>& read) {
        QTest::newRow(name) << samples << broken << joins << QByteArray(sizes) << read;
    };
    row("whole ones", 6, {}, true, "3", {"0 1 2", "3 4 5"});
    row("a smaller one", 5, {}, true, "3 2", {"0 1 2", "3 4"});
    row("one sample more", 7, {}, true, "3 4", {"0 1 2", "3 4 5 6"});
    row("one more than a batch", 4, {}, true, "4", {"0 1 2 3"});
    row("one in all", 1, {}, true, "1", {"0"});
    row("one more, alone", 4, {}, false, "3 1", {"0 1 2", "3"});
    row("one left of two", 5, {4}, true, "3 2", {"0 1 2 3"});
    row("one left after others", 6, {0, 2}, true, "3", {"1 3 4 5"});
    row("one left in all", 4, {0, 1, 2}, true, "4", {"3"});
    row("none left at the end", 5, {3, 4}, true, "3 2", {"0 1 2"});
    row("none left", 2, {0, 1}, true, "2", {});
}

void TestBatchStatistics::batches() {
    QFETCH(const int, samples);
    QFETCH(const QList<int>, broken);
    QFETCH(const bool, joins);
    QFETCH(const QByteArray, sizes);
    QFETCH(const QList<QByteArray>, read);
    const LoneSample lone = joins ? LoneSample::Joined : LoneSample::Alone;
    QCOMPARE(textOf(HeldBatches::sizes(samples, 3, lone)), sizes);
    const NumberedHeld data(samples, std::set<int64_t>(broken.begin(), broken.end()));
    HeldBatches batches(data, 3, lone, nullptr);
    QList<QByteArray> found;
    while (const std::optional<HeldBatch> held = batches.next()) {
        found << textOf(held->samples);
        QCOMPARE(held->batch.rows(), static_cast<int64_t>(held->samples.size()));
        for (size_t row = 0; row < held->samples.size(); ++row)
            QCOMPARE(held->batch.floats(kX)[row], static_cast<float>(held->samples[row]));
    }
    QCOMPARE(found, read);
    QCOMPARE(batches.skipped().size(), static_cast<size_t>(broken.size()));
}

void TestBatchStatistics::lossByBatches_data() {
    QTest::addColumn<int>("batch");
    QTest::addColumn<QList<int>>("sizes"); // of nine samples
    QTest::newRow("one sample more") << 4 << QList<int>{4, 5};
    QTest::newRow("a smaller last batch") << 5 << QList<int>{5, 4};
    QTest::newRow("all at once") << 20 << QList<int>{9};
}

void TestBatchStatistics::lossByBatches() {
    QFETCH(const int, batch);
    QFETCH(const QList<int>, sizes);
    const RunConfig settings = config({"task.batch=" + QString::number(batch)});
    Experiment experiment(settings);
    const auto data = makeDataset(settings.task, settings.seed);
    const Batch held = allOf(*data, Split::Validation);
    QCOMPARE(held.rows(), int64_t{9});
    const std::atomic<bool> goesOn{false};
    const double found = experiment.lane(0).evaluate(goesOn)->loss;
    const Weights weights = experiment.lane(0).weights();
    const auto wanted = [&](const std::vector<size_t>& of) {
        return lossByHand(held, weights, of);
    };
    const double right = wanted({sizes.begin(), sizes.end()});
    // some tens of float32 roundings of numbers near 1
    QVERIFY2(std::abs(found - right) < 1e-5 * std::max(right, 1.0),
             qPrintable(QString("%1, not %2").arg(found).arg(right)));
    const std::vector<size_t> others[] = {{4, 5}, {5, 4}, {9}, {3, 3, 3}};
    for (const std::vector<size_t>& other : others)
        if (other != std::vector<size_t>(sizes.begin(), sizes.end()))
            QVERIFY(std::abs(wanted(other) - right) > 1e-4); // it makes a difference
}

void TestBatchStatistics::oneSampleIsTooFew_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QByteArray>("sentence");
    QTest::newRow("validation") << QStringList{"data.validation=0.04"}
                                << QByteArray("one sample is not enough to validate on: ");
    QTest::newRow("test") << QStringList{"data.validation=0.1", "data.test_share=0.4"}
                          << QByteArray("one sample is not enough for a test: ");
}

void TestBatchStatistics::oneSampleIsTooFew() {
    QFETCH(const QStringList, settings);
    QFETCH(const QByteArray, sentence);
    const std::string text = thrownBy<InputError>([&] { Experiment made(config(settings)); });
    QVERIFY2(text.starts_with(sentence.toStdString() + "model.layers, line 1, ") &&
                 text.ends_with("one value a channel, and a variance needs at least two"),
             text.c_str());
    Experiment other(config(settings + QStringList{"model.layers=nn.Linear(2, 1)"}));
}

/// The loss agrees to the digits that the program prints.
void TestBatchStatistics::programsJudgeAlike() {
    if (lacksPython()) QSKIP(lacksPython());
    const QString driver = kProgram + R"(
_, held = program.samples()
lane = next(iter(program.LANES.values()))
model = program.make_model()
model.load_state_dict(weights)
text = program.evaluate(lane, model, *held)
print(text.split()[2].rstrip(","), program.mean_loss(lane, model, *held))
)";
    const RunConfig settings = config({"schedule.kind=plateau"});
    Experiment experiment(settings);
    const QStringList losses =
        printedByProgram(m_folder, driver, settings, experiment.lane(0), 1).split(' ');
    QCOMPARE(losses.size(), qsizetype{2});
    const std::atomic<bool> goesOn{false};
    const double wanted = experiment.lane(0).evaluate(goesOn)->loss;
    for (const QString& loss : losses)
        QVERIFY2(std::abs(loss.toDouble() - wanted) <= 1e-5 * std::max(wanted, 1.0),
                 qPrintable(loss));
}

} // namespace tst_batch_statistics

QTEST_GUILESS_MAIN(tst_batch_statistics::TestBatchStatistics)
#include "tst_batch_statistics.moc"
