// The tasks' data: the checkerboard compared with its definition, pictures, and the regression's
// samples, epochs and scatter picture. Reading picture files is tested with io.
#include "engine/core/error.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"

#include <QtTest>

#include <cmath>
#include <map>
#include <numeric>

namespace tst_dataset {

using namespace halfscope;

namespace {

struct Values {
    std::vector<float> x, target;
    bool fresh = false;
};

Values batchOf(const Task& data, int64_t step) {
    const BatchShape shape = data.shape();
    constexpr float kUntouched = -77;
    Values batch{std::vector<float>(static_cast<size_t>(shape.rows * shape.inputs), kUntouched),
                 std::vector<float>(static_cast<size_t>(shape.rows * shape.outputs), kUntouched),
                 false};
    batch.fresh = data.batch(step, batch.x, batch.target);
    return batch;
}

RunConfig regression(int64_t samples, int64_t batch, uint64_t seed) {
    RunConfig config = presetNamed("regression").config;
    config.task.samples = samples;
    config.task.batch = batch;
    config.data.lastBatch = LastBatch::Drop; // tst_epochs tests keeping it
    config.seed = seed;
    return config;
}

} // namespace

class TestDataset : public QObject {
    Q_OBJECT

private slots:
    void checkerboard_data();
    void checkerboard();
    void checkerboardKnownRows();
    void builtInPicture();
    void pictureFile();
    void unusablePicture();
    void regressionMoments();
    void epochs_data();
    void epochs();
    void wholeSetNeverChanges();
    void seedsDiffer();
    void scatter();
    void dotsShrinkWithTheirNumber();
};

void TestDataset::checkerboard_data() {
    QTest::addColumn<int>("side");
    QTest::addColumn<double>("frequency");
    for (const int side : {2, 8, 31, 64, 100}) {
        for (const double frequency : {8.0, 3.0, 2.5}) {
            QTest::addRow("%d %g", side, frequency) << side << frequency;
        }
    }
}

void TestDataset::checkerboard() {
    QFETCH(const int, side);
    QFETCH(const double, frequency);
    RunConfig config;
    config.task.side = side;
    config.task.frequency = frequency;
    const auto data = makeTask(config);
    QCOMPARE(data->shape().rows, int64_t{side} * side);
    QCOMPARE(data->shape().inputs, int64_t{2});
    QCOMPARE(data->shape().outputs, int64_t{1});
    const Values batch = batchOf(*data, 1);
    QVERIFY(batch.fresh);
    for (int row = 0; row < side; ++row) {
        for (int column = 0; column < side; ++column) {
            const auto p = static_cast<size_t>(row * side + column);
            // float32 division of small whole numbers rounds once, as the reference does.
            const auto n = static_cast<float>(side);
            QVERIFY(batch.x[2 * p] == static_cast<float>(column) / n); // QCOMPARE would be fuzzy
            QVERIFY(batch.x[2 * p + 1] == static_cast<float>(row) / n);
            const bool a = std::fmod(column * frequency / side / 2, 1) > 0.5;
            const bool b = std::fmod(row * frequency / side / 2, 1) > 0.5;
            QCOMPARE(batch.target[p], a != b ? 1.0f : 0.0f);
        }
    }
    QVERIFY(!data->batch(2, {}, {})); // nothing is written, nothing needs uploading
    QCOMPARE(data->targetPicture().values, batch.target);
    const Picture picture = data->picture(batch.target, 5);
    QCOMPARE(picture.width, side);
    QCOMPARE(picture.height, side);
    QCOMPARE(picture.channels, 1);
    QCOMPARE(picture.values, batch.target);
}

void TestDataset::checkerboardKnownRows() {
    // With side 8 and frequency 4, `at` is `at` / 4 of a period, so that 3 of 4 pixels are at most
    // a half.
    RunConfig config;
    config.task.side = 8;
    config.task.frequency = 4;
    const std::vector<float> values = makeTask(config)->targetPicture().values;
    const std::vector<float> even{0, 0, 0, 1, 0, 0, 0, 1};
    const std::vector<float> odd{1, 1, 1, 0, 1, 1, 1, 0};
    for (size_t row = 0; row < 8; ++row) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * 8);
        QCOMPARE(std::vector<float>(first, first + 8), row % 4 == 3 ? odd : even);
    }
}

void TestDataset::builtInPicture() {
    RunConfig config = presetNamed("picture").config;
    config.task.side = 33;
    const auto data = makeTask(config);
    QCOMPARE(data->shape().outputs, int64_t{3});
    const Picture target = data->targetPicture();
    QCOMPARE(target.values.size(), size_t{33 * 33 * 3});
    const auto [low, high] = std::minmax_element(target.values.begin(), target.values.end());
    QVERIFY2(*low >= 0 && *high <= 1 && *high - *low > 0.5f, "a picture with contrast");
    QCOMPARE(batchOf(*data, 1).target, target.values);
}

void TestDataset::pictureFile() {
    QTemporaryDir folder;
    QVERIFY(folder.isValid());
    // 6 x 2: the centre square is columns 2 and 3.
    Picture picture{6, 2, 1, {}};
    picture.values = {0, 0, 0.2f, 0.4f, 1, 1, 0, 0, 0.6f, 0.8f, 1, 1};
    RunConfig config = presetNamed("picture").config;
    config.task.image = folder.filePath("p.png").toStdString();
    config.task.side = 2;
    writePng(picture, config.task.image);
    const auto data = makeTask(config);
    QCOMPARE(data->shape().rows, int64_t{4});
    QCOMPARE(data->shape().outputs, int64_t{1});
    const std::vector<float> wanted{0.2f, 0.4f, 0.6f, 0.8f};
    const std::vector<float> target = batchOf(*data, 1).target;
    for (size_t i = 0; i < 4; ++i) {
        QVERIFY2(std::abs(target[i] - wanted[i]) <= 0.5f / 255, "8 bits in the file");
    }
}

void TestDataset::unusablePicture() {
    RunConfig config = presetNamed("picture").config;
    config.task.image = "no/such/picture.png";
    QVERIFY_THROWS_EXCEPTION(InputError, makeTask(config));
}

void TestDataset::regressionMoments() {
    constexpr int64_t kSamples = 4096;
    const uint64_t seed = 5;
    const auto data = makeTask(regression(kSamples, kSamples, seed));
    QCOMPARE(data->shape().rows, kSamples);
    QCOMPARE(data->shape().inputs, int64_t{10});
    QCOMPARE(data->shape().outputs, int64_t{1});
    const Values batch = batchOf(*data, 1);
    const auto moments = [](const std::vector<float>& v) {
        const auto n = static_cast<double>(v.size());
        const double mean = std::accumulate(v.begin(), v.end(), 0.0) / n;
        double square = 0;
        for (const float x : v)
            square += (x - mean) * (x - mean);
        return std::pair(mean, std::sqrt(square / n));
    };
    // Five standard errors: spread / sqrt(n) for a mean, spread / sqrt(2 n) for a spread.
    const auto near = [](double is, double wanted, double error) {
        return std::abs(is - wanted) <= 5 * error;
    };
    const auto [inputMean, inputSpread] = moments(batch.x);
    const double inputs = 10.0 * kSamples;
    QVERIFY2(near(inputMean, 0, 1 / std::sqrt(inputs)), "seed 5");
    QVERIFY2(near(inputSpread, 1, 1 / std::sqrt(2 * inputs)), "seed 5");
    const auto [mean, spread] = moments(batch.target);
    QVERIFY2(near(mean, 10, 5 / std::sqrt(double{kSamples})), "seed 5");
    QVERIFY2(near(spread, 5, 5 / std::sqrt(2.0 * kSamples)), "seed 5");
}

void TestDataset::epochs_data() {
    QTest::addColumn<int>("samples");
    QTest::addColumn<int>("batch");
    QTest::newRow("whole batches") << 60 << 20;
    QTest::newRow("rest left out") << 64 << 20;
    QTest::newRow("one of each epoch") << 33 << 32;
    QTest::newRow("single samples") << 7 << 1;
}

void TestDataset::epochs() {
    QFETCH(const int, samples);
    QFETCH(const int, batch);
    const auto data = makeTask(regression(samples, batch, 3));
    const int batches = samples / batch;
    // Targets identify samples, whose inputs do not change.
    std::map<float, std::vector<float>> inputs;
    std::vector<std::vector<float>> orders;
    for (int epoch = 0; epoch < 4; ++epoch) {
        std::vector<float> seen;
        for (int i = 0; i < batches; ++i) {
            const Values now = batchOf(*data, 1 + epoch * batches + i);
            QVERIFY(now.fresh);
            for (size_t row = 0; row < now.target.size(); ++row) {
                const auto first = now.x.begin() + static_cast<std::ptrdiff_t>(row * 10);
                const std::vector<float> x(first, first + 10);
                QCOMPARE(inputs.try_emplace(now.target[row], x).first->second, x);
                seen.push_back(now.target[row]);
            }
        }
        orders.push_back(seen);
        std::sort(seen.begin(), seen.end());
        QVERIFY2(std::adjacent_find(seen.begin(), seen.end()) == seen.end(), "twice in an epoch");
        QCOMPARE(seen.size(), static_cast<size_t>(batches * batch));
    }
    QVERIFY2(orders[0] != orders[1] && orders[1] != orders[2], "every epoch shuffles, seed 3");
    // Going back gives the same batch again, as it must after a stopped step.
    const Values again = batchOf(*data, 1);
    QVERIFY(std::equal(again.target.begin(), again.target.end(), orders[0].begin()));
    // Another data set with the same configuration agrees, wherever it starts.
    const auto other = makeTask(regression(samples, batch, 3));
    QCOMPARE(batchOf(*other, 1 + 3 * batches).x, batchOf(*data, 1 + 3 * batches).x);
}

void TestDataset::wholeSetNeverChanges() {
    const auto data = makeTask(regression(16, 16, 1));
    QVERIFY(batchOf(*data, 1).fresh);
    for (const int64_t step : {2, 3, 100})
        QVERIFY(!batchOf(*data, step).fresh);
}

void TestDataset::seedsDiffer() {
    const auto a = makeTask(regression(64, 8, 1));
    const auto same = makeTask(regression(64, 8, 1));
    const auto b = makeTask(regression(64, 8, 2));
    QCOMPARE(batchOf(*a, 1).x, batchOf(*same, 1).x);
    QVERIFY(batchOf(*a, 1).x != batchOf(*b, 1).x);
    QVERIFY(batchOf(*a, 1).target != batchOf(*b, 1).target);
}

void TestDataset::scatter() {
    RunConfig config = regression(64, 4, 9);
    const auto data = makeTask(config);
    const Values batch = batchOf(*data, 3);
    const auto at = [](const Picture& picture, int column, int row) {
        return picture.values[static_cast<size_t>(row * picture.width + column)];
    };
    // Places cover mean +- 4 spreads over 256 pixels, upwards.
    const auto place = [](double value) {
        return static_cast<int>(std::lround(std::clamp((value + 10) / 40, 0.0, 1.0) * 255));
    };
    const float nan = std::nanf("");
    const std::vector<float> prediction{batch.target[0], 1e9f, -INFINITY, nan};
    const Picture picture = data->picture(prediction, 3);
    QCOMPARE(picture.width, 256);
    QCOMPARE(picture.height, 256);
    QCOMPARE(picture.channels, 1);
    const auto column = [&](size_t i) { return place(double{batch.target[i]}); };
    QVERIFY(at(picture, column(0), 255 - column(0)) < 0.5f); // on the diagonal
    QVERIFY(at(picture, column(1), 0) < 0.5f);               // beyond the top: drawn on the edge
    QVERIFY(at(picture, column(2), 255) < 0.5f);             // below
    QVERIFY(std::isnan(at(picture, column(3), 255)));        // drawn magenta
    const float corner = at(picture, 1, 1);
    QCOMPARE(corner, 1.0f);
    const float line = at(picture, 0, 255);
    QVERIFY(line > 0.5f && line < 0.9f);
    // The target's own picture lies on the diagonal: nothing dark off it.
    const Picture target = data->targetPicture();
    for (int row = 0; row < 256; ++row) {
        for (int x = 0; x < 256; ++x) {
            if (std::abs(x - (255 - row)) > 9) QCOMPARE(at(target, x, row), 1.0f);
        }
    }
}

/// A few dots are large enough for a lecture room; many are smaller, so that they do not hide each
/// other.
void TestDataset::dotsShrinkWithTheirNumber() {
    const auto widthOf = [](int batch) {
        const auto data = makeTask(regression(4096, batch, 9));
        const Values values = batchOf(*data, 1);
        std::vector<float> prediction(values.target.size(), -INFINITY); // all but one at the edge
        prediction[0] = 1e9f;                                           // at the upper one
        const Picture picture = data->picture(prediction, 1);
        return std::count_if(picture.values.begin(), picture.values.begin() + picture.width,
                             [](float value) { return value < 0.5f; });
    };
    QCOMPARE(widthOf(4), widthOf(64));
    QVERIFY2(widthOf(64) >= 9, qPrintable(QString::number(widthOf(64))));
    QVERIFY2(widthOf(4096) >= 2 && widthOf(4096) <= 4, qPrintable(QString::number(widthOf(4096))));
}

} // namespace tst_dataset

QTEST_GUILESS_MAIN(tst_dataset::TestDataset)
#include "tst_dataset.moc"
