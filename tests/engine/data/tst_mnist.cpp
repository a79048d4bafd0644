// The data set of MNIST: its files under all their usual names, what the settings of pictures make
// of them, what is refused, and the sample that comes with the program.
#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/data/gallery.h"
#include "engine/io/picture.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/fashion_labels.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

namespace tst_mnist {

using namespace halfscope;

namespace {

/// Three pictures of 2 x 2 for training and two for validation; pixel p of picture i is 10 i + p.
struct Files {
    std::string trainImages =
        idxBytes({3, 2, 2}, std::string("\0\1\2\3\12\13\14\15\24\25\26\377", 12));
    std::string trainLabels = idxBytes({3}, std::string("\0\11\5", 3));
    std::string testImages = idxBytes({2, 2, 2}, std::string("\0\0\0\0\377\377\377\377", 8));
    std::string testLabels = idxBytes({2}, std::string("\1\2", 2));

    void write(const QString& folder, const char* end, char dash = '-') const {
        QDir().mkpath(folder);
        const auto put = [&](const std::string& start, const std::string& idx,
                             const std::string& bytes) {
            const std::string name = start + dash + idx + end;
            const bool packed = name.ends_with(".gz");
            writeBytes(folder.toStdString() + "/" + name, packed ? gzipBytes(bytes) : bytes);
        };
        put("train-images", "idx3-ubyte", trainImages);
        put("train-labels", "idx1-ubyte", trainLabels);
        put("t10k-images", "idx3-ubyte", testImages);
        put("t10k-labels", "idx1-ubyte", testLabels);
    }
};

TaskConfig taskOf(const QString& folder) {
    TaskConfig task;
    task.kind = TaskKind::Mnist;
    task.loss.kind = LossKind::CrossEntropy;
    task.path = folder.toStdString();
    return task;
}

} // namespace

class TestMnist : public QObject {
    Q_OBJECT

private slots:
    void reads_data();
    void reads();
    void predictsPictures();
    void everyByte();
    void meanAndDeviation_data();
    void meanAndDeviation();
    void mirrorsAndMoves_data();
    void mirrorsAndMoves();
    void chanceIsOfTheSeed();
    void showsPixels();
    void refusesSettings_data();
    void refusesSettings();
    void refuses_data();
    void refuses();
    void namesAllMissingFiles();
    void refusesWhatIsNoFolder();
    void sample();
    void factsFollowTheFiles();
    void mendedFile_data();
    void mendedFile();
    void fashionNames();
    void settings();
    void order();
};

void TestMnist::reads_data() {
    QTest::addColumn<QString>("inside");
    QTest::addColumn<QByteArray>("end");
    QTest::addColumn<bool>("dotted");
    QTest::newRow("plain") << "" << QByteArray() << false;
    QTest::newRow("gzip") << "" << QByteArray(".gz") << false;
    QTest::newRow("dotted") << "" << QByteArray() << true;
    QTest::newRow("torchvision") << "MNIST/raw" << QByteArray() << false;
    QTest::newRow("torchvision, Fashion") << "FashionMNIST/raw" << QByteArray(".gz") << false;
}

void TestMnist::reads() {
    QFETCH(QString, inside);
    QFETCH(QByteArray, end);
    QFETCH(bool, dotted);
    const QTemporaryDir folder;
    Files().write(folder.filePath(inside), end.constData(), dotted ? '.' : '-');
    const TaskConfig task = taskOf(folder.path());
    const DataFacts facts = factsOf(task);
    QCOMPARE(facts.train, int64_t{3});
    QCOMPARE(facts.validation, int64_t{2});
    const auto data = makeDataset(task, 7);
    QCOMPARE(data->samples(Split::Train), int64_t{3});
    QCOMPARE(data->tensors()[kX].shape, (Shape{1, 2, 2}));
    QCOMPARE(data->tensors()[kTarget].classes, int64_t{10});
    Batch batch = Batch::of(data->tensors(), 2);
    const std::array<int64_t, 2> asked{2, 0};
    QVERIFY(data->read(Split::Train, asked, batch).empty());
    const std::array<float, 8> x{20 / 255.f, 21 / 255.f, 22 / 255.f, 1,
                                 0,          1 / 255.f,  2 / 255.f,  3 / 255.f};
    QVERIFY(std::ranges::equal(batch.floats(kX), x));
    QVERIFY(std::ranges::equal(batch.labels(kTarget), std::array<int32_t, 2>{5, 0}));
    QVERIFY(data->read(Split::Validation, std::array<int64_t, 2>{1, 0}, batch).empty());
    QVERIFY(std::ranges::equal(batch.labels(kTarget), std::array<int32_t, 2>{2, 1}));
    QCOMPARE(batch.floats(kX)[0], 1.0f);
}

/// New pictures are brought to the size and the grey of those to train on.
void TestMnist::predictsPictures() {
    const QTemporaryDir folder;
    Files().write(folder.path(), "");
    TaskConfig task = taskOf(folder.path());
    QDir().mkpath(folder.filePath("new"));
    const auto put = [&](const char* name, float value) {
        writePng(Picture{8, 6, 3, std::vector<float>(144, value)},
                 folder.filePath(name).toStdString());
    };
    put("new/b.png", 0.8f);
    put("new/c.png", 1);
    writeBytes(folder.filePath("new/a.png").toStdString(), "no picture");
    task.predictFile = folder.filePath("new").toStdString();
    QCOMPARE(factsOf(task).validation, int64_t{3});
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{3});
    QCOMPARE(data->samples(Split::Validation), int64_t{3});
    Batch batch = Batch::of(data->tensors(), 3);
    const auto unread = data->read(Split::Validation, std::array<int64_t, 3>{2, 1, 0}, batch);
    QCOMPARE(unread.size(), size_t{1});
    QCOMPARE(unread[0].row, size_t{2});
    QCOMPARE(batch.floats(kX)[0], 1.0f);
    QCOMPARE(batch.floats(kX)[4], 204 / 255.f);
    QCOMPARE(data->notes().size(), size_t{1}); // they are light, and those to train on are dark
    QVERIFY(data->notes()[0].english().starts_with(task.predictFile + ": on average, the pictures "
                                                                      "are light"));
    Batch trained = Batch::of(data->tensors(), 1);
    QVERIFY(data->read(Split::Train, std::array<int64_t, 1>{2}, trained).empty());
    put("new/b.png", 0.1f);
    put("new/c.png", 0);
    QVERIFY(makeDataset(task, 0)->notes().empty());
}

void TestMnist::everyByte() {
    constexpr int kBytes = 256;
    std::string bytes(kBytes, '\0');
    std::iota(bytes.begin(), bytes.end(), '\0');
    const QTemporaryDir folder;
    Files{idxBytes({1, 16, 16}, bytes), idxBytes({1}, std::string(1, '\7')),
          idxBytes({1, 16, 16}, bytes), idxBytes({1}, std::string(1, '\7'))}
        .write(folder.path(), "");
    const auto data = makeDataset(taskOf(folder.path()), 0);
    Batch batch = Batch::of(data->tensors(), 1);
    data->read(Split::Train, std::array<int64_t, 1>{0}, batch);
    for (int byte = 0; byte < kBytes; ++byte) // as PyTorch's division gives it, bit for bit
        QCOMPARE(std::bit_cast<uint32_t>(batch.floats(kX)[static_cast<size_t>(byte)]),
                 std::bit_cast<uint32_t>(static_cast<float>(byte) / 255.0F));
}

void TestMnist::meanAndDeviation_data() {
    QTest::addColumn<QString>("mean");
    QTest::addColumn<QString>("deviation");
    QTest::addColumn<double>("subtracted");
    QTest::addColumn<double>("divisor");
    // the 12 bytes to train on, from 0 to 255
    constexpr double kMean = 370.0 / 12, kSquares = (14 + 534 + 66'350) / 12.0;
    const double measured = std::sqrt(kSquares - kMean * kMean) / 255;
    const auto row = [](const char* name, const char* mean, const char* deviation,
                        double subtracted, double divisor) {
        QTest::newRow(name) << QString(mean) << QString(deviation) << subtracted << divisor;
    };
    row("as PyTorch's example has them", "0.1307", "0.3081", 0.1307, 0.3081);
    row("mean alone", "-1", "", -1, 1);
    row("deviation alone", "", "0.5", 0, 0.5);
    row("measured", "auto", "auto", kMean / 255, measured);
}

/// Samples to validate on do not count for what is measured, but are scaled like the others.
void TestMnist::meanAndDeviation() {
    QFETCH(const QString, mean);
    QFETCH(const QString, deviation);
    QFETCH(const double, subtracted);
    QFETCH(const double, divisor);
    const QTemporaryDir folder;
    Files().write(folder.path(), "");
    TaskConfig task = taskOf(folder.path());
    task.mean = mean.toStdString();
    task.deviation = deviation.toStdString();
    const auto data = makeDataset(task, 0);
    const Batch trained = allOf(*data), judged = allOf(*data, Split::Validation);
    const std::array<int, 12> bytes{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 255};
    const auto isValue = [&](float value, int byte) {
        return std::abs(double{value} - (byte / 255.0 - subtracted) / divisor) < 1e-5;
    };
    for (size_t i = 0; i < bytes.size(); ++i)
        QVERIFY2(isValue(trained.floats(kX)[i], bytes[i]), qPrintable(QString::number(i)));
    QVERIFY(isValue(judged.floats(kX)[0], 0));
    QVERIFY(isValue(judged.floats(kX)[7], 255));
    QVERIFY(!data->varies());
}

void TestMnist::mirrorsAndMoves_data() {
    QTest::addColumn<bool>("flip");
    QTest::addColumn<int>("crop");
    QTest::newRow("neither") << false << 0;
    QTest::newRow("mirror") << true << 0;
    QTest::newRow("move") << false << 2;
    QTest::newRow("both") << true << 1;
}

/// Pictures that are wider than high. Every sample to train on is one of those that chance can make
/// of it, all of these occur, and samples to validate on do not change.
void TestMnist::mirrorsAndMoves() {
    QFETCH(const bool, flip);
    QFETCH(const int, crop);
    constexpr int kHigh = 4, kWide = 6, kPixels = kHigh * kWide;
    std::string pixels(kPixels, '\0');
    std::iota(pixels.begin(), pixels.end(), '\1'); // no pixel is as dark as the edge
    const std::string image = idxBytes({1, kHigh, kWide}, pixels), label = idxBytes({1}, "\2");
    const QTemporaryDir folder;
    Files{image, label, image, label}.write(folder.path(), "");
    TaskConfig task = taskOf(folder.path());
    task.flip = flip;
    task.crop = crop;
    const auto data = makeDataset(task, 3);
    QCOMPARE(data->varies(), flip || crop > 0);
    using Values = std::vector<int>;
    std::set<Values> possible, seen;
    for (const bool mirrored : {false, true})
        for (int right = -crop; right <= crop; ++right)
            for (int down = -crop; down <= crop && (flip || !mirrored); ++down) {
                Values values;
                for (int y = 0; y < kHigh; ++y)
                    for (int x = 0; x < kWide; ++x) {
                        const int fromY = y - down, shifted = x - right;
                        const bool in =
                            fromY >= 0 && fromY < kHigh && shifted >= 0 && shifted < kWide;
                        const int fromX = mirrored ? kWide - 1 - shifted : shifted;
                        values.push_back(in ? fromY * kWide + fromX + 1 : 0);
                    }
                possible.insert(values);
            }
    Batch batch = Batch::of(data->tensors(), 1);
    const auto valuesIn = [&](Pass pass) {
        data->read(pass, std::array<int64_t, 1>{0}, batch);
        Values values;
        for (const float value : batch.floats(kX))
            values.push_back(static_cast<int>(std::lround(255 * value)));
        return values;
    };
    for (int64_t epoch = 1; epoch <= 300; ++epoch)
        seen.insert(valuesIn({Split::Train, epoch}));
    QCOMPARE(seen, possible);
    const Values stored = valuesIn(Split::Train);
    QCOMPARE(stored.front(), 1);
    QCOMPARE(stored.back(), kPixels);
    for (int64_t epoch = 1; epoch <= 20; ++epoch)
        QCOMPARE(valuesIn({Split::Validation, epoch}), stored);
}

/// Batches are the same with any number of workers, and others with another seed.
void TestMnist::chanceIsOfTheSeed() {
    RunConfig config = presetNamed("mnist-mlp").config;
    config.task.flip = true;
    config.task.crop = 3;
    config.data.shuffle = false; // the seed changes the samples, not merely their order
    const auto bytesOf = [&config](int64_t step) {
        return makeTask(config)->load(step)->tensors[kX].bytes;
    };
    const auto first = bytesOf(1), nextEpoch = bytesOf(1 + epochPlanOf(config).stepsPerEpoch());
    QVERIFY(first != nextEpoch);
    config.data.workers = 3;
    QCOMPARE(bytesOf(1), first);
    config.seed += 1;
    QVERIFY(bytesOf(1) != first);
}

/// The grid of samples shows pixels as they are in the files, whatever is subtracted.
void TestMnist::showsPixels() {
    const QTemporaryDir folder;
    Files files;
    files.testImages = idxBytes({2, 2, 2}, std::string("\63\0\0\0\146\377\377\377", 8));
    files.write(folder.path(), "");
    TaskConfig task = taskOf(folder.path());
    QVERIFY(makeDataset(task, 0)->channelScales().empty()); // the print of saved runs has none
    task.mean = "0.5";
    task.deviation = "0.25";
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->channelScales().size(), size_t{1});
    const auto gallery = galleryOf(*data);
    QVERIFY(gallery);
    std::vector<float> scores(20); // of ten classes; both are right, so nothing is drawn over them
    scores[1] = scores[12] = 1;
    const Picture shown = galleryWithMistakes(*gallery, scores, {});
    constexpr int kMargin = 2, kCell = 14; // samples lie one below the other, as high as two digits
    constexpr int kLeft = 5;               // with room for a digit beside them
    const auto lightness = [&](int sample) {
        const int at = (sample * kCell + kMargin) * shown.width + kLeft;
        return shown.values[static_cast<size_t>(at) * 3];
    };
    QVERIFY(std::abs(lightness(0) - 0.2F) < 1e-5F);
    QVERIFY(std::abs(lightness(1) - 0.4F) < 1e-5F);
}

void TestMnist::refusesSettings_data() {
    QTest::addColumn<QString>("mean");
    QTest::addColumn<QString>("deviation");
    QTest::addColumn<int>("crop");
    QTest::addColumn<QString>("refused");
    QTest::newRow("mean") << "1,1,1"
                          << "" << 0
                          << "data.mean: 3 numbers are not allowed: one for all channels, or as "
                             "many as there are channels (1)";
    QTest::newRow("deviation") << ""
                               << "1,2,3" << 0
                               << "data.std: 3 numbers are not allowed: one for all channels, or "
                                  "as many as there are channels (1)";
    QTest::newRow("move") << ""
                          << "" << 2
                          << "data.crop: 2 is not allowed: at most half of the shorter side of "
                             "the pictures, 1";
}

/// Both when the settings are looked at and when the samples are read.
void TestMnist::refusesSettings() {
    QFETCH(const QString, mean);
    QFETCH(const QString, deviation);
    QFETCH(const int, crop);
    QFETCH(const QString, refused);
    const QTemporaryDir folder;
    Files().write(folder.path(), "");
    TaskConfig task = taskOf(folder.path());
    task.mean = mean.toStdString();
    task.deviation = deviation.toStdString();
    task.crop = crop;
    QCOMPARE(thrownBy<InputError>([&] { factsOf(task); }), refused.toStdString());
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }), refused.toStdString());
}

void TestMnist::refuses_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QByteArray>("bytes"); // empty: the file is removed
    QTest::addColumn<QByteArray>("about");
    const auto row = [](const char* what, const char* file, const std::string& bytes,
                        const char* about) {
        QTest::newRow(what) << QByteArray(file) << QByteArray::fromStdString(bytes)
                            << QByteArray(about);
    };
    row("no pictures", "train-images-idx3-ubyte", "", "has no file train-images-idx3-ubyte");
    row("no test labels", "t10k-labels-idx1-ubyte", "",
        "has no file t10k-labels-idx1-ubyte, plain or .gz");
    row("label too large", "train-labels-idx1-ubyte", idxBytes({3}, std::string("\0\12\5", 3)),
        "train-labels-idx1-ubyte: sample 1 has the label 10: 0 to 9 are allowed");
    row("test label too large", "t10k-labels-idx1-ubyte", idxBytes({2}, "\1\377"),
        "t10k-labels-idx1-ubyte: sample 1 has the label 255");
    row("fewer labels", "train-labels-idx1-ubyte", idxBytes({2}, "\1\2"),
        "the shape (2,) does not fit the 3 pictures of");
    row("labels of rank 2", "train-labels-idx1-ubyte", idxBytes({3, 1}, "\1\2\3"),
        "the shape (3, 1) does not fit");
    row("no pictures but values", "train-images-idx3-ubyte", idxBytes({12}, "abcdefghijkl"),
        "the shape (12,) is not that of pictures");
    row("none", "train-images-idx3-ubyte", idxBytes({0, 2, 2}, ""),
        "the shape (0, 2, 2) is not that of pictures");
    row("of another size", "t10k-images-idx3-ubyte", idxBytes({2, 1, 2}, "abcd"),
        "pictures of [1, 1, 2] do not fit those to train on, [1, 2, 2]");
    row("cut off", "t10k-images-idx3-ubyte", idxBytes({2, 2, 2}, "abc"), "ends after 19 bytes");
}

void TestMnist::refuses() {
    QFETCH(QByteArray, file);
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, about);
    const QTemporaryDir folder;
    Files().write(folder.path(), "");
    const QString path = folder.filePath(QString::fromUtf8(file));
    bytes.isEmpty() ? static_cast<void>(QFile::remove(path))
                    : static_cast<void>(writeBytes(path.toStdString(), bytes.toStdString()));
    const std::string error = thrownBy<InputError>([&] { makeDataset(taskOf(folder.path()), 0); });
    QVERIFY2(error.find(about.toStdString()) != std::string::npos, error.c_str());
    QVERIFY2(error.find(folder.path().toStdString()) != std::string::npos, error.c_str());
}

/// Any of the four files tells that the others are missing, whatever else is in the folder.
void TestMnist::namesAllMissingFiles() {
    const QTemporaryDir folder;
    const std::string at = folder.path().toStdString();
    writeBytes(at + "/notes.txt", "of digits");
    writeBytes(at + "/t10k-labels-idx1-ubyte.gz", "");
    QVERIFY(!experimentOn(at));
    QCOMPARE(thrownBy<InputError>([&] { throw nothingInFolder(at); }),
             "data.path: the folder " + at +
                 " has no files train-images-idx3-ubyte, train-labels-idx1-ubyte, "
                 "t10k-images-idx3-ubyte, plain or .gz");
}

/// A folder that is missing, or none, lacks no file.
void TestMnist::refusesWhatIsNoFolder() {
    const QTemporaryDir folder;
    const std::string at = folder.path().toStdString();
    writeBytes(at + "/file", "x");
    for (const auto& [name, reason] :
         {std::pair{"/no", "No such file or directory"}, {"/file", "Not a directory"}}) {
        const TaskConfig task = taskOf(QString::fromStdString(at + name));
        const std::string words = "data.path: " + at + name + " cannot be read: " + reason;
        QCOMPARE(thrownBy<InputError>([&] { factsOf(task); }), words);
        QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }), words);
    }
}

void TestMnist::sample() {
    const TaskConfig task = taskOf({});
    const auto data = makeDataset(task, 0);
    QCOMPARE(infoOf(task.kind).facts(task).train, int64_t{2000});
    for (const auto& [split, count] : {std::pair{Split::Train, 2000}, {Split::Validation, 500}}) {
        QCOMPARE(data->samples(split), int64_t{count});
        const Batch batch = allOf(*data, split);
        std::array<int, 10> seen{};
        for (const int32_t label : batch.labels(kTarget))
            ++seen.at(static_cast<size_t>(label));
        for (const int each : seen)
            QCOMPARE(each, count / 10);
        double sum = 0; // the mean lightness of MNIST is 0.1307, of the start of its test set 0.123
        for (const float value : batch.floats(kX))
            sum += double{value};
        const double mean = sum / static_cast<double>(batch.floats(kX).size());
        QVERIFY2(std::abs(mean - 0.1307) < 0.01, qPrintable(QString::number(mean)));
    }
}

/// Settings ask for the facts often, which must not open files each time; a new data set looks
/// again.
void TestMnist::factsFollowTheFiles() {
    const QTemporaryDir folder;
    Files files;
    files.write(folder.path(), "");
    const TaskConfig task = taskOf(folder.path());
    QCOMPARE(factsOf(task).validation, int64_t{2});
    files.testImages = idxBytes({1, 2, 2}, "abcd");
    files.testLabels = idxBytes({1}, "\3");
    files.write(folder.path(), "");
    QCOMPARE(factsOf(task).validation, int64_t{2});
    makeDataset(task, 0);
    QCOMPARE(factsOf(task).validation, int64_t{1});
    QVERIFY(QDir(folder.path()).removeRecursively());
    QCOMPARE(factsOf(task).validation, int64_t{1}); // a run that continues knows its epochs
    QVERIFY(isAbout(thrownBy<InputError>([&] { makeDataset(task, 0); }), "data.path",
                    "No such file or directory"));
}

void TestMnist::mendedFile_data() {
    QTest::addColumn<TaskKind>("kind");
    QTest::newRow("mnist") << TaskKind::Mnist;
    QTest::newRow("generate") << TaskKind::Generate;
}

/// The files lie where torchvision puts them: the configured folder itself does not change.
void TestMnist::mendedFile() {
    const QTemporaryDir folder;
    Files().write(folder.filePath("MNIST/raw"), "");
    const std::string labels = folder.filePath("MNIST/raw/t10k-labels-idx1-ubyte").toStdString();
    writeBytes(labels, idxBytes({3}, "\1\2\3"));
    TaskConfig task = taskOf(folder.path());
    QFETCH(const TaskKind, kind);
    task.kind = kind;
    QVERIFY(isAbout(thrownBy<InputError>([&] { factsOf(task); }), labels, "does not fit"));
    writeBytes(labels, idxBytes({2}, "\1\2"));
    QVERIFY(factsOf(task).train > 0);
}

void TestMnist::fashionNames() {
    const QTemporaryDir folder;
    Files().write(folder.filePath("Fashion"), "");
    QCOMPARE(makeDataset(taskOf(folder.filePath("Fashion")), 0)->view().classes.back(),
             std::string("Ankle boot"));
    QCOMPARE(makeDataset(taskOf({}), 0)->view().classes.back(), std::string("9"));
    // whatever the folder is called, the labels tell it
    Files whole;
    whole.trainImages = idxBytes({3, 1, 1}, "abc");
    whole.testImages = idxBytes({10'000, 1, 1}, std::string(10'000, 'x'));
    std::string labels(kFashionDigits);
    for (char& label : labels)
        label = static_cast<char>(label - '0');
    const auto lastName = [&](const char* end) {
        const QTemporaryDir clothes;
        whole.testLabels = idxBytes({10'000}, labels);
        whole.write(clothes.filePath("clothes"), end);
        return makeDataset(taskOf(clothes.filePath("clothes")), 0)->view().classes.back();
    };
    for (const char* end : {"", ".gz"})
        QCOMPARE(lastName(end), std::string("Ankle boot"));
    std::swap(labels.front(), labels[1]); // of another set
    QCOMPARE(lastName(""), std::string("9"));
}

void TestMnist::settings() {
    RunConfig config = defaultConfig();
    applySetting(config, "task.kind=mnist"); // as in older files
    QCOMPARE(std::get<std::string>(findField("data.kind")->get(config, -1)), std::string("mnist"));
    QCOMPARE(config.task.loss.kind, LossKind::CrossEntropy);
    checkConfig(config);
    applySetting(config, "data.path=no/such/folder"); // found when the run starts
    checkConfig(config);
    QCOMPARE(epochPlanOf(config).stepsPerEpoch(), int64_t{1});
    applySetting(config, "data.path=");
    config.epochs = 2;
    QCOMPARE(stepsOf(config), int64_t{64});
    config.task.batch = 2001;
    QCOMPARE(thrownBy<InputError>([&] { checkConfig(config); }),
             std::string("task.batch: 2001 is not allowed: at most 2000, the samples to train on"));
    applySetting(config, "task.loss=mse");
    QVERIFY(thrownBy<InputError>([&] { checkConfig(config); })
                .starts_with("task.loss: mse is not allowed with data.kind mnist: its targets are "
                             "classes"));
    applySetting(config, "data.kind=regression");
    QCOMPARE(config.task.loss.kind, LossKind::Mse);
    const RunConfig older =
        parseConfig(R"({"version": 1, "task": {"kind": "image", "side": 8}})", "f.json");
    QCOMPARE(older.task.kind, TaskKind::Image);
}

void TestMnist::order() {
    RunConfig config = presetNamed("mnist-mlp").config;
    const auto labels = [&](int64_t step) {
        const auto batch = makeTask(config)->load(step);
        const auto of = batch->labels(kTarget);
        return std::vector<int32_t>(of.begin(), of.end());
    };
    const auto shuffled = labels(1);
    QVERIFY(labels(1 + epochPlanOf(config).stepsPerEpoch()) != shuffled);
    config.data.shuffle = false;
    const auto stored = labels(1);
    QVERIFY(stored != shuffled);
    QVERIFY(labels(1 + epochPlanOf(config).stepsPerEpoch()) == stored);
    Batch first = Batch::of(factsOf(config.task).tensors, 64);
    std::vector<int64_t> samples(64);
    std::iota(samples.begin(), samples.end(), 0);
    makeDataset(config.task, 0)->read(Split::Train, samples, first);
    QVERIFY(std::ranges::equal(first.labels(kTarget), stored));
}

} // namespace tst_mnist

QTEST_GUILESS_MAIN(tst_mnist::TestMnist)
#include "tst_mnist.moc"
