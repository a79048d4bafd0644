// The data set of pictures in folders: classes, splits, values, and files that are no pictures.
#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/data/gallery.h"
#include "engine/data/new_pictures.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/train/experiment.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

namespace tst_pictures {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int kPixels = kPictureSide * kPictureSide;

/// Returns a picture with the value 10 c + p of 255 at pixel p of channel c.
Picture picture(int channels) {
    Picture made{kPictureSide, kPictureSide, channels, {}};
    for (int p = 0; p < kPixels; ++p)
        for (int c = 0; c < channels; ++c)
            made.values.push_back(static_cast<float>(10 * c + p) / 255);
    return made;
}

} // namespace

class TestPictures : public QObject, PictureFolder {
    Q_OBJECT
private slots:
    void init() { renew(); }
    void classesAreFolders();
    void values_data();
    void values();
    void heldBack();
    void predictsPictures();
    void refusesToPredict();
    void decodesOnce();
    void sameBatchesWithWorkers();
    void damagedFile();
    void damagedFilesAreSkipped_data();
    void damagedFilesAreSkipped();
    void damagedFilesAreEvents();
    void galleryShowsPixels();
    void mirrorsAndMoves_data();
    void mirrorsAndMoves();
    void chanceIsOfSeedEpochAndSample();
    void meanAndDeviation_data();
    void meanAndDeviation();
    void refusesSettings_data();
    void refusesSettings();
    void refusesOnlyWhileSo();
    void mendedClass();
    void refuses_data();
    void refuses();
};

/// Classes are in the order of their folders' names; hidden folders and those without pictures do
/// not count.
void TestPictures::classesAreFolders() {
    put("dog/2.png", picture(3));
    put("cat/b.PNG", picture(3));
    put("cat/a.png", picture(3));
    put("ant/1.jpeg", picture(3)); // a PNG nevertheless: the content decides
    put(".hidden/1.png", picture(3));
    writeBytes(m_folder->filePath("cat/._a.png").toStdString(), "as macOS leaves them");
    QDir().mkpath(m_folder->filePath("empty"));
    writeBytes(m_folder->filePath("cat/notes.txt").toStdString(), "no picture");
    const auto data = makeDataset(task(), 0);
    QCOMPARE(data->view().classes, (std::vector<std::string>{"ant", "cat", "dog"}));
    QCOMPARE(data->tensors()[kTarget].classes, int64_t{3});
    QCOMPARE(data->samples(Split::Train), int64_t{4});
    const Batch batch = allOf(*data, Split::Train);
    const auto labels = batch.labels(kTarget);
    QCOMPARE(std::vector<int32_t>(labels.begin(), labels.end()),
             (std::vector<int32_t>{0, 1, 1, 2}));
    // factsOf() would return what makeDataset() found
    const DataFacts facts = infoOf(task().kind).facts(task());
    QCOMPARE(facts.train, int64_t{4});
    QCOMPARE(facts.tensors[kX].shape, (Shape{3, kPictureSide, kPictureSide}));
}

/// New pictures take the place of those to validate on; what is measured comes from the others.
void TestPictures::predictsPictures() {
    put("old/a/1.png", plain(1, 0, 0));
    put("old/b/1.png", plain(0, 0, 1));
    put("new/2.png", plain(0.2f, 0.4f, 0.6f));
    put("new/b/c/1.PNG", plain(1, 1, 1));
    put("new/b/c/d/e/deep.png", plain(0, 0, 0));
    put("new/.hidden.png", plain(1, 1, 1));
    writeBytes(m_folder->filePath("new/1.jpg").toStdString(), "no picture");
    TaskConfig config = task();
    config.path = m_folder->filePath("old").toStdString();
    config.mean = "auto";
    config.predictFile = m_folder->filePath("new").toStdString();
    const auto data = makeDataset(config, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{2});
    QCOMPARE(data->samples(Split::Validation), int64_t{4});
    QCOMPARE(newPicturesAt(config.predictFile).names,
             (std::vector<std::string>{"1.jpg", "2.png", "b/c/1.PNG", "b/c/d/e/deep.png"}));
    Batch batch = Batch::of(data->tensors(), 3);
    const auto unread = data->read(Split::Validation, std::array<int64_t, 3>{0, 1, 2}, batch);
    QCOMPARE(unread.size(), size_t{1}); // although data.damaged is refuse
    QCOMPARE(unread[0].row, size_t{0});
    QVERIFY(unread[0].why.english().find("1.jpg") != std::string::npos);
    const auto x = batch.floats(kX).subspan(3 * kPixels);
    QCOMPARE(x[0], 51 / 255.f - 0.5f); // of the training pictures, red is 1 and 0
    QCOMPARE(x[kPixels], 102 / 255.f);
    QCOMPARE(x[3 * kPixels], 0.5f);
    // factsOf() would return what makeDataset() found
    QCOMPARE(infoOf(config.kind).facts(config).validation, int64_t{4});
    config.predictFile += "/2.png";
    QCOMPARE(makeDataset(config, 0)->samples(Split::Validation), int64_t{1});
}

void TestPictures::refusesToPredict() {
    put("a/1.png", plain(1, 0, 0));
    put("b/1.png", plain(0, 0, 1));
    TaskConfig config = task();
    const auto refused = [&](const QString& name) {
        config.predictFile = m_folder->filePath(name).toStdString();
        return thrownBy<InputError>([&] { makeDataset(config, 0); });
    };
    const std::string folder = m_folder->path().toStdString() + "/";
    QCOMPARE(refused("gone"), folder + "gone cannot be read: No such file or directory");
    QDir().mkpath(m_folder->filePath("empty/empty"));
    QCOMPARE(refused("empty"), folder + "empty: there are no .png or .jpg pictures in the folder "
                                        "or in the folders below it");
    writeBytes(m_folder->filePath("notes.txt").toStdString(), "no picture");
    QCOMPARE(refused("notes.txt"), folder + "notes.txt is not allowed: a .png or .jpg picture, or "
                                            "a folder of such pictures");
}

void TestPictures::values_data() {
    QTest::addColumn<int>("inFile");
    QTest::addColumn<bool>("grey");
    QTest::newRow("colours") << 3 << false;
    QTest::newRow("grey file") << 1 << false;
    QTest::newRow("grey") << 1 << true;
}

/// Values are planes of channels, bytes over 255.
void TestPictures::values() {
    QFETCH(const int, inFile);
    QFETCH(const bool, grey);
    put("a/1.png", picture(inFile));
    put("b/1.png", plain(1, 0.5f, 0));
    TaskConfig config = task();
    config.grey = grey;
    const Batch batch = allOf(*makeDataset(config, 0), Split::Train);
    const auto x = batch.floats(kX);
    const int channels = grey ? 1 : 3;
    QCOMPARE(x.size(), static_cast<size_t>(2 * channels * kPixels));
    for (int c = 0; c < channels; ++c)
        for (int p = 0; p < kPixels; ++p)
            QCOMPARE(x[static_cast<size_t>(c * kPixels + p)],
                     static_cast<float>((inFile == 3 ? 10 * c : 0) + p) / 255);
    // the second pixel: 255, 128 and 0, or their luma 0.299 x 255 + 0.587 x 128 = 151.4
    QCOMPARE(x[static_cast<size_t>(channels * kPixels)], grey ? 151.0f / 255 : 1.0f);
    if (!grey) QCOMPARE(x[static_cast<size_t>(4 * kPixels)], 128.0f / 255);
}

void TestPictures::heldBack() {
    for (int i = 0; i < 10; ++i)
        put(QString("%1/%2.png").arg(i % 2 ? "a" : "b").arg(i), plain(0.1f * float(i), 0, 0));
    TaskConfig config = task();
    config.validation = 0.3;
    const auto data = makeDataset(config, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{7});
    QCOMPARE(data->samples(Split::Validation), int64_t{3});
    std::vector<float> seen;
    for (const Split split : {Split::Train, Split::Validation}) {
        const Batch batch = allOf(*data, split);
        for (int64_t i = 0; i < batch.rows(); ++i)
            seen.push_back(batch.floats(kX)[static_cast<size_t>(3 * kPixels * i)]);
    }
    std::sort(seen.begin(), seen.end());
    QVERIFY(std::adjacent_find(seen.begin(), seen.end()) == seen.end()); // each once
}

void TestPictures::decodesOnce() {
    put("a/1.png", picture(3));
    put("b/1.png", plain(1, 0, 0));
    const auto data = makeDataset(task(), 0);
    const Batch first = allOf(*data, Split::Train);
    QVERIFY(QDir(m_folder->filePath("a")).removeRecursively());
    const Batch again = allOf(*data, Split::Train);
    QCOMPARE(again.tensors[kX].bytes, first.tensors[kX].bytes);
}

void TestPictures::sameBatchesWithWorkers() {
    for (int i = 0; i < 20; ++i)
        put(QString("%1/%2.png").arg(i % 3).arg(i), plain(0.05f * float(i), 0, 0.5f));
    RunConfig config = presetNamed("mnist-mlp").config;
    config.task = task();
    config.task.batch = 8;
    const auto alone = makeTask(config);
    config.data.workers = 3;
    const auto helped = makeTask(config);
    for (int64_t step = 1; step <= 9; ++step) {
        const auto a = alone->load(step), b = helped->load(step);
        QCOMPARE(a->tensors[kX].bytes, b->tensors[kX].bytes);
        QCOMPARE(a->tensors[kTarget].bytes, b->tensors[kTarget].bytes);
    }
}

void TestPictures::damagedFile() {
    put("a/1.png", picture(3));
    put("b/1.png", picture(3));
    const std::string broken = m_folder->filePath("b/2.png").toStdString();
    writeBytes(broken, "\x89PNG\r\n\x1a\nno more");
    RunConfig config = presetNamed("mnist-mlp").config;
    config.task = task();
    config.task.batch = 3;
    for (const int64_t workers : {0, 2}) {
        config.data.workers = workers;
        const auto data = makeTask(config);
        const std::string error = thrownBy<InputError>([&] { data->load(1); });
        QVERIFY2(error.starts_with(broken + ": "), error.c_str());
    }
}

void TestPictures::damagedFilesAreSkipped_data() {
    QTest::addColumn<int>("workers");
    for (const int workers : {0, 1, 3})
        QTest::addRow("%d workers", workers) << workers;
}

/// The next sample of the epoch replaces a damaged one, with any number of workers.
void TestPictures::damagedFilesAreSkipped() {
    QFETCH(const int, workers);
    for (int i = 0; i < 8; ++i)
        put(QString("%1/%2.png").arg(i % 2).arg(i), plain(0.1f * float(i), 0, 0));
    const std::string broken = m_folder->filePath("0/2.png").toStdString();
    writeBytes(broken, "\x89PNG\r\n\x1a\nno more");
    RunConfig config = presetNamed("mnist-mlp").config;
    config.task = task();
    config.task.damaged = Damaged::Skip;
    config.task.batch = 3;
    config.data.workers = workers;
    config.data.shuffle = false; // 0, 2, 4, 6, 1, 3, 5, 7
    const auto data = makeTask(config);
    const auto red = [&](int64_t step, size_t row) {
        return std::lround(10 * double{data->load(step)->floats(kX)[3 * kPixels * row]});
    };
    for (const int64_t epoch : {0, 1}) {
        const int64_t first = 3 * epoch + 1;
        QCOMPARE(red(first, 0), 0L);
        QCOMPARE(red(first, 1), 6L); // the one after 0, 2, 4
        QCOMPARE(red(first, 2), 4L);
        QCOMPARE(red(first + 1, 0), 6L);
        QCOMPARE(data->load(first)->skipped.size(), size_t{1});
        QVERIFY(data->load(first)->skipped[0].english().starts_with(broken + ": "));
        QVERIFY(data->load(first + 1)->skipped.empty());
    }
}

/// Each damaged file is named once, whichever epoch or validation meets it.
void TestPictures::damagedFilesAreEvents() {
    for (const char* part : {"train", "val"})
        for (int i = 0; i < 8; ++i)
            put(QString("%1/%2/%3.png").arg(part).arg(i % 2).arg(i), plain(0.1f * float(i), 0, 0));
    for (const char* name : {"train/0/2.png", "val/1/3.png"})
        writeBytes(m_folder->filePath(name).toStdString(), "no picture");
    RunConfig config = presetNamed("mnist-mlp").config;
    config.task = task();
    config.task.damaged = Damaged::Skip;
    config.task.batch = 4;
    config.device = "cpu";
    config.epochs = 3;
    Experiment experiment(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    for (int step = 0; step < 6; ++step)
        QVERIFY(experiment.advance(records, events));
    QStringList named;
    for (const Event& event : events) {
        if (event.kind != EventKind::Damaged) continue;
        QCOMPARE(event.lane, -1);
        named << QString::fromStdString(event.text.english());
    }
    QCOMPARE(named.size(), 2);
    QVERIFY2(named[0].contains("train/0/2.png: neither a PNG nor a JPEG picture. Another sample "
                               "took its place."),
             qPrintable(named[0]));
    QVERIFY2(named[1].startsWith("Step 2: ") && named[1].contains("val/1/3.png"),
             qPrintable(named[1]));
    QVERIFY2(named[1].endsWith("Validation leaves it out."), qPrintable(named[1]));
    config.task.damaged = Damaged::Refuse;
    QVERIFY(
        thrownBy<InputError>([&] {
            Experiment refused(config);
            for (int step = 0; step < 2; ++step)
                refused.advance(records, events);
        })
            .ends_with("2.png: neither a PNG nor a JPEG picture; to go on without such samples, "
                       "set data.damaged to skip"));
}

/// The gallery has the colours of the files, whatever the network is shown.
void TestPictures::galleryShowsPixels() {
    put("a/1.png", plain(0.2f, 0.4f, 0.6f));
    put("b/1.png", plain(1, 0.8f, 0));
    TaskConfig config = task();
    config.mean = "0.5, 0.25, 0.1";
    config.deviation = "0.25, 2, 0.5";
    const auto gallery = galleryOf(*makeDataset(config, 0));
    QVERIFY(gallery && gallery->samples.floats(kX)[0] < -1); // (0.2 - 0.5) / 0.25
    const Picture shown = galleryWithMistakes(*gallery, std::array{1.0f, 0.0f, 0.0f, 1.0f}, {});
    constexpr int kMargin = 2, kRoomForDigit = 5, kTwoDigits = 14;
    const auto pixel = [&](int sample, size_t channel) {
        const int x = kRoomForDigit, y = sample * std::max(kPictureSide + 2 * kMargin, kTwoDigits) +
                                         kMargin; // one below the other
        return shown.values[static_cast<size_t>(y * shown.width + x) * 3 + channel];
    };
    const std::array<std::array<float, 3>, 2> colours{{{0.2f, 0.4f, 0.6f}, {1, 0.8f, 0}}};
    for (int sample = 0; sample < 2; ++sample)
        for (size_t c = 0; c < 3; ++c) // a byte, and float32's rounding of it
            QVERIFY2(std::abs(pixel(sample, c) - colours[size_t(sample)][c]) < 1e-5f,
                     qPrintable(QString::number(pixel(sample, c))));
}

void TestPictures::mirrorsAndMoves_data() {
    QTest::addColumn<bool>("flip");
    QTest::addColumn<int>("crop");
    QTest::newRow("neither") << false << 0;
    QTest::newRow("mirror") << true << 0;
    QTest::newRow("move") << false << 2;
    QTest::newRow("both") << true << 1;
}

/// Every training sample is one of those that the random changes can make, all of these occur, and
/// validation samples do not change.
void TestPictures::mirrorsAndMoves() {
    QFETCH(const bool, flip);
    QFETCH(const int, crop);
    for (const char* name : {"train/a/1.png", "train/b/1.png", "val/a/1.png", "val/b/1.png"})
        put(name, picture(1));
    TaskConfig config = task();
    config.grey = true;
    config.flip = flip;
    config.crop = crop;
    const auto data = makeDataset(config, 3);
    QCOMPARE(data->varies(), flip || crop > 0);
    using Values = std::vector<int>;
    const auto valuesOf = [](const Batch& batch) {
        Values values;
        for (int p = 0; p < kPixels; ++p)
            values.push_back(int(std::lround(255 * batch.floats(kX)[size_t(p)])));
        return values;
    };
    std::set<Values> possible, seen;
    for (const bool mirrored : {false, true})
        for (int right = -crop; right <= crop; ++right)
            for (int down = -crop; down <= crop && (flip || !mirrored); ++down) {
                Values values;
                for (int y = 0; y < kPictureSide; ++y)
                    for (int x = 0; x < kPictureSide; ++x) {
                        const int fromY = y - down, shifted = x - right;
                        const bool in = fromY >= 0 && fromY < kPictureSide && shifted >= 0 &&
                                        shifted < kPictureSide;
                        const int fromX = mirrored ? kPictureSide - 1 - shifted : shifted;
                        values.push_back(in ? fromY * kPictureSide + fromX : 0);
                    }
                possible.insert(values);
            }
    Batch batch = Batch::of(data->tensors(), 2);
    for (int64_t epoch = 1; epoch <= 300; ++epoch) {
        data->read({Split::Train, epoch}, std::array<int64_t, 2>{0, 1}, batch);
        seen.insert(valuesOf(batch));
    }
    QCOMPARE(seen, possible);
    Values plainValues(kPixels);
    std::iota(plainValues.begin(), plainValues.end(), 0);
    data->read(Split::Train, std::array<int64_t, 2>{0, 1}, batch);
    QCOMPARE(valuesOf(batch), plainValues);
    for (int64_t epoch = 1; epoch <= 20; ++epoch) {
        data->read({Split::Validation, epoch}, std::array<int64_t, 2>{0, 1}, batch);
        QCOMPARE(valuesOf(batch), plainValues);
    }
}

/// Random changes are the same whoever reads, in whatever order and company.
void TestPictures::chanceIsOfSeedEpochAndSample() {
    for (int i = 0; i < 20; ++i)
        put(QString("%1/%2.png").arg(i % 3).arg(i), picture(3));
    RunConfig config = presetNamed("mnist-mlp").config;
    config.task = task();
    config.task.batch = 8;
    config.task.flip = true;
    config.task.crop = 2;
    const auto alone = makeTask(config);
    config.data.workers = 3;
    const auto helped = makeTask(config);
    for (const int64_t step : {7, 1, 2, 3, 9, 8})
        QCOMPARE(helped->load(step)->tensors[kX].bytes, alone->load(step)->tensors[kX].bytes);
    QVERIFY(alone->load(1)->tensors[kX].bytes != alone->load(4)->tensors[kX].bytes);
    config.seed = 1;
    QVERIFY(makeTask(config)->load(1)->tensors[kX].bytes != alone->load(1)->tensors[kX].bytes);
    config.data.shuffle = false;
    const auto seeds = [&](uint64_t seed) {
        config.seed = seed;
        return makeTask(config)->load(1)->tensors[kX].bytes;
    };
    QVERIFY(seeds(1) != seeds(2)); // not merely in another order
}

void TestPictures::meanAndDeviation_data() {
    QTest::addColumn<QString>("mean");
    QTest::addColumn<QString>("deviation");
    QTest::addColumn<double>("red"); // of the first sample
    QTest::addColumn<double>("blue");
    QTest::newRow("none") << ""
                          << "" << 0.2 << 1.0;
    QTest::newRow("one number") << "0.5"
                                << "0.25" << -1.2 << 2.0;
    QTest::newRow("by channel") << "0.2, 0.3,1"
                                << "0.5,1,2" << 0.0 << 0.0;
    QTest::newRow("mean alone") << "-1"
                                << "" << 1.2 << 2.0;
    // red is 0.2 and 0.6 in the training pictures, blue is 1 in both: its deviation is at least a
    // byte's step
    QTest::newRow("auto") << "auto"
                          << "auto" << -1.0 << 0.0;
    QTest::newRow("measured mean") << "auto"
                                   << "1" << -0.2 << 0.0;
}

/// Validation samples do not count for mean and deviation, but are scaled by them.
void TestPictures::meanAndDeviation() {
    QFETCH(const QString, mean);
    QFETCH(const QString, deviation);
    QFETCH(const double, red);
    QFETCH(const double, blue);
    put("train/a/1.png", plain(0.2f, 0, 1));
    put("train/b/1.png", plain(0.6f, 0, 1));
    put("val/a/1.png", plain(0.2f, 1, 1));
    TaskConfig config = task();
    config.mean = mean.toStdString();
    config.deviation = deviation.toStdString();
    const auto data = makeDataset(config, 0);
    const Batch trained = allOf(*data, Split::Train), judged = allOf(*data, Split::Validation);
    for (const Batch* batch : {&trained, &judged}) {
        QVERIFY(std::abs(double{batch->floats(kX)[0]} - red) < 1e-5);
        QVERIFY(std::abs(double{batch->floats(kX)[2 * kPixels]} - blue) < 1e-5);
    }
}

void TestPictures::refusesSettings_data() {
    QTest::addColumn<QString>("setting");
    QTest::addColumn<QString>("part");
    QTest::newRow("word") << "data.mean=half"
                          << "data.mean: \"half\" is not allowed: a number from";
    QTest::newRow("two") << "data.mean=0.1,0.2"
                         << "data.mean: \"0.1,0.2\" is not allowed";
    QTest::newRow("nan") << "data.mean=nan"
                         << "data.mean: \"nan\" is not allowed";
    QTest::newRow("0") << "data.std=0"
                       << "data.std: \"0\" is not allowed: a number from 0.000001";
    QTest::newRow("three for grey")
        << "data.mean=1,1,1"
        << "data.mean: 3 numbers are not allowed: one for all channels, or as many as there are "
           "channels (1)";
    QTest::newRow("crop") << "data.crop=3"
                          << "data.crop: 3 is not allowed: at most half of data.side, 2";
}

void TestPictures::refusesSettings() {
    QFETCH(const QString, setting);
    QFETCH(const QString, part);
    put("a/1.png", picture(1));
    put("b/1.png", picture(1));
    RunConfig config = presetNamed("mnist-mlp").config;
    config.task = task();
    config.task.grey = true;
    const std::string error = thrownBy<InputError>([&] {
        applySetting(config, setting.toStdString());
        makeTask(config);
    });
    QVERIFY2(QString::fromStdString(error).startsWith(part), error.c_str());
}

/// Facts are remembered: what was refused under one setting is examined again under another.
void TestPictures::refusesOnlyWhileSo() {
    put("a/1.png", picture(1));
    put("b/1.png", picture(1));
    TaskConfig config = task();
    config.grey = true;
    config.crop = 3;
    QVERIFY(isAbout(thrownBy<InputError>([&] { factsOf(config); }), "data.crop", "3"));
    config.crop = 1;
    QCOMPARE(factsOf(config).train, int64_t{2});
    config.mean = "1,1,1";
    QVERIFY(isAbout(thrownBy<InputError>([&] { factsOf(config); }), "data.mean", "3"));
    config.mean = "1";
    config.deviation = "1,1,1";
    QVERIFY(isAbout(thrownBy<InputError>([&] { factsOf(config); }), "data.std", "3"));
    config.deviation = "1";
    QCOMPARE(factsOf(config).train, int64_t{2});
}

void TestPictures::refuses_data() {
    QTest::addColumn<QStringList>("files");
    QTest::addColumn<QString>("part");
    QTest::newRow("empty") << QStringList{}
                           << "must have a folder of .png or .jpg pictures for each class";
    QTest::newRow("one class") << QStringList{"a/1.png"} << "2 to 10000 of them; it has 1";
    QTest::newRow("no classes") << QStringList{"1.png", "2.png"} << "it has 0";
}

void TestPictures::refuses() {
    QFETCH(const QStringList, files);
    QFETCH(const QString, part);
    for (const QString& file : files)
        put(file, picture(3));
    const TaskConfig config = task();
    for (const std::string& error : {thrownBy<InputError>([&] { makeDataset(config, 0); }),
                                     thrownBy<InputError>([&] { factsOf(config); })})
        QVERIFY2(isAbout(error, "data.path", part.toStdString()), error.c_str());
    TaskConfig none = config;
    none.path.clear();
    QVERIFY(isAbout(thrownBy<InputError>([&] { factsOf(none); }), "data.path", "missing"));
}

/// The changed file is two folders down: the configured folder and those in it do not change.
void TestPictures::mendedClass() {
    put("train/dog/1.png", picture(1));
    QDir(m_folder->path()).mkpath("train/cat");
    const std::string cat = m_folder->filePath("train/cat").toStdString();
    namespace fs = std::filesystem;
    fs::last_write_time(cat, fs::last_write_time(cat) - std::chrono::hours(1)); // clocks are coarse
    QVERIFY(isAbout(thrownBy<InputError>([&] { factsOf(task()); }), "data.path", "it has 1"));
    put("train/cat/1.png", picture(1));
    QCOMPARE(factsOf(task()).tensors[kTarget].classes, int64_t{2});
}

} // namespace tst_pictures

QTEST_APPLESS_MAIN(tst_pictures::TestPictures)
#include "tst_pictures.moc"
