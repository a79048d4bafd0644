// Data sets from arrays and from csv tables: their samples, which of them are held back, and what
// is refused.
#include "engine/core/error.h"
#include "engine/data/held_back.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/train/experiment.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>

namespace tst_file_data {

using namespace halfscope;
using namespace std::string_literals;

namespace {

std::vector<float> floatsOf(const Batch& batch, size_t tensor) {
    const auto values = batch.floats(tensor);
    return {values.begin(), values.end()};
}

std::vector<int32_t> labelsOf(const Batch& batch) {
    const auto values = batch.labels(kTarget);
    return {values.begin(), values.end()};
}

} // namespace

class TestFileData : public QObject {
    Q_OBJECT

private slots:
    void holdsBack();
    void arraysOfNumbers();
    void arraysOfClasses();
    void bothInOneFile();
    void refusesArrays_data();
    void refusesArrays();
    void tableOfNumbers();
    void tableOfClasses();
    void archives();
    void predictsArrays();
    void standardises();
    void missingValues_data();
    void missingValues();
    void missingIsFilledBeforeItIsStandardised();
    void missingWordsAreFilled();
    void missingEverywhere();
    void refusesTables_data();
    void refusesTables();
    void infiniteTargets();
    void noTargetAtAll();
    void mendedTables();
    void trains_data();
    void trains();
    void relativePaths();

private:
    std::string file(const std::string& name, const std::string& bytes) const {
        return writeBytes(m_folder.filePath(QString::fromStdString(name)).toStdString(), bytes);
    }
    TaskConfig csv(const std::string& text, bool classes = false) const {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = file("t.csv", text);
        task.validation = 0;
        task.standardise = false;
        if (classes) task.loss.kind = LossKind::CrossEntropy;
        return task;
    }
    TaskConfig arrays(const std::string& x, const std::string& y, bool classes = false) const {
        TaskConfig task;
        task.kind = TaskKind::Arrays;
        task.x = file("x.npy", x);
        task.y = file("y.npy", y);
        task.validation = 0;
        if (classes) task.loss.kind = LossKind::CrossEntropy;
        return task;
    }
    QTemporaryDir m_folder;
};

void TestFileData::holdsBack() {
    const HeldBack split(100, 0.25);
    QCOMPARE(split.validation.size(), size_t{25});
    std::set<int32_t> all(split.train.begin(), split.train.end());
    all.insert(split.validation.begin(), split.validation.end());
    QCOMPARE(all.size(), size_t{100});
    QVERIFY(std::is_sorted(split.train.begin(), split.train.end()));
    QVERIFY(split.validation.front() < 25 && split.validation.back() >= 75); // from everywhere
    QCOMPARE(HeldBack(100, 0.25).validation, split.validation);
    QCOMPARE(HeldBack::count(1, 0.9), int64_t{0}); // one is left to train on
    QCOMPARE(HeldBack::count(10, 0.99), int64_t{9});
}

void TestFileData::arraysOfNumbers() {
    const TaskConfig task = arrays(npy("|u1", "(3, 2, 2)", "\1\2\3\4\5\6\7\10\11\12\13\14"),
                                   npy("<f8", "(3,)", bytesOfValues<double>({0.5, -1, 2})));
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->tensors()[kX].shape, (Shape{2, 2}));
    QCOMPARE(data->tensors()[kTarget].shape, (Shape{1}));
    const Batch all = allOf(*data, Split::Train);
    QCOMPARE(floatsOf(all, kX), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    QCOMPARE(floatsOf(all, kTarget), (std::vector<float>{0.5f, -1, 2}));
    QCOMPARE(data->view().kind, ViewKind::Scatter);
    QCOMPARE(data->view().centre, 0.5);
    Batch two = Batch::of(data->tensors(), 2);
    data->read(Split::Train, std::array<int64_t, 2>{2, 1}, two);
    QCOMPARE(floatsOf(two, kX), (std::vector<float>{9, 10, 11, 12, 5, 6, 7, 8}));
}

void TestFileData::arraysOfClasses() {
    TaskConfig task = arrays(npy("<f4", "(4,)", bytesOfValues<float>({1, 2, 3, 4})),
                             npy("<i8", "(4, 1)", bytesOfValues<int64_t>({0, 6, 1, 2})), true);
    task.validation = 0.5;
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->tensors()[kTarget].classes, int64_t{7});
    QCOMPARE(data->samples(Split::Validation), int64_t{2});
    // factsOf() would return what makeDataset() found
    QCOMPARE(infoOf(task.kind).facts(task).train, int64_t{2});
    std::vector<float> x = floatsOf(allOf(*data, Split::Train), kX);
    const std::vector<float> held = floatsOf(allOf(*data, Split::Validation), kX);
    x.insert(x.end(), held.begin(), held.end());
    std::sort(x.begin(), x.end());
    QCOMPARE(x, (std::vector<float>{1, 2, 3, 4}));
    QCOMPARE(data->view().classes.size(), size_t{7});
    task.validation = 0;
    task.y = file("y.npy", npy("<f4", "(4,)", bytesOfValues<float>({0, 2, 1, 2}))); // as floats
    QCOMPARE(labelsOf(allOf(*makeDataset(task, 0), Split::Train)),
             (std::vector<int32_t>{0, 2, 1, 2}));
}

void TestFileData::bothInOneFile() {
    TaskConfig task;
    task.kind = TaskKind::Arrays;
    task.validation = 0;
    const std::string header = R"({"y":{"dtype":"I32","shape":[2],"data_offsets":[0,8]},)"
                               R"("x":{"dtype":"F16","shape":[2,1],"data_offsets":[8,12]}})";
    task.x = file("both.safetensors",
                  safetensorsBytes(header, bytesOfValues<int32_t>({1, 0}) +
                                               bytesOfValues<uint16_t>({0x3c00, 0x4000})));
    task.loss.kind = LossKind::CrossEntropy;
    const Batch all = allOf(*makeDataset(task, 0), Split::Train);
    QCOMPARE(floatsOf(all, kX), (std::vector<float>{1, 2}));
    QCOMPARE(labelsOf(all), (std::vector<int32_t>{1, 0}));
    // a single array may have any name
    const std::string other = R"({"weird":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
    task.y = file("y.safetensors", safetensorsBytes(other, "\3\4"));
    QCOMPARE(labelsOf(allOf(*makeDataset(task, 0), Split::Train)), (std::vector<int32_t>{3, 4}));
    const std::string none = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
    task.y = file("y.safetensors", safetensorsBytes(none, "\3\4"));
    QVERIFY(
        thrownBy<InputError>([&] { makeDataset(task, 0); })
            .ends_with(
                "it has the arrays a, b; the one to use must be called y, Y, y_train or Y_train"));
}

/// The arrays of an archive are found by the names that people give them, or as its only array.
void TestFileData::archives() {
    const std::string x = npy("<f4", "(2,)", bytesOfValues<float>({1, 2}));
    const std::string y = npy("|u1", "(2,)", "\3\4"), other = npy("|u1", "(1,)", "\1");
    TaskConfig task;
    task.kind = TaskKind::Arrays;
    task.validation = 0;
    const auto pack = [&](const char* inputs, const char* targets) {
        task.x = file("both.npz", zipBytes({{"x_test.npy", other},
                                            {std::string(targets) + ".npy", y, true},
                                            {std::string(inputs) + ".npy", x}}));
    };
    for (const auto& [inputs, targets] :
         {std::pair{"x", "y"}, {"X", "Y"}, {"x_train", "y_train"}, {"X_train", "y_train"}}) {
        pack(inputs, targets);
        const Batch all = allOf(*makeDataset(task, 0), Split::Train);
        QCOMPARE(floatsOf(all, kX), (std::vector<float>{1, 2}));
        QCOMPARE(floatsOf(all, kTarget), (std::vector<float>{3, 4}));
    }
    pack("inputs", "targets");
    QVERIFY(thrownBy<InputError>([&] { makeDataset(task, 0); })
                .ends_with("both.npz: it has the arrays x_test, targets, inputs; the one to use "
                           "must be called "
                           "x, X, x_train or X_train"));
    task.x = file("x.npz", zipBytes({{"arr_0.npy", x}}));
    task.y = file("y.npz", zipBytes({{"arr_0.npy", y, true}}));
    task.loss.kind = LossKind::CrossEntropy;
    QCOMPARE(labelsOf(allOf(*makeDataset(task, 0), Split::Train)), (std::vector<int32_t>{3, 4}));
}

/// Samples without targets follow those that were trained on, as the validation part.
void TestFileData::predictsArrays() {
    for (const bool classes : {false, true}) {
        TaskConfig task = arrays(npy("<f4", "(3, 2)", bytesOfValues<float>({1, 2, 3, 4, 5, 6})),
                                 npy("|u1", "(3,)", "\0\1\2"s), classes);
        task.validation = 0.4;
        task.predictFile =
            file("new.npy", npy("<f8", "(2, 2)", bytesOfValues<double>({7, 8, 9, 10})));
        const auto data = makeDataset(task, 0);
        QCOMPARE(data->samples(Split::Train), int64_t{2});
        QCOMPARE(floatsOf(allOf(*data, Split::Validation), kX), (std::vector<float>{7, 8, 9, 10}));
        QCOMPARE(data->number(Split::Validation, 1), int64_t{1}); // its place in its own file
        const DataFacts facts = infoOf(task.kind).facts(task);
        QCOMPARE(facts.validation, int64_t{2});
        QCOMPARE(facts.train, int64_t{2});
        task.predictFile = file("wide.npy", npy("|u1", "(2, 3)", "abcdef"));
        const std::string error = thrownBy<InputError>([&] { makeDataset(task, 0); });
        QVERIFY2(error.ends_with("the shape (2, 3) does not fit the samples of data.x, (3, 2)"),
                 error.c_str());
    }
}

void TestFileData::refusesArrays_data() {
    QTest::addColumn<QByteArray>("x");
    QTest::addColumn<QByteArray>("y");
    QTest::addColumn<bool>("classes");
    QTest::addColumn<QByteArray>("about");
    const auto row = [](const char* what, const std::string& x, const std::string& y, bool classes,
                        const char* about) {
        QTest::newRow(what) << QByteArray::fromStdString(x) << QByteArray::fromStdString(y)
                            << classes << QByteArray(about);
    };
    const std::string two = npy("<f4", "(2,)", bytesOfValues<float>({1, 2}));
    row("samples", two, npy("|u1", "(3,)", "abc"), false, "3 samples do not fit the 2 of data.x");
    row("no samples", npy("|u1", "(0, 2)", ""), npy("|u1", "(0,)", ""), false,
        "the shape (0, 2) is not allowed");
    row("one value", npy("|u1", "()", "a"), two, false, "the shape () is not allowed");
    row("many axes", npy("|u1", "(2, 1, 1, 1, 1, 1, 1)", "ab"), two, false, "is not allowed");
    row("numbers as classes", two, npy("<f4", "(2,)", bytesOfValues<float>({1, 2.5f})), true,
        "sample 1 has the label 2.5, but classes are whole numbers from 0: y.astype('int64')");
    row("nan as a class", two, npy("<f8", "(2,)", bytesOfValues<double>({NAN, 1})), true,
        "sample 0 has the label nan, but classes are whole numbers from 0; save the arrays "
        "without");
    row("inf as a class", two, npy("<f4", "(2,)", bytesOfValues<float>({0, INFINITY})), true,
        "sample 1 has the label inf, but classes are whole numbers from 0; save the arrays");
    row("several a sample", two, npy("|u1", "(2, 2)", "abcd"), true, "are not classes");
    row("negative", two, npy("|i1", "(2,)", "\1\377"), true, "sample 1 has the label -1");
    row("too large", two, npy("<i8", "(2,)", bytesOfValues<int64_t>({1, int64_t{1} << 40})), true,
        "sample 1 has the label 1099511627776: 0 to 99999 are allowed");
    row("no array", "height,weight\n1,2\n", two, false, "it does not begin as one");
}

void TestFileData::refusesArrays() {
    QFETCH(QByteArray, x);
    QFETCH(QByteArray, y);
    QFETCH(bool, classes);
    QFETCH(QByteArray, about);
    const TaskConfig task = arrays(x.toStdString(), y.toStdString(), classes);
    const std::string error = thrownBy<InputError>([&] { makeDataset(task, 0); });
    QVERIFY2(error.find(about.toStdString()) != std::string::npos, error.c_str());
    QVERIFY2(error.find(m_folder.path().toStdString()) != std::string::npos, error.c_str());
    TaskConfig none = task;
    none.y.clear();
    QVERIFY(thrownBy<InputError>([&] { makeDataset(none, 0); }).find("data.y: missing") == 0 ||
            !about.contains("do not fit"));
}

void TestFileData::tableOfNumbers() {
    const std::string text =
        "\xEF\xBB\xBF" // as Excel writes it
        "height, weight ,\"age, years\"\r\n1,+2.5,30\r\n-1e-3, 4 ,31\r\n\n5,6,7";
    const auto data = makeDataset(csv(text), 0);
    QCOMPARE(data->tensors()[kX].shape, (Shape{2}));
    const Batch all = allOf(*data, Split::Train);
    QCOMPARE(floatsOf(all, kX), (std::vector<float>{1, 2.5f, -1e-3f, 4, 5, 6}));
    QCOMPARE(floatsOf(all, kTarget), (std::vector<float>{30, 31, 7}));
    TaskConfig first = csv(text);
    first.target = "height";
    QCOMPARE(floatsOf(allOf(*makeDataset(first, 0), Split::Train), kTarget),
             (std::vector<float>{1, -1e-3f, 5}));
    QCOMPARE(factsOf(first).train, int64_t{3});
}

void TestFileData::tableOfClasses() {
    const auto words = makeDataset(csv("a,kind\n1,pear\n2,apple\n3,pear\n", true), 0);
    QCOMPARE(labelsOf(allOf(*words, Split::Train)), (std::vector<int32_t>{1, 0, 1}));
    QCOMPARE(words->view().classes, (std::vector<std::string>{"apple", "pear"}));
    const auto numbers = makeDataset(csv("a,kind\n1,10\n2,9\n3,-1\n", true), 0);
    QCOMPARE(numbers->view().classes, (std::vector<std::string>{"-1", "9", "10"}));
    QCOMPARE(labelsOf(allOf(*numbers, Split::Train)), (std::vector<int32_t>{2, 1, 0}));
    QCOMPARE(makeDataset(csv("a,kind\n1,x\n", true), 0)->tensors()[kTarget].classes, int64_t{1});
}

void TestFileData::standardises() {
    std::string text = "a,b,same,y\n";
    for (int i = 0; i < 40; ++i)
        text += std::to_string(1000 * i) + "," + std::to_string(0.001 * i * i) + ",3.5,0\n";
    TaskConfig task = csv(text);
    task.standardise = true;
    task.validation = 0.25;
    const auto data = makeDataset(task, 0);
    const std::vector<float> x = floatsOf(allOf(*data, Split::Train), kX);
    const size_t rows = x.size() / 3;
    QCOMPARE(rows, size_t{30});
    for (size_t column = 0; column < 2; ++column) {
        double mean = 0, squares = 0;
        for (size_t row = 0; row < rows; ++row)
            mean += double{x[row * 3 + column]} / 30;
        for (size_t row = 0; row < rows; ++row)
            squares += std::pow(double{x[row * 3 + column]} - mean, 2) / 30;
        QVERIFY(std::abs(mean) < 1e-6 && std::abs(squares - 1) < 1e-6);
    }
    QCOMPARE(x[2], 0.0f);
    // by the training samples alone
    const std::vector<float> held = floatsOf(allOf(*data, Split::Validation), kX);
    double sum = 0;
    for (size_t row = 0; row < 10; ++row)
        sum += double{held[row * 3]};
    QVERIFY(std::abs(sum) > 1e-3);
}

void TestFileData::missingValues_data() {
    QTest::addColumn<bool>("classes");
    QTest::addColumn<bool>("fills");
    QTest::addColumn<QString>("x"); // what remains of it
    QTest::addColumn<QString>("target");
    QTest::addColumn<QStringList>("notes");
    const QString dropped = "4 of 6 lines lack a value and are left out. To keep those that have a "
                            "target, set data.missing to mean.";
    const QString withoutTarget = "2 of 6 lines lack their target and are left out.";
    const QString filled = "2 missing values are replaced by the mean of their column over the "
                           "training samples.";
    const QString words = "Taken for missing values: \"?\", \"NA\", \"null\".";
    QTest::newRow("numbers, drop") << false << false << "1 2 5 6"
                                   << "7 3" << QStringList{dropped, words};
    QTest::newRow("numbers, mean") << false << true << "1 2 3 4 3 4 5 6"
                                   << "7 8 1 3" << QStringList{withoutTarget, filled, words};
    QTest::newRow("classes, drop") << true << false << "1 2 5 6"
                                   << "1 0" << QStringList{dropped, words};
    QTest::newRow("classes, mean") << true << true << "1 2 3 4 3 4 5 6"
                                   << "2 3 0 1" << QStringList{withoutTarget, filled, words};
}

/// A line without a target is left out whatever the setting says.
void TestFileData::missingValues() {
    QFETCH(const bool, classes);
    QFETCH(const bool, fills);
    QFETCH(const QString, x);
    QFETCH(const QString, target);
    QFETCH(const QStringList, notes);
    TaskConfig task = csv("a,b,y\n1,2,7\n, 4 ,8\nNA,4,?\n3,null,1\n9,9,\n5,6,3\n", classes);
    task.missing = fills ? Missing::Mean : Missing::Drop;
    const auto data = makeDataset(task, 0);
    const Batch all = allOf(*data, Split::Train);
    QStringList seen, targets, told;
    for (const float value : floatsOf(all, kX))
        seen << QString::number(double{value});
    if (classes)
        for (const int32_t label : labelsOf(all))
            targets << QString::number(label);
    else
        for (const float value : floatsOf(all, kTarget))
            targets << QString::number(double{value});
    QCOMPARE(seen.join(' '), x);
    QCOMPARE(targets.join(' '), target);
    for (const Message& note : factsOf(task).notes)
        told << QString::fromStdString(note.english());
    QCOMPARE(told.mid(1), notes); // the first is about the target
    TaskConfig refused = task;
    refused.missing = Missing::Refuse;
    const std::string error = thrownBy<InputError>([&] { makeDataset(refused, 0); });
    QVERIFY2(error.find("line 3: \"\" in the column \"a\" is not allowed: a finite number; "
                        "to allow missing values, set data.missing to drop or mean") != error.npos,
             error.c_str());
}

/// A missing value is replaced by the mean of the training samples, which then is 0.
void TestFileData::missingIsFilledBeforeItIsStandardised() {
    std::string text = "a,y\n";
    for (int i = 0; i < 40; ++i)
        text +=
            (i % 4 == 0 ? std::string() : std::to_string(i * i)) + "," + std::to_string(i) + "\n";
    TaskConfig task = csv(text);
    task.missing = Missing::Mean;
    task.validation = 0.5;
    for (const bool standardise : {false, true}) {
        task.standardise = standardise;
        const auto data = makeDataset(task, 0);
        double mean = 0;
        const Batch trained = allOf(*data, Split::Train), judged = allOf(*data, Split::Validation);
        int64_t counted = 0;
        for (int64_t row = 0; row < trained.rows(); ++row) {
            const auto at = static_cast<size_t>(row);
            if (int(trained.floats(kTarget)[at]) % 4 == 0) continue;
            mean += double{trained.floats(kX)[at]};
            ++counted;
        }
        mean /= double(counted);
        for (const Batch* batch : {&trained, &judged})
            for (size_t row = 0; row < size_t(batch->rows()); ++row)
                if (int(batch->floats(kTarget)[row]) % 4 == 0)
                    QVERIFY(std::abs(double{batch->floats(kX)[row]} - mean) <
                            1e-6 * (standardise ? 1 : 1600));
    }
}

/// No word is a mean: each has its share of the samples that have one.
void TestFileData::missingWordsAreFilled() {
    const auto told = [this](const std::string& text) {
        TaskConfig task = csv(text);
        task.missing = Missing::Mean;
        for (const Message& note : makeDataset(task, 0)->notes())
            if (const std::string each = note.english();
                each.find("missing values are replaced") != each.npos)
                return each;
        return std::string();
    };
    const std::string numbers = "1 missing values are replaced by the mean of their column over "
                                "the training samples";
    QCOMPARE(told("a,b,y\n1,red,1\n,teal,2\n3,red,3\n"), numbers + ".");
    QCOMPARE(told("a,b,y\n1,red,1\n2,,2\n3,teal,3\n"),
             numbers +
                 "; where a word is missing, each word's input gets its share among the words "
                 "that are there.");
    QCOMPARE(told("a,b,y\n1,yes,1\n2,,2\n3,no,3\n"), numbers + "."); // one input, 0 or 1
}

void TestFileData::missingEverywhere() {
    TaskConfig task = csv("a,b,y\n1,,1\n2,,2\n");
    task.missing = Missing::Mean;
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             task.path +
                 ": the column \"b\" has no value among the training samples, so there is no "
                 "mean to fill it with");
    task.missing = Missing::Drop;
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             task.path + ": every line lacks a value, so data.missing drop leaves no samples");
    writeBytes(task.path, "a,y\n1,\n2,\n");
    task.missing = Missing::Mean;
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             task.path + ": every line lacks its target, so data.missing mean leaves no samples");
}

void TestFileData::refusesTables_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("about");
    const auto row = [](const char* what, const char* text, const char* about) {
        QTest::newRow(what) << QByteArray(text) << QByteArray(about);
    };
    row("empty", "", "the file is empty");
    row("header alone", "a,b\n", ": no line of values follows the names of the columns");
    row("line for Excel alone", "sep=;\n", "the file is empty");
    row("ends of lines of old Macs", "a,b\r1,2\r", ": the lines end with CR alone, as on old Macs");
    row("the same with quotation marks", "a,b\r1,\"stay\"\r2,\"go\"\r",
        ": the lines end with CR alone, as on old Macs");
    row("beyond float32", "a,b\n1,2\n1e300,2\n",
        "line 3: \"1e300\" in the column \"a\" is not allowed: a number that float32 holds");
    row("one column", "a\n1\n",
        "line 1: \"a\" is one column, which is not enough; the first line must name 2 to 100000");
    row("title", "# Flowers\na,b\n1,2\n", "line 1: \"# Flowers\" is one column");
    row("a word", "a,b\n1,2\nx,2\n",
        "line 3: \"x\" in the column \"a\" is not allowed: a finite number, as other lines have "
        "there; data.drop leaves columns out");
    row("a word to predict", "a,b\n1,x\n",
        "line 2: \"x\" in the column \"b\" is not allowed: a finite number; with task.loss "
        "cross-entropy, each word is a class");
    row("missing", "a,b\n1,2\n,2\n", "line 3: \"\" in the column \"a\" is not allowed");
    row("nan", "a,b\nnan,2\n", "line 2: \"nan\" in the column \"a\" is not allowed");
    row("inf", "a,b\n1,inf\n", "\"inf\" in the column \"b\"");
    row("too large", "a,b\n1e99,2\n", "\"1e99\" in the column \"a\"");
    row("fewer fields", "a,b\n1,2\n1\n",
        "line 3: the number of fields in \"1\" is 1, but must be 2");
    row("more fields", "a,b\n1,2,3\n",
        "line 2: the number of fields in \"1,2,3\" is 3, but must be 2");
    row("open quotation mark", "a,b\n1,\"2\n", "unmatched quotation mark");
}

void TestFileData::refusesTables() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, about);
    const TaskConfig task = csv(text.toStdString());
    const std::string error = thrownBy<InputError>([&] { makeDataset(task, 0); });
    QVERIFY2(isAbout(error, task.path, about.toStdString()) ||
                 (error.starts_with(task.path) && error.find(about.toStdString()) != error.npos),
             error.c_str());
    TaskConfig other = csv("age,height\n1,2\n");
    other.target = "hight";
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(other, 0); }),
             "data.target: " + other.path + " has no column \"hight\"; the nearest one is height");
    other.path.clear();
    QVERIFY(thrownBy<InputError>([&] { factsOf(other); }).starts_with("data.path: missing"));
}

/// inf is a number, which makes no classes of the numbers beside it; beside words it is one.
void TestFileData::infiniteTargets() {
    for (const char* inf : {"inf", "-inf", "Infinity", "+INF"}) {
        const TaskConfig task = csv("a,b\n1,2.5\n2," + std::string(inf) + "\n3,4\n", true);
        QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
                 task.path + ", line 3: \"" + inf +
                     "\" in the column \"b\" is not allowed: a finite number");
    }
    QCOMPARE(makeDataset(csv("a,b\n1,sup\n2,inf\n", true), 0)->view().classes,
             (std::vector<std::string>{"inf", "sup"}));
}

/// To leave out lines without a target is no advice where that leaves none.
void TestFileData::noTargetAtAll() {
    for (const bool classes : {false, true}) {
        const TaskConfig none = csv("a,b\n1,\n2,NA\n3,\n", classes);
        QCOMPARE(thrownBy<InputError>([&] { makeDataset(none, 0); }),
                 none.path + ": no line has a value in the column \"b\", which is to be predicted; "
                             "set data.target to another column");
        for (const char* text : {"a,b\n1,\n2,5\n", "a,b\n1,5\n2,\n"}) {
            const TaskConfig some = csv(text, classes);
            const std::string error = thrownBy<InputError>([&] { makeDataset(some, 0); });
            QVERIFY2(error.find("data.missing") != error.npos, error.c_str());
            QVERIFY2(error.find(text[6] == '\n' ? ", line 2: " : ", line 3: ") != error.npos,
                     error.c_str());
        }
    }
}

/// The reason for refusing a file is remembered, because finding it may take long, until the file
/// changes.
void TestFileData::mendedTables() {
    const QTemporaryDir folder;
    TaskConfig task;
    task.kind = TaskKind::Csv;
    task.path = folder.filePath("table.csv").toStdString();
    writeBytes(task.path, "a,b\n1,x\n");
    const std::string error = thrownBy<InputError>([&] { factsOf(task); });
    QVERIFY2(error.find("\"x\"") != std::string::npos, error.c_str());
    QCOMPARE(thrownBy<InputError>([&] { factsOf(task); }), error);
    writeBytes(task.path, "a,b\n1,20\n3,4\n");
    QCOMPARE(factsOf(task).train, int64_t{2});
    // a file that is gone is told once it was needed
    QVERIFY(std::filesystem::remove(task.path));
    QCOMPARE(factsOf(task).train, int64_t{2});
    const std::string gone = thrownBy<InputError>([&] { makeDataset(task, 0); });
    QCOMPARE(thrownBy<InputError>([&] { factsOf(task); }), gone);
    writeBytes(task.path, "a,b\n1,20\n3,4\n");
    QCOMPARE(factsOf(task).train, int64_t{2});
}

void TestFileData::trains_data() {
    QTest::addColumn<bool>("classes");
    QTest::newRow("numbers") << false;
    QTest::newRow("classes") << true;
}

/// Two features of very different sizes decide the result.
void TestFileData::trains() {
    QFETCH(bool, classes);
    std::string text = "large,small,y\n";
    std::mt19937 random(5);
    for (int i = 0; i < 300; ++i) {
        const double a = double(random() % 2000) - 1000,
                     b = (double(random() % 2000) - 1000) * 1e-6;
        const double sum = a / 1000 + b * 1000;
        text += std::to_string(a) + "," + std::to_string(b) + ",";
        text += classes ? (sum > 0 ? "up" : "down") : std::to_string(sum);
        text += "\n";
    }
    RunConfig config = defaultConfig();
    config.device = "cpu";
    config.task = csv(text, classes);
    config.task.validation = 0.2;
    config.task.standardise = true;
    config.task.batch = 40;
    config.model.width = 16;
    config.model.depth = 0;
    config.optimizer.lr = 1e-2;
    config.epochs = 20;
    Experiment experiment(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        experiment.advance(records, events);
    for (size_t i = records.size() - 2; i < records.size(); ++i) {
        const Validation found = records[i].validation.value();
        if (classes)
            QVERIFY2(found.accuracy.value() > 0.9, qPrintable(QString::number(*found.accuracy)));
        else // the targets' variance is 0.67
            QVERIFY2(found.loss < 0.1, qPrintable(QString::number(found.loss)));
    }
}

void TestFileData::relativePaths() {
    const std::string path = file(
        "e.json", R"({"version": 1, "data": {"kind": "arrays", "x": "in/x.npy", "y": "/y.npy"}})");
    const RunConfig config = readConfig(path);
    QCOMPARE(QString::fromStdString(config.task.x), m_folder.filePath("in/x.npy"));
    QCOMPARE(config.task.y, "/y.npy"s);
}

} // namespace tst_file_data

QTEST_GUILESS_MAIN(tst_file_data::TestFileData)
#include "tst_file_data.moc"
