// The data sets of CIFAR: the values and classes of their samples, where their files may lie, what
// the settings of pictures make of them, and what is refused.
#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/io/picture.h"
#include "tests/support/all_samples.h"
#include "tests/support/cifar_files.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>

namespace tst_cifar {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr size_t kValues = 3 * kCifarPlane;

TaskConfig taskOf(const QString& folder) {
    TaskConfig task;
    task.kind = TaskKind::Cifar;
    task.loss.kind = LossKind::CrossEntropy;
    task.path = folder.toStdString();
    return task;
}

/// Whether the batch has these samples, each byte of them / 255.
bool hasSamples(const Batch& batch, int first, int count) {
    const std::span<const float> x = batch.floats(kX);
    if (x.size() != static_cast<size_t>(count) * kValues) return false;
    for (size_t i = 0; i < x.size(); ++i) {
        const int sample = first + static_cast<int>(i / kValues);
        if (x[i] != static_cast<float>(cifarByte(sample, static_cast<int>(i % kValues))) / 255)
            return false;
    }
    return true;
}

} // namespace

class TestCifar : public QObject {
    Q_OBJECT

private slots:
    void ten_data();
    void ten();
    void hundred_data();
    void hundred();
    void withoutNames();
    void itsOwnFilesComeFirst();
    void meanAndDeviation();
    void measured();
    void mirrors();
    void moves();
    void keepsATest();
    void predictsPictures();
    void refusesFiles_data();
    void refusesFiles();
    void refusesFolders();
    void refusesPython_data();
    void refusesPython();
    void refusesSettings();
    void factsFollowTheFiles();
};

void TestCifar::ten_data() {
    QTest::addColumn<QString>("inside");
    QTest::newRow("the folder") << "";
    QTest::newRow("as unpacked") << "cifar-10-batches-bin";
}

void TestCifar::ten() {
    QFETCH(const QString, inside);
    const QTemporaryDir folder;
    writeCifar10(folder.filePath(inside));
    const TaskConfig task = taskOf(folder.path());
    const DataFacts facts = factsOf(task);
    QCOMPARE(facts.train, int64_t{10});
    QCOMPARE(facts.validation, int64_t{4});
    const auto data = makeDataset(task, 3);
    for (const std::span<const TensorSpec> specs :
         {std::span<const TensorSpec>(facts.tensors), data->tensors()}) {
        QCOMPARE(specs[kX].shape, (Shape{3, 32, 32}));
        QCOMPARE(specs[kTarget].classes, int64_t{10});
    }
    const Batch trained = allOf(*data), judged = allOf(*data, Split::Validation);
    QVERIFY(hasSamples(trained, 0, 10));
    QVERIFY(hasSamples(judged, 10, 4));
    QVERIFY(std::ranges::equal(trained.labels(kTarget),
                               std::array<int32_t, 10>{0, 3, 6, 9, 2, 5, 8, 1, 4, 7}));
    QVERIFY(std::ranges::equal(judged.labels(kTarget), std::array<int32_t, 4>{0, 3, 6, 9}));
    const std::vector<std::string> names = data->view().classes;
    QCOMPARE(names.size(), size_t{10});
    QCOMPARE(names[1], std::string("car"));
    QCOMPARE(names[9], std::string("lorry"));
    QCOMPARE(data->files().size(), size_t{6});
    QVERIFY(!data->varies());
    QCOMPARE(data->classCounts(), std::vector<int64_t>(10, 1));
}

void TestCifar::hundred_data() {
    QTest::addColumn<QString>("inside");
    QTest::newRow("the folder") << "";
    QTest::newRow("as unpacked") << "cifar-100-binary";
}

/// The second of two labels is the class.
void TestCifar::hundred() {
    QFETCH(const QString, inside);
    const QTemporaryDir folder;
    writeCifar100(folder.filePath(inside));
    const TaskConfig task = taskOf(folder.path());
    QCOMPARE(factsOf(task).train, int64_t{3});
    QCOMPARE(factsOf(task).validation, int64_t{2});
    const auto data = makeDataset(task, 3);
    QCOMPARE(data->tensors()[kTarget].classes, int64_t{100});
    const Batch trained = allOf(*data), judged = allOf(*data, Split::Validation);
    QVERIFY(hasSamples(trained, 0, 3));
    QVERIFY(hasSamples(judged, 3, 2));
    QVERIFY(std::ranges::equal(trained.labels(kTarget), std::array<int32_t, 3>{99, 98, 97}));
    QVERIFY(std::ranges::equal(judged.labels(kTarget), std::array<int32_t, 2>{96, 95}));
    QCOMPARE(data->view().classes.at(99), std::string("kind 99")); // without the carriage return
}

void TestCifar::withoutNames() {
    const QTemporaryDir folder;
    writeCifar10(folder.filePath("ten"));
    writeCifar100(folder.filePath("hundred"));
    QVERIFY(QFile::remove(folder.filePath("ten/batches.meta.txt")));
    QVERIFY(QFile::remove(folder.filePath("hundred/fine_label_names.txt")));
    QCOMPARE(makeDataset(taskOf(folder.filePath("ten")), 0)->view().classes.at(1),
             std::string("automobile"));
    const auto names = makeDataset(taskOf(folder.filePath("hundred")), 0)->view().classes;
    QCOMPARE(names.size(), size_t{100});
    QCOMPARE(names[42], std::string("42"));
}

void TestCifar::itsOwnFilesComeFirst() {
    const QTemporaryDir folder;
    writeCifar10(folder.path());
    writeCifar100(folder.filePath("cifar-100-binary"));
    QCOMPARE(factsOf(taskOf(folder.path())).train, int64_t{10});
}

/// Each channel has numbers of its own, and samples to validate on are scaled as the others.
void TestCifar::meanAndDeviation() {
    const QTemporaryDir folder;
    writeCifar10(folder.path());
    TaskConfig task = taskOf(folder.path());
    task.mean = "0.4914, 0.4822, 0.4465";
    task.deviation = "0.247, 0.2435, 0.2616";
    constexpr std::array<float, 3> kMean{0.4914F, 0.4822F, 0.4465F},
        kDeviation{0.247F, 0.2435F, 0.2616F};
    const auto data = makeDataset(task, 0);
    const auto scales = data->channelScales();
    QCOMPARE(scales.size(), size_t{3});
    for (const auto& [split, first] : {std::pair{Split::Train, 0}, {Split::Validation, 10}}) {
        const Batch batch = allOf(*data, split);
        const std::span<const float> x = batch.floats(kX);
        for (size_t i = 0; i < kValues; ++i) {
            const size_t c = i / kCifarPlane;
            const auto byte = static_cast<float>(cifarByte(first, static_cast<int>(i)));
            QCOMPARE(x[i], (byte / 255 - kMean[c]) / kDeviation[c]);
            QCOMPARE(scales[c].mean, kMean[c]);
            QCOMPARE(scales[c].deviation, kDeviation[c]);
        }
    }
}

/// The mean and the deviation of the samples to train on, channel by channel.
void TestCifar::measured() {
    const QTemporaryDir folder;
    writeCifar10(folder.path());
    TaskConfig task = taskOf(folder.path());
    task.mean = task.deviation = "auto";
    const auto scales = makeDataset(task, 0)->channelScales();
    QCOMPARE(scales.size(), size_t{3});
    for (int c = 0; c < 3; ++c) {
        constexpr double kCount = 10 * kCifarPlane;
        double sum = 0, squares = 0;
        for (int sample = 0; sample < 10; ++sample)
            for (int place = c * kCifarPlane; place < (c + 1) * kCifarPlane; ++place) {
                const double value = cifarByte(sample, place) / 255.0;
                sum += value;
                squares += value * value;
            }
        const double mean = sum / kCount;
        const auto found = scales[static_cast<size_t>(c)];
        QVERIFY(std::abs(double{found.mean} - mean) < 1e-6);
        QVERIFY(std::abs(double{found.deviation} - std::sqrt(squares / kCount - mean * mean)) <
                1e-6);
    }
}

/// Half of the samples to train on are mirrored, with all of their planes; those to validate on
/// never are.
void TestCifar::mirrors() {
    const QTemporaryDir folder;
    writeCifar10(folder.path());
    TaskConfig task = taskOf(folder.path());
    task.flip = true;
    const auto data = makeDataset(task, 5);
    QVERIFY(data->varies());
    QVERIFY(hasSamples(allOf(*data), 0, 10));
    std::array<int, 2> seen{};
    Batch batch = Batch::of(data->tensors(), 1);
    for (int64_t epoch = 1; epoch <= 40; ++epoch) {
        data->read({Split::Train, epoch}, std::array<int64_t, 1>{7}, batch);
        const bool plain = hasSamples(batch, 7, 1);
        ++seen[plain ? 0 : 1];
        for (size_t i = 0; i < kValues && !plain; ++i) {
            const auto from = static_cast<int>(i / 32 * 32 + 31 - i % 32);
            QCOMPARE(batch.floats(kX)[i], static_cast<float>(cifarByte(7, from)) / 255);
        }
        data->read({Split::Validation, epoch}, std::array<int64_t, 1>{2}, batch);
        QVERIFY(hasSamples(batch, 12, 1));
    }
    QVERIFY2(seen[0] > 5 && seen[1] > 5, qPrintable(QString::number(seen[0])));
}

/// The edge that a move leaves behind is black, which the mean makes a number below 0.
void TestCifar::moves() {
    const QTemporaryDir folder;
    writeCifar10(folder.path());
    const std::string white = std::string(1, '\3') + std::string(kValues, '\377');
    writeBytes(folder.filePath("data_batch_1.bin").toStdString(), white);
    TaskConfig task = taskOf(folder.path());
    task.crop = 4;
    task.mean = "0.5";
    task.deviation = "0.25";
    const auto data = makeDataset(task, 5);
    QVERIFY(data->varies());
    Batch batch = Batch::of(data->tensors(), 1);
    bool moved = false;
    for (int64_t epoch = 1; epoch <= 20; ++epoch) {
        data->read({Split::Train, epoch}, std::array<int64_t, 1>{0}, batch);
        for (const float value : batch.floats(kX)) {
            QVERIFY(value == 2 || value == -2);
            moved |= value == -2;
        }
    }
    QVERIFY(moved);
}

void TestCifar::keepsATest() {
    const QTemporaryDir folder;
    writeCifar10(folder.path());
    TaskConfig task = taskOf(folder.path());
    task.testShare = 0.25;
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->samples(Split::Validation), int64_t{3});
    QVERIFY(data->test());
    QCOMPARE(data->test()->samples(Split::Validation), int64_t{1});
    QCOMPARE(factsOf(task).test, int64_t{1});
}

/// New pictures keep their colours, and none is said to be the other way round.
void TestCifar::predictsPictures() {
    const QTemporaryDir folder;
    writeCifar10(folder.path());
    Picture red{40, 40, 3, {}};
    for (int pixel = 0; pixel < 40 * 40; ++pixel)
        red.values.insert(red.values.end(), {1, 0, 0.4F});
    writePng(red, folder.filePath("red.png").toStdString());
    TaskConfig task = taskOf(folder.path());
    task.predictFile = folder.filePath("red.png").toStdString();
    QCOMPARE(factsOf(task).validation, int64_t{1});
    const auto data = makeDataset(task, 0);
    const Batch batch = allOf(*data, Split::Validation);
    for (const size_t at : {size_t{0}, size_t{kCifarPlane - 1}}) {
        QCOMPARE(batch.floats(kX)[at], 1.0F);
        QCOMPARE(batch.floats(kX)[kCifarPlane + at], 0.0F);
        QCOMPARE(batch.floats(kX)[2 * kCifarPlane + at], 102 / 255.0F);
    }
    QVERIFY(data->notes().empty());
}

void TestCifar::refusesFiles_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("part");
    const auto row = [](const char* what, const char* file, const std::string& bytes,
                        const char* part) {
        QTest::newRow(what) << QString(file) << QByteArray::fromStdString(bytes) << QString(part);
    };
    row("cut off", "ten/data_batch_2.bin", std::string(6145, '\1'),
        "a file of 6145 bytes does not hold the samples of CIFAR-10, which have 3073 bytes each");
    row("empty", "ten/test_batch.bin", "",
        "a file of 0 bytes does not hold the samples of CIFAR-10, which have 3073 bytes each");
    row("label", "ten/data_batch_4.bin", cifarSample("\3", 0) + cifarSample("\12", 0),
        "sample 1 has the label 10: 0 to 9 are allowed");
    row("test label", "ten/test_batch.bin", cifarSample("\377", 0),
        "sample 0 has the label 255: 0 to 9 are allowed");
    row("names", "ten/batches.meta.txt", "cat\ndog\n",
        "2 names of classes are not allowed: 10, one a line");
    row("of CIFAR-10", "hundred/train.bin", cifarSample("\3", 0),
        "a file of 3073 bytes does not hold the samples of CIFAR-100, which have 3074 bytes each");
    row("fine label", "hundred/test.bin", cifarSample("\1\144", 0),
        "sample 0 has the label 100: 0 to 99 are allowed");
    row("coarse label", "hundred/train.bin", cifarSample("\1\1", 0) + cifarSample("\24\1", 0),
        "sample 1 has the coarse label 20: 0 to 19 are allowed");
    row("fine names", "hundred/fine_label_names.txt", "apple\n",
        "1 names of classes are not allowed: 100, one a line");
}

void TestCifar::refusesFiles() {
    QFETCH(const QString, file);
    QFETCH(const QByteArray, bytes);
    QFETCH(const QString, part);
    const QTemporaryDir folder;
    writeCifar10(folder.filePath("ten"));
    writeCifar100(folder.filePath("hundred"));
    const std::string path = folder.filePath(file).toStdString();
    writeBytes(path, bytes.toStdString());
    const TaskConfig task = taskOf(folder.filePath(file.section('/', 0, 0)));
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }), path + ": " + part.toStdString());
}

void TestCifar::refusesFolders() {
    const QTemporaryDir folder;
    const auto refusal = [](const QString& path) {
        const std::string facts = thrownBy<InputError>([&] { factsOf(taskOf(path)); });
        const std::string made = thrownBy<InputError>([&] { makeDataset(taskOf(path), 0); });
        return facts == made ? facts : facts + " but " + made;
    };
    QCOMPARE(refusal({}), std::string("data.path: missing; it must be a folder with CIFAR-10 or "
                                      "CIFAR-100 in the binary form"));
    const std::string at = folder.path().toStdString();
    QCOMPARE(refusal(folder.filePath("no")),
             "data.path: " + at + "/no cannot be read: No such file or directory");
    writeBytes(at + "/file", "x");
    QCOMPARE(refusal(folder.filePath("file")),
             "data.path: " + at + "/file cannot be read: Not a directory");
    QCOMPARE(refusal(folder.path()),
             "data.path: the folder " + at +
                 " has no files of CIFAR in the binary form, data_batch_1.bin to data_batch_5.bin "
                 "and test_batch.bin, or train.bin and test.bin");
    writeCifar10(folder.filePath("ten"));
    for (const char* name : {"data_batch_3.bin", "test_batch.bin"}) {
        const QString path = folder.filePath("ten/") + name;
        QVERIFY(QFile::rename(path, path + "x"));
        QCOMPARE(refusal(folder.filePath("ten")),
                 "data.path: the folder " + at + "/ten has no file " + name);
        QVERIFY(QFile::rename(path + "x", path));
    }
    writeCifar100(folder.filePath("hundred"));
    QVERIFY(QFile::remove(folder.filePath("hundred/test.bin")));
    QCOMPARE(refusal(folder.filePath("hundred")),
             "data.path: the folder " + at + "/hundred has no file test.bin");
    writeCifar10(folder.filePath("both/cifar-10-batches-bin"));
    writeCifar100(folder.filePath("both/cifar-100-binary"));
    QCOMPARE(refusal(folder.filePath("both")),
             "data.path: " + at +
                 "/both has both CIFAR-10 and CIFAR-100; it must be a folder that has one of them");
}

void TestCifar::refusesPython_data() {
    QTest::addColumn<QStringList>("files");
    QTest::newRow("ten") << QStringList{"data_batch_1", "batches.meta"};
    QTest::newRow("ten, as torchvision has it") << QStringList{"cifar-10-batches-py/data_batch_1"};
    QTest::newRow("hundred") << QStringList{"train", "test", "meta"};
    QTest::newRow("hundred, as torchvision has it")
        << QStringList{"cifar-100-python/train", "cifar-100-python/test", "cifar-100-python/meta"};
}

void TestCifar::refusesPython() {
    QFETCH(const QStringList, files);
    const QTemporaryDir folder;
    for (const QString& name : files) {
        QVERIFY(QDir(folder.path()).mkpath(QFileInfo(name).path()));
        writeBytes(folder.filePath(name).toStdString(), "\x80\x02");
    }
    const TaskConfig task = taskOf(folder.path());
    const std::string refused =
        "data.path: " + folder.path().toStdString() +
        " has CIFAR in the form for Python, whose pickled files can run code and are not opened; "
        "the binary form is read, as in cifar-10-binary.tar.gz and cifar-100-binary.tar.gz";
    QCOMPARE(thrownBy<InputError>([&] { factsOf(task); }), refused);
    TaskConfig opened;
    QCOMPARE(thrownBy<InputError>([&] { infoOf(TaskKind::Cifar).opens(task.path, opened); }),
             refused);
    writeCifar10(folder.path()); // beside it, the binary form is read
    QCOMPARE(makeDataset(task, 0)->samples(Split::Train), int64_t{10});
}

void TestCifar::refusesSettings() {
    const QTemporaryDir folder;
    writeCifar10(folder.path());
    TaskConfig task = taskOf(folder.path());
    task.crop = 17;
    const std::string refused = "data.crop: 17 is not allowed: at most half of the shorter side of "
                                "the pictures, 16";
    QCOMPARE(thrownBy<InputError>([&] { factsOf(task); }), refused);
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }), refused);
    task.crop = 16;
    QCOMPARE(factsOf(task).train, int64_t{10});
}

/// The files lie in a folder inside that of the settings, which itself does not change.
void TestCifar::factsFollowTheFiles() {
    const QTemporaryDir folder;
    const QString inside = folder.filePath("cifar-10-batches-bin");
    writeCifar10(inside);
    const std::string test = inside.toStdString() + "/test_batch.bin";
    writeBytes(test, "none");
    const TaskConfig task = taskOf(folder.path());
    QVERIFY(isAbout(thrownBy<InputError>([&] { factsOf(task); }), test, "4 bytes"));
    writeCifar10(inside);
    QCOMPARE(factsOf(task).validation, int64_t{4});
}

} // namespace tst_cifar

QTEST_GUILESS_MAIN(tst_cifar::TestCifar)
#include "tst_cifar.moc"
