// Columns that are moved and scaled to mean 0 and deviation 1, and back; targets of tables and
// arrays, the notes about them, and the test part of an archive.
#include "engine/core/error.h"
#include "engine/data/standardiser.h"
#include "engine/data/targets.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>

namespace tst_standardiser {

using namespace halfscope;

namespace {

using Floats = std::vector<float>;

Standardiser of(const Shape& sample, const Floats& values, std::vector<int32_t> train) {
    return Standardiser::of(sample, train, [&](int32_t stored, std::span<double> into) {
        std::copy_n(values.begin() + stored * static_cast<std::ptrdiff_t>(into.size()), into.size(),
                    into.begin());
    });
}

Floats standardised(const Standardiser& scale, const std::vector<double>& values) {
    Floats made(values.size());
    scale.standardise(values, made);
    return made;
}

Floats restored(const Standardiser& scale, const Floats& values) {
    Floats made;
    for (size_t i = 0; i < values.size(); ++i)
        made.push_back(static_cast<float>(scale.restored(i, double{values[i]})));
    return made;
}

Floats floatsOf(const Dataset& data, Split split, size_t tensor) {
    const Batch batch = allOf(data, split);
    const auto values = batch.floats(tensor);
    return {values.begin(), values.end()};
}

QStringList notesOf(const Dataset& data) {
    QStringList notes;
    for (const Message& note : data.notes())
        notes << QString::fromStdString(note.english());
    return notes;
}

std::string floatArray(const std::string& shape, const std::string& values) {
    return npy("<f4", shape, values);
}

std::string labelArray(const std::string& shape, const std::string& values) {
    return npy("|u1", shape, values);
}

} // namespace

class TestStandardiser : public QObject {
    Q_OBJECT

private slots:
    void columns();
    void channels();
    void allTogether();
    void leavesOutWhatIsNotFinite();
    void farOff();
    void tables();
    void targetsThatStay();
    void arrays();
    void predictedSamples();
    void testPart();
    void testPartThatDoesNotFit();
    void testPartWithoutSamples();

private:
    std::string file(const char* name, const std::string& bytes) const {
        return writeBytes(m_folder.filePath(name).toStdString(), bytes);
    }
    TaskConfig prices() const {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        std::string text = "a,price\n";
        for (int i = 0; i < 40; ++i)
            text += std::to_string(i) + "," + std::to_string(250000 + 1000 * i * i) + "\n";
        task.path = file("prices.csv", text);
        task.validation = 0.25;
        task.standardiseTarget = true;
        return task;
    }
    TaskConfig archive(const std::vector<ZipPart>& parts, LossKind loss) const {
        TaskConfig task;
        task.kind = TaskKind::Arrays;
        task.x = file("data.npz", zipBytes(parts));
        task.loss.kind = loss;
        return task;
    }
    QTemporaryDir m_folder;
};

/// Each number of a list is a column of its own; samples that are not trained on do not count.
void TestStandardiser::columns() {
    const Floats values{1, 100, 7, 3, 300, 7, 1e9f, 1e9f, 1e9f};
    const Standardiser scale = of({3}, values, {0, 1});
    QVERIFY(scale.active());
    QCOMPARE(scale.spreads().size(), size_t{3});
    QCOMPARE(scale.spreads()[1].mean, 200.0);
    QCOMPARE(scale.spreads()[1].deviation, 100.0);
    QCOMPARE(scale.spreads()[2].deviation, 0.0);
    const Floats two = standardised(scale, {1, 100, 7, 5, 150, 8});
    QCOMPARE(two, (Floats{-1, -1, 0, 3, -0.5f, 0})); // equal values become 0
    QCOMPARE(restored(scale, two), (Floats{1, 100, 7, 5, 150, 7}));
    QCOMPARE(restored(Standardiser(), standardised(Standardiser(), {5})), (Floats{5}));
}

void TestStandardiser::channels() {
    const Floats values{0, 2, 0, 2, 10, 50, 10, 50}; // two channels of 2 x 2 pixels
    const Standardiser scale = of({2, 2, 2}, values, {0});
    QCOMPARE(scale.spreads().size(), size_t{2});
    QCOMPARE(scale.spreads()[1].mean, 30.0);
    QCOMPARE(scale.spreadAt(3).mean, 1.0);
    QCOMPARE(scale.spreadAt(4).mean, 30.0);
    const Floats back = standardised(scale, {values.begin(), values.end()});
    QCOMPARE(back, (Floats{-1, 1, -1, 1, -1, 1, -1, 1}));
    QCOMPARE(restored(scale, back), values);
}

void TestStandardiser::allTogether() {
    const Standardiser scale = of({2, 2}, {1, 1, 3, 3, 1, 3, 1, 3}, {0, 1});
    QCOMPARE(scale.spreads().size(), size_t{1});
    QCOMPARE(scale.spreads()[0].mean, 2.0);
    QCOMPARE(scale.spreads()[0].deviation, 1.0);
}

void TestStandardiser::leavesOutWhatIsNotFinite() {
    const float inf = std::numeric_limits<float>::infinity();
    const Standardiser scale = of({1}, {1, NAN, 3, inf, -inf}, {0, 1, 2, 3, 4});
    QCOMPARE(scale.spreads()[0].mean, 2.0);
    const Floats values = standardised(scale, {NAN, 4});
    QVERIFY(std::isnan(values[0]));
    QCOMPARE(values[1], 2.0f);
    const Standardiser none = of({1}, {NAN}, {0});
    QCOMPARE(none.spreads()[0].deviation, 0.0);
}

void TestStandardiser::farOff() {
    QVERIFY(!of({1}, {0, 1, 2}, {0, 1, 2}).isFarOff());
    QVERIFY(of({1}, {0, 100, 200}, {0, 1, 2}).isFarOff());
    QVERIFY(of({1}, {0, 0.1f, 0}, {0, 1, 2}).isFarOff());
    QVERIFY(of({1}, {50, 51, 52}, {0, 1, 2}).isFarOff());
    QVERIFY(of({2}, {0, 50, 1, 51}, {0, 1}).isFarOff()); // one column is enough
    QVERIFY(!of({1}, {500, 500}, {0, 1}).isFarOff());    // nothing to learn
    QVERIFY(!Standardiser().isFarOff());
}

/// The targets have mean 0 and deviation 1 over the samples to train on alone; predictions go back.
void TestStandardiser::tables() {
    const TaskConfig task = prices();
    const auto data = makeDataset(task, 0);
    const Floats train = floatsOf(*data, Split::Train, kTarget);
    const Floats held = floatsOf(*data, Split::Validation, kTarget);
    QCOMPARE(train.size(), size_t{30});
    double mean = 0, squares = 0, heldMean = 0;
    for (const float y : train)
        mean += double{y} / 30;
    for (const float y : train)
        squares += double{y} * double{y} / 30;
    for (const float y : held)
        heldMean += double{y} / 10;
    QVERIFY(std::abs(mean) < 1e-6 && std::abs(squares - 1) < 1e-6 && std::abs(heldMean) > 1e-3);
    TaskConfig plain = task;
    plain.standardiseTarget = false;
    const auto asItIs = makeDataset(plain, 0);
    const Floats prices = floatsOf(*asItIs, Split::Validation, kTarget);
    const Floats inUnits = restored(data->targetScale(), held);
    for (size_t i = 0; i < held.size(); ++i)
        QVERIFY(std::abs(inUnits[i] - prices[i]) <= 0.1f);
    // facts that are read anew, as an export does
    const DataFacts facts = infoOf(task.kind).facts(task);
    QCOMPARE(facts.targetScale.spreads()[0].mean, data->targetScale().spreads()[0].mean);
    QCOMPARE(factsOf(task).targetScale.spreads().size(), size_t{1});
    // the picture's axes follow the targets
    QVERIFY(data->view().reach < 3 && asItIs->view().reach > 1e5);
    QVERIFY2(notesOf(*data).value(1).startsWith("The target is standardised (mean "),
             qPrintable(notesOf(*data).join('\n')));
    QVERIFY(!asItIs->targetScale().active());
    QVERIFY2(notesOf(*asItIs).value(1).endsWith("set data.standardise_target to true."),
             qPrintable(notesOf(*asItIs).join('\n')));
}

/// Classes and shares stay as they are, whatever the setting says.
void TestStandardiser::targetsThatStay() {
    TaskConfig task = prices();
    task.loss.kind = LossKind::CrossEntropy;
    QVERIFY(!standardisesTarget(task));
    QVERIFY(!makeDataset(task, 0)->targetScale().active());
    task.path = file("shares.csv", "a,y\n1,0\n2,1\n3,0\n4,1\n");
    task.loss.kind = LossKind::BceWithLogits;
    task.validation = 0;
    const auto data = makeDataset(task, 0);
    QVERIFY(!data->targetScale().active());
    QCOMPARE(floatsOf(*data, Split::Train, kTarget), (Floats{0, 1, 0, 1}));
    task.loss.kind = LossKind::Huber;
    QVERIFY(standardisesTarget(task));
    QCOMPARE(floatsOf(*makeDataset(task, 0), Split::Train, kTarget), (Floats{-1, 1, -1, 1}));
    task.kind = TaskKind::Regression; // has no such setting
    QVERIFY(!standardisesTarget(task));
}

void TestStandardiser::arrays() {
    TaskConfig task;
    task.kind = TaskKind::Arrays;
    task.x = file("x.npy", floatArray("(2, 2)", bytesOfValues<float>({1900, 1e6f, 2000, 3e6f})));
    task.y = file("y.npy", floatArray("(2, 2)", bytesOfValues<float>({100, -5, 300, -7})));
    task.validation = 0;
    const auto before = makeDataset(task, 0);
    QCOMPARE(floatsOf(*before, Split::Train, kX), (Floats{1900, 1e6f, 2000, 3e6f}));
    QCOMPARE(floatsOf(*before, Split::Train, kTarget), (Floats{100, -5, 300, -7}));
    QVERIFY(notesOf(*before).join(' ').contains("set data.standardise_target to true"));
    QVERIFY(notesOf(*before).join(' ').contains("set data.standardise_x to true"));
    task.standardiseX = task.standardiseTarget = true;
    const auto data = makeDataset(task, 0);
    QCOMPARE(floatsOf(*data, Split::Train, kX), (Floats{-1, -1, 1, 1}));
    QCOMPARE(floatsOf(*data, Split::Train, kTarget), (Floats{-1, 1, 1, -1}));
    QVERIFY(data->view().reach < 3);
    QCOMPARE(infoOf(task.kind).facts(task).targetScale.spreads()[1].mean, -6.0);
    QVERIFY(!notesOf(*data).join(' ').contains("fp16"));
    QVERIFY(notesOf(*data).join(' ').contains("The 2 numbers of a target are standardised"));
}

/// Samples to predict are standardised as those that the network was trained on.
void TestStandardiser::predictedSamples() {
    TaskConfig task;
    task.kind = TaskKind::Arrays;
    task.x = file("x.npy", floatArray("(2,)", bytesOfValues<float>({10, 30})));
    task.y = file("y.npy", floatArray("(2,)", bytesOfValues<float>({1, 2})));
    task.validation = 0;
    task.standardiseX = true;
    task.predictFile = file("new.npy", floatArray("(2,)", bytesOfValues<float>({20, 50})));
    QCOMPARE(floatsOf(*makeDataset(task, 0), Split::Validation, kX), (Floats{0, 3}));
}

/// x_test and y_test are validated on where the settings ask for them; else a sentence says that
/// they are not used.
void TestStandardiser::testPart() {
    const std::string train = floatArray("(4,)", bytesOfValues<float>({1, 2, 3, 4}));
    const std::string test = floatArray("(2,)", bytesOfValues<float>({7, 9}));
    TaskConfig task = archive({{"x_train.npy", train},
                               {"y_train.npy", labelArray("(4,)", std::string("\0\1\0\1", 4))},
                               {"x_test.npy", test},
                               {"y_test.npy", labelArray("(2,)", "\2\1")}},
                              LossKind::CrossEntropy);
    task.validation = 0.25;
    const auto before = makeDataset(task, 0);
    QCOMPARE(before->samples(Split::Train), int64_t{3});
    QCOMPARE(before->tensors()[kTarget].classes, int64_t{2});
    QVERIFY(notesOf(*before).contains(
        "The samples of x_test and y_test, 2, are not used. To validate on "
        "them, set data.test to true."));
    task.test = true;
    for (const bool standardise : {false, true}) {
        task.standardiseX = standardise;
        const auto data = makeDataset(task, 0);
        QCOMPARE(floatsOf(*data, Split::Train, kX).size(), size_t{4});
        const Floats x = floatsOf(*data, Split::Validation, kX);
        if (standardise)
            QVERIFY(std::abs(x[0] - 4.5f / std::sqrt(1.25f)) < 1e-6f); // by the training part
        else
            QCOMPARE(x, (Floats{7, 9}));
        const Batch batch = allOf(*data, Split::Validation);
        QCOMPARE(batch.labels(kTarget)[0], 2);
        QCOMPARE(batch.labels(kTarget)[1], 1);
        QCOMPARE(data->tensors()[kTarget].classes, int64_t{3}); // the test part has one more
        QCOMPARE(data->number(Split::Validation, 1), int64_t{1});
        QVERIFY(notesOf(*data).join(' ').contains(
            "The samples of x_test and y_test, 2, are validated"));
        const DataFacts facts = infoOf(task.kind).facts(task);
        QCOMPARE(facts.train, int64_t{4});
        QCOMPARE(facts.validation, int64_t{2});
        QCOMPARE(facts.tensors[kTarget].classes, int64_t{3});
    }
    // numbers as targets, and names of one letter
    task = archive({{"X.npy", train}, {"Y.npy", train}, {"X_test.npy", test}, {"Y_test.npy", test}},
                   LossKind::Mse);
    task.test = true;
    QCOMPARE(floatsOf(*makeDataset(task, 0), Split::Validation, kTarget), (Floats{7, 9}));
    task.predictFile = file("new.npy", floatArray("(1,)", bytesOfValues<float>({5})));
    const auto predicted = makeDataset(task, 0);
    QCOMPARE(floatsOf(*predicted, Split::Validation, kX), (Floats{5}));
    QCOMPARE(predicted->samples(Split::Train), int64_t{4});
}

void TestStandardiser::testPartThatDoesNotFit() {
    const std::string four = floatArray("(4,)", bytesOfValues<float>({1, 2, 3, 4}));
    const auto refused = [&](const std::vector<ZipPart>& parts) {
        TaskConfig task = archive(parts, LossKind::Mse);
        task.test = true;
        return thrownBy<InputError>([&] { makeDataset(task, 0); });
    };
    const std::string path = m_folder.filePath("data.npz").toStdString();
    QCOMPARE(refused({{"x.npy", four}, {"y.npy", four}}),
             "data.test: true needs arrays x_test and y_test beside those to train on; " + path +
                 " lacks them");
    QCOMPARE(refused({{"x.npy", four},
                      {"y.npy", four},
                      {"x_test.npy", floatArray("(2, 2)", bytesOfValues<float>({1, 2, 3, 4}))},
                      {"y_test.npy", four}}),
             "data.x: " + path +
                 ": the shape (2, 2) of x_test does not fit the samples to train on, (4,)");
    QCOMPARE(refused({{"x.npy", four},
                      {"y.npy", four},
                      {"x_test.npy", four},
                      {"y_test.npy", floatArray("(2,)", bytesOfValues<float>({1, 2}))}}),
             "data.y: " + path + ": x_test has 4 samples and y_test has 2");
}

/// A test part of plain numbers counts no samples, whether it is asked for or not.
void TestStandardiser::testPartWithoutSamples() {
    const std::string four = floatArray("(4,)", bytesOfValues<float>({1, 2, 3, 4}));
    const std::string one = floatArray("()", bytesOfValues<float>({1}));
    const std::string classes = labelArray("(4,)", std::string("\0\1\0\1", 4));
    TaskConfig task = archive({{"x.npy", four},
                               {"y.npy", classes},
                               {"x_test.npy", four},
                               {"y_test.npy", labelArray("()", std::string(1, '\1'))}},
                              LossKind::CrossEntropy);
    task.test = true;
    const std::string path = task.x;
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             "data.y: " + path +
                 ": the shape () of y_test does not fit the samples to train on, (4,)");
    task = archive({{"x.npy", four}, {"y.npy", four}, {"x_test.npy", one}, {"y_test.npy", one}},
                   LossKind::Mse);
    QVERIFY(notesOf(*makeDataset(task, 0)).filter("x_test").isEmpty());
}

} // namespace tst_standardiser

QTEST_GUILESS_MAIN(tst_standardiser::TestStandardiser)
#include "tst_standardiser.moc"
