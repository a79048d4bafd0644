// The small sets that are drawn from the seed, curves and points of two classes: compared with
// their definitions, their noise and their splits; and every set is shown as its row says.
#include "engine/data/losses.h"
#include "engine/data/targets.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "tests/support/all_samples.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace tst_drawn_data {

using namespace halfscope;

namespace {

using std::numbers::pi;

TaskConfig taskOf(const char* kind, int64_t samples, double noise, double validation = 0) {
    RunConfig config = defaultConfig();
    applySetting(config, std::string("data.kind=") + kind);
    config.task.samples = samples;
    config.task.noise = noise;
    config.task.validation = validation;
    return config.task;
}

/// Returns sample i of its class as scikit-learn and TensorFlow Playground define it without noise,
/// when each class has `count` samples.
std::array<double, 2> pointOf(const QString& kind, int label, int i, int count) {
    const double even = static_cast<double>(i) / count;
    if (kind == "moons") { // numpy.linspace(0, pi, count)
        const double angle = pi * i / (count - 1);
        if (label == 0) return {std::cos(angle), std::sin(angle)};
        return {1 - std::cos(angle), 1 - std::sin(angle) - 0.5};
    }
    if (kind == "circles") { // numpy.linspace(0, 2 pi, count, endpoint=False), factor 0.5
        const double radius = label == 0 ? 1 : 0.5;
        return {radius * std::cos(2 * pi * even), radius * std::sin(2 * pi * even)};
    }
    const double r = even * 5, t = 1.75 * even * 2 * pi + (label == 0 ? pi : 0);
    return {r * std::sin(t), r * std::cos(t)};
}

} // namespace

class TestDrawnData : public QObject {
    Q_OBJECT

private slots:
    void rowsNameTheirViews();
    void parabola();
    void line();
    void everyStepHasNewPoints();
    void drawnToValidateOn_data();
    void drawnToValidateOn();
    void curveViews_data();
    void curveViews();
    void points_data();
    void points();
    void noise_data() { points_data(); }
    void noise();
    void pointSplits();
    void mapCoversAllPoints_data() { points_data(); }
    void mapCoversAllPoints();
    void generate();
};

/// Checks each data set that needs no file, with each loss that it allows.
void TestDrawnData::rowsNameTheirViews() {
    std::set<ViewKind> seen;
    for (size_t i = 0; i < dataSets().size(); ++i) {
        TaskConfig task;
        task.kind = TaskKind(i);
        task.side = 4;
        task.samples = 20;
        if (task.kind == TaskKind::Csv || task.kind == TaskKind::Arrays) {
            task.loss.kind = LossKind::CrossEntropy;
            QCOMPARE(viewKindOf(task), ViewKind::Classes);
            task.loss.kind = LossKind::Mse;
            QCOMPARE(viewKindOf(task), ViewKind::Scatter);
            continue; // tst_file_data tests some of these
        }
        if (task.kind == TaskKind::Pictures || task.kind == TaskKind::Shards ||
            task.kind == TaskKind::TextClasses || task.kind == TaskKind::Cifar)
            continue; // tst_pictures, tst_shards, tst_text_classes and tst_cifar test these
        if (task.kind == TaskKind::Recorded) {
            QVERIFY_THROWS_EXCEPTION(InputError, makeDataset(task, 1));
            continue;
        }
        if (infoOf(task.kind).targets != Targets::Numbers) task.loss.kind = LossKind::CrossEntropy;
        QCOMPARE(makeDataset(task, 1)->view().kind, viewKindOf(task));
        seen.insert(viewKindOf(task));
    }
    QCOMPARE(seen.size(), size_t{6});
}

/// Every sample has numbers of its own; the digits that go with them repeat. The view's numbers
/// belong to no sample.
void TestDrawnData::generate() {
    TaskConfig task = taskOf("generate", 4100, 0);
    task.latent = 16;
    QCOMPARE(factsOf(task).tensors[kX].shape, (Shape{16}));
    QCOMPARE(factsOf(task).tensors[kTarget].shape, (Shape{784}));
    const auto data = makeDataset(task, 5);
    QCOMPARE(data->samples(Split::Train), int64_t{4100});
    QCOMPARE(data->samples(Split::Validation), int64_t{0});
    const Batch all = allOf(*data);
    const std::span<const float> x = all.floats(kX), target = all.floats(kTarget);
    double sum = 0, squares = 0;
    for (const float value : x) {
        sum += double{value};
        squares += double{value} * double{value};
    }
    const auto count = static_cast<double>(x.size());
    QVERIFY(std::abs(sum / count) < 5 / std::sqrt(count));
    QVERIFY(std::abs(squares / count - 1) < 5 * std::sqrt(2 / count));
    QCOMPARE(std::set<float>(x.begin(), x.end()).size() > x.size() * 9 / 10, true);
    TaskConfig digits = taskOf("mnist", 0, 0);
    const Batch pictures = allOf(*makeDataset(digits, 5));
    const std::span<const float> pixels = pictures.floats(kX); // for 2,000 pictures
    for (const size_t sample : {size_t{0}, size_t{1999}, size_t{2000}, size_t{4099}})
        for (size_t i = 0; i < 784; ++i)
            QCOMPARE(target[sample * 784 + i], pixels[sample % 2000 * 784 + i]);
    task.mean = "0.5"; // settings that other data sets have
    task.flip = true;
    task.crop = 20;
    const Batch same = allOf(*makeDataset(task, 5));
    QVERIFY(std::ranges::equal(same.floats(kTarget), target));
    const TaskView view = data->view();
    QCOMPARE(view.width, 28);
    QCOMPARE(view.height, 28);
    const std::span<const float> shown = view.probe->floats(kX);
    QCOMPARE(shown.size(), size_t{64 * 16});
    QVERIFY(std::search(x.begin(), x.end(), shown.begin(), shown.begin() + 16) == x.end());
}

void TestDrawnData::parabola() {
    const auto data = makeDataset(taskOf("curve", 1000, 3), 5);
    QCOMPARE(data->samples(Split::Train), int64_t{1000});
    QCOMPARE(data->samples(Split::Validation), int64_t{0});
    const Batch all = allOf(*data);
    double least = 9, most = -9;
    for (size_t i = 0; i < 1000; ++i) {
        const float* in = all.floats(kX).data() + 3 * i;
        const double x = double{in[1]};
        least = std::min(least, x);
        most = std::max(most, x);
        // the square and the target are computed from x before it was rounded
        const double bound = 4 * 0x1p-24;
        QVERIFY(std::abs(double{in[0]} - x * x) <= bound * 4);
        QVERIFY(in[2] == 1.0f);
        QVERIFY(std::abs(double{all.floats(kTarget)[i]} - (5 * x * x + 3)) <= bound * 23);
    }
    QVERIFY2(least >= -2 && least < -1.98 && most < 2 && most > 1.98, "seed 5");
}

void TestDrawnData::line() {
    constexpr size_t kSamples = 4000;
    const auto data = makeDataset(taskOf("line", kSamples, 0.5), 5);
    const Batch all = allOf(*data);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < kSamples; ++i) {
        const double x = double{all.floats(kX)[i]};
        QVERIFY(x >= 0 && x < 1);
        const double noise = double{all.floats(kTarget)[i]} - (5 * x + 3);
        sum += noise / kSamples;
        squares += noise * noise / kSamples;
    }
    // five standard errors, as in tst_dataset
    QVERIFY2(std::abs(sum) <= 5 * 0.5 / std::sqrt(double{kSamples}), "seed 5");
    QVERIFY2(std::abs(std::sqrt(squares) - 0.5) <= 5 * 0.5 / std::sqrt(2.0 * kSamples), "seed 5");
}

/// The preset has as many samples as its steps take, so that no sample comes twice.
void TestDrawnData::everyStepHasNewPoints() {
    const RunConfig config = presetNamed("curve-fit").config;
    const auto task = makeTask(config);
    QCOMPARE(task->rows(), int64_t{100});
    QCOMPARE(task->stepsPerEpoch(), config.steps);
    std::set<float> seen;
    for (const int64_t step : {1, 2, 3, 500, 1000})
        for (size_t i = 0; i < 100; ++i)
            seen.insert(task->load(step)->floats(kX)[3 * i + 1]);
    QVERIFY2(seen.size() >= 498, qPrintable(QString::number(seen.size()))); // 24 bits may coincide
}

void TestDrawnData::drawnToValidateOn_data() {
    QTest::addColumn<std::string>("kind");
    for (const char* kind : {"regression", "curve", "line"})
        QTest::newRow(kind) << std::string(kind);
}

/// Samples to validate on come behind those to train on, which are the same without them: those of
/// a data set with as many in all.
void TestDrawnData::drawnToValidateOn() {
    QFETCH(const std::string, kind);
    TaskConfig task = taskOf(kind.c_str(), 30, 0.1);
    QVERIFY(!canValidate(task) && factsOf(task).validation == 0);
    const Batch alone = allOf(*makeDataset(task, 3));
    task.samples = 50;
    const Batch all = allOf(*makeDataset(task, 3));
    task.samples = 30;
    task.validationSamples = 20;
    QVERIFY(canValidate(task));
    QCOMPARE(factsOf(task).train, int64_t{30});
    QCOMPARE(factsOf(task).validation, int64_t{20});
    const auto data = makeDataset(task, 3);
    QCOMPARE(data->number(Split::Validation, 4), int64_t{34});
    const Batch train = allOf(*data), held = allOf(*data, Split::Validation);
    for (const size_t tensor : {kX, kTarget}) {
        std::vector<std::byte> both = train.tensors[tensor].bytes;
        QVERIFY(both == alone.tensors[tensor].bytes);
        const auto& behind = held.tensors[tensor].bytes;
        both.insert(both.end(), behind.begin(), behind.end());
        QVERIFY(both == all.tensors[tensor].bytes);
    }
    task.testShare = 0.25;
    QCOMPARE(factsOf(task).validation, int64_t{15});
    QCOMPARE(makeDataset(task, 3)->test()->samples(Split::Validation), int64_t{5});
}

void TestDrawnData::curveViews_data() {
    QTest::addColumn<QString>("formula");
    QTest::newRow("curve") << "y = 5.00 x² + 0.00 x + 3.00";
    QTest::newRow("line") << "y = 5.00 x + 3.00";
}

void TestDrawnData::curveViews() {
    QFETCH(const QString, formula);
    const auto data = makeDataset(taskOf(QTest::currentDataTag(), 100, 0.1), 5);
    const TaskView view = data->view();
    const bool line = view.terms.size() == 1;
    const std::vector<float> weights = line ? std::vector<float>{5} : std::vector<float>{5, 0, 3};
    const std::vector<float> bias(line ? 1 : 0, 3);
    QCOMPARE(QString::fromStdString(formulaOf(view, weights, bias)), formula);
    // the true curve lies in the picture, which is wider than the samples
    const std::span<const float> x = view.probe->floats(kX), y = view.probe->floats(kTarget);
    const size_t inputs = view.terms.size();
    QCOMPARE(x[view.axisInput], static_cast<float>(view.across.low));
    for (size_t i = 0; i < y.size(); ++i) {
        QVERIFY(double{y[i]} > view.up.low && double{y[i]} < view.up.high);
        if (i > 0) QVERIFY(x[i * inputs + view.axisInput] > x[(i - 1) * inputs + view.axisInput]);
    }
    QVERIFY(view.up.low < 0); // so that the axis is visible
}

void TestDrawnData::points_data() {
    QTest::addColumn<int>("samples");
    for (const char* kind : {"moons", "spirals", "circles"})
        QTest::newRow(kind) << 60;
}

void TestDrawnData::points() {
    QFETCH(const int, samples);
    const QString kind = QTest::currentDataTag();
    const auto data = makeDataset(taskOf(QTest::currentDataTag(), samples, 0), 5);
    const Batch all = allOf(*data);
    std::array<int, 2> seen{};
    for (int i = 0; i < samples; ++i) {
        const auto at = static_cast<size_t>(i);
        const int label = all.labels(kTarget)[at];
        const auto wanted =
            pointOf(kind, label, seen.at(static_cast<size_t>(label))++, samples / 2);
        for (size_t axis = 0; axis < 2; ++axis)
            QVERIFY2(std::abs(double{all.floats(kX)[2 * at + axis]} - wanted[axis]) <= 5 * 0x1p-24,
                     qPrintable(QStringLiteral("sample %1").arg(i)));
    }
    QCOMPARE(seen[0], samples / 2);
    QCOMPARE(seen[1], samples / 2);
}

/// Noise is determined by the seed, and as large as the setting says.
void TestDrawnData::noise() {
    constexpr int kSamples = 4000;
    constexpr double kNoise = 0.2;
    const char* kind = QTest::currentDataTag();
    const Batch exact = allOf(*makeDataset(taskOf(kind, kSamples, 0), 5));
    const Batch a = allOf(*makeDataset(taskOf(kind, kSamples, kNoise), 5));
    const Batch same = allOf(*makeDataset(taskOf(kind, kSamples, kNoise), 5));
    const Batch other = allOf(*makeDataset(taskOf(kind, kSamples, kNoise), 6));
    QVERIFY(a.tensors == same.tensors);
    QVERIFY(!(a.tensors[kX] == other.tensors[kX]));
    double squares = 0, most = 0;
    for (size_t i = 0; i < size_t{2 * kSamples}; ++i) {
        const double noise = double{a.floats(kX)[i]} - double{exact.floats(kX)[i]};
        squares += noise * noise / (2 * kSamples);
        most = std::max(most, std::abs(noise));
    }
    const bool uniform = kind == QByteArray("spirals");
    const double deviation = uniform ? kNoise / std::sqrt(3.0) : kNoise;
    QVERIFY2(std::abs(std::sqrt(squares) - deviation) <= 5 * kNoise / std::sqrt(4.0 * kSamples),
             "seed 5");
    QCOMPARE(most <= kNoise + 1e-6, uniform);
}

/// No sample is in both splits; each split has both classes.
void TestDrawnData::pointSplits() {
    const TaskConfig task = taskOf("spirals", 500, 0.1, 0.5);
    const auto data = makeDataset(task, 5);
    QCOMPARE(data->samples(Split::Train), int64_t{250});
    QCOMPARE(data->samples(Split::Validation), int64_t{250});
    QCOMPARE(factsOf(task).train, int64_t{250});
    QCOMPARE(factsOf(task).validation, int64_t{250});
    std::set<std::pair<float, float>> seen;
    for (const Split split : {Split::Train, Split::Validation}) {
        const Batch all = allOf(*data, split);
        for (size_t i = 0; i < 250; ++i)
            seen.emplace(all.floats(kX)[2 * i], all.floats(kX)[2 * i + 1]);
        const auto ones = std::count(all.labels(kTarget).begin(), all.labels(kTarget).end(), 1);
        QVERIFY2(ones > 80 && ones < 170, qPrintable(QString::number(ones)));
    }
    QCOMPARE(seen.size(), size_t{500});
}

void TestDrawnData::mapCoversAllPoints() {
    const auto data = makeDataset(taskOf(QTest::currentDataTag(), 1000, 0.1, 0.25), 5);
    const TaskView view = data->view();
    QCOMPARE(view.kind, ViewKind::Plane);
    QCOMPARE(view.across.high - view.across.low, view.up.high - view.up.low); // round stays round
    for (const Split split : {Split::Train, Split::Validation}) {
        const Batch all = allOf(*data, split);
        for (size_t i = 0; i < static_cast<size_t>(all.rows()); ++i) {
            const double x = double{all.floats(kX)[2 * i]}, y = double{all.floats(kX)[2 * i + 1]};
            QVERIFY(x > view.across.low && x < view.across.high);
            QVERIFY(y > view.up.low && y < view.up.high);
        }
    }
    // no more marks than can be told apart, all of them training samples
    QCOMPARE(view.marks.size(), size_t{300});
    std::set<std::tuple<float, float, int>> samples;
    const Batch train = allOf(*data);
    for (size_t i = 0; i < static_cast<size_t>(train.rows()); ++i)
        samples.emplace(train.floats(kX)[2 * i], train.floats(kX)[2 * i + 1],
                        train.labels(kTarget)[i]);
    for (const PlaneMark& mark : view.marks)
        QVERIFY(samples.contains({mark.x, mark.y, mark.label}));
}

} // namespace tst_drawn_data

QTEST_GUILESS_MAIN(tst_drawn_data::TestDrawnData)
#include "tst_drawn_data.moc"
