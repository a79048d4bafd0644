// The data set of pictures in folders: classes, splits, values, and files that are none.
#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/io/picture.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <numeric>

using namespace halfscope;

namespace {

constexpr int kSide = 4;
constexpr int kPixels = kSide * kSide;

/// Value 10 c + p of 255 at pixel p of channel c.
Picture picture(int channels) {
    Picture made{kSide, kSide, channels, {}};
    for (int p = 0; p < kPixels; ++p)
        for (int c = 0; c < channels; ++c)
            made.values.push_back(static_cast<float>(10 * c + p) / 255);
    return made;
}

Picture plain(float red, float green, float blue) {
    Picture made{kSide, kSide, 3, {}};
    for (int p = 0; p < kPixels; ++p)
        made.values.insert(made.values.end(), {red, green, blue});
    return made;
}

std::vector<int64_t> allOf(int64_t count) {
    std::vector<int64_t> samples(static_cast<size_t>(count));
    std::iota(samples.begin(), samples.end(), 0);
    return samples;
}

Batch readAll(const Dataset& data, Split split) {
    Batch batch = Batch::of(data.tensors(), data.samples(split));
    const auto missing = data.read(split, allOf(data.samples(split)), batch);
    require(missing.empty(), "every sample is read");
    return batch;
}

} // namespace

class TestPictures : public QObject {
    Q_OBJECT
private slots:
    void init();
    void classesAreFolders();
    void splitFolders_data();
    void splitFolders();
    void unlabelledTestFolder();
    void values_data();
    void values();
    void heldBack();
    void decodesOnce();
    void sameBatchesWithWorkers();
    void damagedFile();
    void refuses_data();
    void refuses();

private:
    void put(const QString& name, const Picture& what) const {
        const QString path = m_folder->filePath(name);
        QDir().mkpath(QFileInfo(path).path());
        writePng(what, path.toStdString());
    }
    TaskConfig task() const {
        TaskConfig made;
        made.kind = TaskKind::Pictures;
        made.loss.kind = LossKind::CrossEntropy;
        made.path = m_folder->path().toStdString();
        made.pictureSide = kSide;
        made.validation = 0;
        return made;
    }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestPictures::init() { m_folder = std::make_unique<QTemporaryDir>(); }

/// In the order of their names; hidden ones and those without pictures do not count.
void TestPictures::classesAreFolders() {
    put("dog/2.png", picture(3));
    put("cat/b.PNG", picture(3));
    put("cat/a.png", picture(3));
    put("ant/1.jpeg", picture(3)); // a PNG all the same: its content decides
    put(".hidden/1.png", picture(3));
    QDir().mkpath(m_folder->filePath("empty"));
    writeBytes(m_folder->filePath("cat/notes.txt").toStdString(), "no picture");
    const auto data = makeDataset(task(), 0);
    QCOMPARE(data->view().classes, (std::vector<std::string>{"ant", "cat", "dog"}));
    QCOMPARE(data->tensors()[kTarget].classes, int64_t{3});
    QCOMPARE(data->samples(Split::Train), int64_t{4});
    const Batch batch = readAll(*data, Split::Train);
    const auto labels = batch.labels(kTarget);
    QCOMPARE(std::vector<int32_t>(labels.begin(), labels.end()),
             (std::vector<int32_t>{0, 1, 1, 2}));
    const DataFacts facts = factsOf(task());
    QCOMPARE(facts.train, int64_t{4});
    QCOMPARE(facts.tensors[kX].shape, (Shape{3, kSide, kSide}));
}

void TestPictures::splitFolders_data() {
    QTest::addColumn<QString>("judged");
    for (const char* name : {"val", "valid", "validation", "test"})
        QTest::newRow(name) << name;
}

void TestPictures::splitFolders() {
    QFETCH(const QString, judged);
    for (const char* name : {"train/a/1.png", "train/a/2.png", "train/b/1.png"})
        put(name, picture(3));
    put(judged + "/b/9.png", picture(3));
    TaskConfig config = task();
    config.validation = 0.9; // for those that are not split
    const auto data = makeDataset(config, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{3});
    QCOMPARE(data->samples(Split::Validation), int64_t{1});
    QCOMPARE(readAll(*data, Split::Validation).labels(kTarget)[0], 1);
    QCOMPARE(factsOf(config).validation, int64_t{1});
    put(judged + "/new/1.png", picture(3));
    const std::string error = thrownBy<InputError>([&] { makeDataset(config, 0); });
    QVERIFY2(error.find("the class \"new\" is not among those to train on") != std::string::npos,
             error.c_str());
}

/// Without classes to judge by, such as a test set without labels, a share is held back.
void TestPictures::unlabelledTestFolder() {
    for (const char* name : {"train/a/1.png", "train/a/2.png", "train/b/1.png", "test/3.png"})
        put(name, picture(3));
    TaskConfig config = task();
    config.validation = 0.34;
    const auto data = makeDataset(config, 0);
    QCOMPARE(data->view().classes, (std::vector<std::string>{"a", "b"}));
    QCOMPARE(data->samples(Split::Train), int64_t{2});
    QCOMPARE(data->samples(Split::Validation), int64_t{1});
}

void TestPictures::values_data() {
    QTest::addColumn<int>("inFile");
    QTest::addColumn<bool>("grey");
    QTest::newRow("colours") << 3 << false;
    QTest::newRow("grey file") << 1 << false;
    QTest::newRow("grey") << 1 << true;
}

/// Planes of channels, bytes over 255.
void TestPictures::values() {
    QFETCH(const int, inFile);
    QFETCH(const bool, grey);
    put("a/1.png", picture(inFile));
    put("b/1.png", plain(1, 0.5f, 0));
    TaskConfig config = task();
    config.grey = grey;
    const Batch batch = readAll(*makeDataset(config, 0), Split::Train);
    const auto x = batch.floats(kX);
    const int channels = grey ? 1 : 3;
    QCOMPARE(x.size(), static_cast<size_t>(2 * channels * kPixels));
    for (int c = 0; c < channels; ++c)
        for (int p = 0; p < kPixels; ++p)
            QCOMPARE(x[static_cast<size_t>(c * kPixels + p)],
                     static_cast<float>((inFile == 3 ? 10 * c : 0) + p) / 255);
    // the second one: 255, 128 and 0, or their luma 0.299 x 255 + 0.587 x 128 = 151.4
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
        const Batch batch = readAll(*data, split);
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
    const Batch first = readAll(*data, Split::Train);
    QVERIFY(QDir(m_folder->filePath("a")).removeRecursively());
    const Batch again = readAll(*data, Split::Train);
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

void TestPictures::refuses_data() {
    QTest::addColumn<QStringList>("files");
    QTest::addColumn<QString>("part");
    QTest::newRow("empty") << QStringList{} << "has 0 folders of .png or .jpg pictures";
    QTest::newRow("one class") << QStringList{"a/1.png"} << "has 1 folders";
    QTest::newRow("no classes") << QStringList{"1.png", "2.png"} << "has 0 folders";
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

QTEST_APPLESS_MAIN(TestPictures)
#include "tst_pictures.moc"
