// Arrays of samples to validate on and for the test, beside the arrays to train on, which alone
// decide what classes and scales are.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/data_print.h"
#include "engine/data/own_files.h"
#include "engine/data/test_split.h"
#include "engine/settings/data_experiment.h"
#include "tests/support/array_files.h"
#include "tests/support/split_values.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_own_arrays {

using namespace halfscope;
using namespace halfscope::split_values;
using namespace std::string_literals;

namespace {

std::string floats(std::initializer_list<float> values) {
    return npy("<f4", "(" + std::to_string(values.size()) + ",)", bytesOfValues<float>(values));
}

std::string labels(const std::string& bytes) {
    return npy("|u1", "(" + std::to_string(bytes.size()) + ",)", bytes);
}

} // namespace

class TestOwnArrays : public QObject {
    Q_OBJECT

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void filesOfTheirOwn();
    void oneFile();
    void testInTheOtherCase();
    void withoutAPartner();
    void namesInOtherFiles();
    void classesOfTheTraining();
    void testBesideAShare();
    void predictionsNeedNoOthers();
    void refusesMisfits_data();
    void refusesMisfits();
    void refusesFiles();
    void changedFiles();
    void opensOneFile();

private:
    std::string path(const char* name) const {
        return m_folder->filePath(QLatin1String(name)).toStdString();
    }
    std::string file(const char* name, const std::string& bytes) const {
        return writeBytes(path(name), bytes);
    }
    /// Returns settings for two samples of numbers; one would be held back without others.
    TaskConfig arrays() const {
        TaskConfig task;
        task.kind = TaskKind::Arrays;
        task.x = file("x.npy", floats({1, 3})); // mean 2, deviation 1
        task.y = file("y.npy", floats({10, 30}));
        task.loss.kind = LossKind::Mse;
        task.validation = 0.5;
        return task;
    }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestOwnArrays::filesOfTheirOwn() {
    TaskConfig task = arrays();
    task.standardiseX = task.standardiseTarget = true;
    task.xVal = file("x_val.npy", floats({12}));
    task.yVal = file("y_val.npy", floats({220}));
    task.xTest = file("x_test.npy", floats({-8, 2, 4}));
    task.yTest = file("y_test.npy", floats({-80, 20, 40}));
    const auto data = makeDataset(task, 0);
    QCOMPARE(inputsOf(*data, Split::Train), (Floats{-1, 1})); // none are held back
    QCOMPARE(inputsOf(*data, Split::Validation), (Floats{10}));
    QCOMPARE(targetsOf(*data, Split::Validation), (Floats{20}));
    QCOMPARE(data->number(Split::Validation, 0), int64_t{0}); // of its own file
    QVERIFY(data->test());
    QCOMPARE(inputsOf(*data->test(), Split::Validation), (Floats{-10, 0, 2}));
    QCOMPARE(targetsOf(*data->test(), Split::Validation), (Floats{-10, 0, 2}));
    QCOMPARE(data->test()->number(Split::Validation, 2), int64_t{2});
    QVERIFY(isTold(*data, "The samples of " + pathText(task.xVal) +
                              ", 1, are validated on; none of the others are held back."));
    QVERIFY(isTold(*data, "The samples of " + pathText(task.xTest) +
                              ", 3, are kept for the test at the end; validation does not see "
                              "them."));
    for (const DataFacts& facts : {factsOf(task), data->facts()}) {
        QCOMPARE(facts.train, int64_t{2});
        QCOMPARE(facts.validation, int64_t{1});
        QCOMPARE(facts.test, int64_t{3});
    }
}

/// One file may hold all parts; x_test is validated on no more where x_val is there.
void TestOwnArrays::oneFile() {
    TaskConfig task = arrays();
    task.y.clear();
    task.x = task.xVal = task.xTest = file("all.npz", zipBytes({{"x.npy", floats({1, 3})},
                                                                {"y.npy", floats({1, 2})},
                                                                {"X_valid.npy", floats({5})},
                                                                {"y_valid.npy", floats({6})},
                                                                {"x_test.npy", floats({7})},
                                                                {"y_test.npy", floats({8})}}));
    task.test = true;
    QVERIFY(!canValidateTestArrays(task));
    const auto data = makeDataset(task, 0);
    QCOMPARE(inputsOf(*data, Split::Train), (Floats{1, 3}));
    QCOMPARE(inputsOf(*data, Split::Validation), (Floats{5}));
    QCOMPARE(targetsOf(*data, Split::Validation), (Floats{6}));
    QCOMPARE(inputsOf(*data->test(), Split::Validation), (Floats{7}));
    QCOMPARE(targetsOf(*data->test(), Split::Validation), (Floats{8}));
    QVERIFY(isTold(*data, "The samples of X_valid in " + pathText(task.x) +
                              ", 1, are validated on; none of the others are held back."));
    file("all.npz", zipBytes({{"x.npy", floats({1, 3})},
                              {"y.npy", floats({1, 2})},
                              {"x_test.npy", floats({7})},
                              {"y_test.npy", floats({8})}}));
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             "data.x_val: " + task.x +
                 ": it has the arrays x, y, x_test, y_test; the one to use must have one of the "
                 "names x_val, X_val, x_valid, X_valid, x_validation, X_validation");
}

/// Its arrays may have the other case of those to train on.
void TestOwnArrays::testInTheOtherCase() {
    TaskConfig task = arrays();
    task.y.clear();
    task.x = file("cases.npz", zipBytes({{"x.npy", floats({1, 3})},
                                         {"y.npy", floats({1, 2})},
                                         {"X_test.npy", floats({7})},
                                         {"y_test.npy", floats({8})}}));
    task.test = true;
    const auto data = makeDataset(task, 0);
    QCOMPARE(inputsOf(*data, Split::Train), (Floats{1, 3}));
    QCOMPARE(inputsOf(*data, Split::Validation), (Floats{7}));
    QCOMPARE(targetsOf(*data, Split::Validation), (Floats{8}));
}

/// An array of samples to judge by without its partner is not used, which is told.
void TestOwnArrays::withoutAPartner() {
    const auto with = [this](const char* name) {
        TaskConfig task = arrays();
        task.y.clear();
        task.x = file(
            "some.npz",
            zipBytes({{"x.npy", floats({1, 3})}, {"Y.npy", floats({1, 2})}, {name, floats({5})}}));
        return task;
    };
    const auto note = [](const TaskConfig& task, const char* found, const char* missing) {
        return pathText(task.x) + " has " + found + " without " + missing + ", so " + found +
               " is not used.";
    };
    QVERIFY(isTold(*makeDataset(with("x_val.npy"), 0), note(with("x_val.npy"), "x_val", "y_val")));
    QVERIFY(isTold(*makeDataset(with("Y_valid.npy"), 0),
                   note(with("Y_valid.npy"), "Y_valid", "x_valid")));
    QVERIFY(
        isTold(*makeDataset(with("X_test.npy"), 0), note(with("X_test.npy"), "X_test", "y_test")));
    TaskConfig task = with("x_val.npy");
    task.xVal = task.x; // the targets are in another file
    task.yVal = file("others.npy", floats({4}));
    QCOMPARE(targetsOf(*makeDataset(task, 0), Split::Validation), (Floats{4}));
    QVERIFY(!isTold(*makeDataset(task, 0), note(task, "x_val", "y_val")));
}

/// In a file of its own, an array may be called as that to train on, or be the only one.
void TestOwnArrays::namesInOtherFiles() {
    TaskConfig task = arrays();
    task.xVal =
        file("more.npz", zipBytes({{"x.npy", floats({5, 6})}, {"y.npy", floats({50, 60})}}));
    QCOMPARE(inputsOf(*makeDataset(task, 0), Split::Validation), (Floats{5, 6}));
    QCOMPARE(targetsOf(*makeDataset(task, 0), Split::Validation), (Floats{50, 60}));
    task.xVal = file("inputs.npz", zipBytes({{"anything.npy", floats({7})}}));
    task.yVal = file("targets.npz", zipBytes({{"something.npy", floats({8})}}));
    QCOMPARE(inputsOf(*makeDataset(task, 0), Split::Validation), (Floats{7}));
    QCOMPARE(targetsOf(*makeDataset(task, 0), Split::Validation), (Floats{8}));
    task.yVal.clear();
    task.xVal = file("x_val.npy", floats({7}));
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             std::string("data.y_val: missing; it must be an .npy, .npz or .safetensors file"));
}

void TestOwnArrays::classesOfTheTraining() {
    TaskConfig task = arrays();
    task.loss.kind = LossKind::CrossEntropy;
    task.y = file("y.npy", labels("\2\0"s));
    task.xVal = file("x_val.npy", floats({5, 6}));
    task.yVal = file("y_val.npy", labels("\0\1"s));
    task.xTest = file("x_test.npy", floats({7}));
    task.yTest = file("y_test.npy", labels("\2"s));
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->tensors()[kTarget].classes, int64_t{3});
    QCOMPARE(labelsOf(*data, Split::Train), (std::vector<int32_t>{2, 0}));
    QCOMPARE(labelsOf(*data, Split::Validation), (std::vector<int32_t>{0, 1}));
    QCOMPARE(labelsOf(*data->test(), Split::Validation), (std::vector<int32_t>{2}));
    file("y_val.npy", labels("\0\3"s));
    const std::string refused = "data.y_val: " + task.yVal +
                                ": sample 1 has the label 3, which is not among those to train "
                                "on: 0 to 2 are allowed";
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }), refused);
    task.validation = 0.25; // other settings, so that the files are read again
    QCOMPARE(thrownBy<InputError>([&] { factsOf(task); }), refused);
    file("y_val.npy", floats({0, 1.5f}));
    QVERIFY(thrownBy<InputError>([&] { makeDataset(task, 0); })
                .starts_with("data.y_val: " + task.yVal +
                             ": sample 1 has the label 1.5, but classes are whole numbers from 0"));
    file("y_val.npy", floats({0, 1})); // whole numbers, stored as floats
    QCOMPARE(labelsOf(*makeDataset(task, 0), Split::Validation), (std::vector<int32_t>{0, 1}));
    task.loss.kind = LossKind::Mse; // numbers may have any type
    QCOMPARE(targetsOf(*makeDataset(task, 0), Split::Validation), (Floats{0, 1}));
    task.yTest = task.yVal;
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             "data.y_test: " + task.yVal +
                 " is not allowed: it is the file of data.y_val, and must be another one, or "
                 "nothing");
}

void TestOwnArrays::testBesideAShare() {
    TaskConfig task = arrays();
    task.xTest = file("x_test.npy", floats({7}));
    task.yTest = file("y_test.npy", floats({8}));
    task.testShare = 0.5;
    QVERIFY(!canTest(task) && testsOwn(task) && !validatesOwn(task));
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{1});
    QCOMPARE(data->samples(Split::Validation), int64_t{1});
    QCOMPARE(inputsOf(*data->test(), Split::Validation), (Floats{7}));
    QCOMPARE(factsOf(task).validation, int64_t{1});
    QCOMPARE(factsOf(task).test, int64_t{1});
    task.validation = 0;
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             std::string("data.x_test: a test needs samples to validate on beside it; set "
                         "data.x_val to a file of them, or data.validation to more than 0"));
}

void TestOwnArrays::predictionsNeedNoOthers() {
    TaskConfig task = arrays();
    task.standardiseX = true;
    task.xVal = path("gone.npy");
    task.xTest = path("gone too.npy");
    task.predictFile = file("new.npy", floats({5}));
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{2});
    QCOMPARE(inputsOf(*data, Split::Validation), (Floats{3}));
    QVERIFY(!data->test());
    QCOMPARE(factsOf(task).validation, int64_t{1});
}

void TestOwnArrays::refusesMisfits_data() {
    QTest::addColumn<QByteArray>("x");
    QTest::addColumn<QByteArray>("y");
    QTest::addColumn<QString>("error");
    const auto row = [](const char* name, const std::string& x, const std::string& y,
                        const char* error) {
        QTest::newRow(name) << QByteArray::fromStdString(x) << QByteArray::fromStdString(y)
                            << QString(error);
    };
    const std::string two = bytesOfValues<float>({1, 2});
    row("shape of x", npy("<f4", "(1, 2)", two), floats({1}),
        "data.x_val: <x>: the shape (1, 2) does not fit the samples of data.x, (2,)");
    row("shape of y", floats({1}), npy("<f4", "(1, 2)", two),
        "data.y_val: <y>: the shape (1, 2) does not fit the samples of data.y, (2,)");
    row("counts", floats({1, 2}), floats({1}),
        "data.y_val: <y>: 1 samples do not fit the 2 of data.x_val");
}

void TestOwnArrays::refusesMisfits() {
    QFETCH(const QByteArray, x);
    QFETCH(const QByteArray, y);
    QFETCH(QString, error);
    TaskConfig task = arrays();
    task.xVal = file("x_val.npy", x.toStdString());
    task.yVal = file("y_val.npy", y.toStdString());
    error.replace("<x>", QString::fromStdString(task.xVal));
    error.replace("<y>", QString::fromStdString(task.yVal));
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }), error.toStdString());
    QCOMPARE(thrownBy<InputError>([&] { factsOf(task); }), error.toStdString());
}

void TestOwnArrays::refusesFiles() {
    TaskConfig task = arrays();
    task.xVal = path("./x.npy");
    task.yVal = task.y;
    const auto refused = [&] { return thrownBy<InputError>([&] { makeDataset(task, 0); }); };
    QCOMPARE(refused(), "data.x_val: " + task.xVal +
                            " is not allowed: it is the file of data.x, and must be another one, "
                            "or nothing");
    task.yVal.clear();
    task.xVal = task.xTest =
        file("more.npz", zipBytes({{"x.npy", floats({5})}, {"y.npy", floats({50})}}));
    QCOMPARE(refused(), "data.x_test: " + task.xTest +
                            ": the array \"x\" is validated on; the test needs others, such as "
                            "x_test and y_test");
}

void TestOwnArrays::changedFiles() {
    TaskConfig task = arrays();
    task.xVal = file("x_val.npy", floats({5}));
    task.yVal = file("y_val.npy", floats({6}));
    task.xTest = file("x_test.npy", floats({7}));
    task.yTest = file("y_test.npy", floats({8}));
    const auto print = [&] { return dataPrint(task, *makeDataset(task, 0)); };
    const std::string before = print();
    file("y_test.npy", floats({9}));
    QCOMPARE(print(), before); // no training depends on it
    file("y_val.npy", floats({7}));
    const std::string after = print();
    QCOMPARE(changeSince(before, after, task).english(),
             pathText(task.xVal) + " or " + pathText(task.yVal) +
                 " holds other data than the training began with; these are used now");
    QVERIFY(!predictsOtherwise(before, after));
}

/// A file that is opened brings its parts.
void TestOwnArrays::opensOneFile() {
    std::vector<ZipPart> parts{{"x_train.npy", floats({1, 2, 3, 4})},
                               {"y_train.npy", floats({1.5f, 2, 3, 4})},
                               {"x_val.npy", floats({5, 6})},
                               {"y_val.npy", floats({7, 8})}};
    const std::string archive = file("parts.npz", zipBytes(parts));
    const auto judged = experimentOn(archive);
    QVERIFY(judged);
    QCOMPARE(judged->task.xVal, archive);
    QVERIFY(judged->task.xTest.empty());
    QCOMPARE(factsOf(judged->task).train, int64_t{4});
    QCOMPARE(factsOf(judged->task).validation, int64_t{2});
    parts.push_back({"x_test.npy", floats({5})});
    parts.push_back({"y_test.npy", floats({7})});
    const std::string more = file("all.npz", zipBytes(parts));
    const auto tested = experimentOn(more);
    QVERIFY(tested && !tested->task.test);
    QCOMPARE(tested->task.xTest, more);
    QCOMPARE(factsOf(tested->task).validation, int64_t{2});
    QCOMPARE(factsOf(tested->task).test, int64_t{1});
}

} // namespace tst_own_arrays

QTEST_GUILESS_MAIN(tst_own_arrays::TestOwnArrays)
#include "tst_own_arrays.moc"
