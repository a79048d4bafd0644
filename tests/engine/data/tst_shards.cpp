// The data set of tar shards: its samples equal those of the same pictures in folders; workers,
// names, splits, readers that do not share, and damaged shards.
#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/ordinary_user.h"
#include "tests/support/picture_folder.h"
#include "tests/support/tar_files.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>

namespace tst_shards {

using namespace halfscope;
using namespace halfscope::test;

namespace {

std::string plainPng(float grey) {
    return pngBytes({kPictureSide, kPictureSide, 1, std::vector<float>(16, grey)});
}

std::string sampleFiles(const std::string& name, float grey, int label) {
    return tarFile(name + ".png", plainPng(grey)) + tarFile(name + ".cls", std::to_string(label));
}

} // namespace

class TestShards : public QObject, PictureFolder {
    Q_OBJECT
private slots:
    void init() { renew(); }
    void samples();
    void parts_data();
    void parts();
    void classesAreTold();
    void names();
    void oneFile();
    void sameBatchesWithWorkers();
    void readersThatDoNotShare_data();
    void readersThatDoNotShare();
    void samplesOfALostClassCountOnce();
    void opened();
    void openedWithMarksOfPatterns();
    void refuses_data();
    void refuses();
    void mendedShard();
    void looksOnce();
    void unreadableFolder();
    void damagedSample();
    void changedShard();
    void goneShards();
    void cutShard_data();
    void cutShard();
    void cutBehindAllPictures_data();
    void cutBehindAllPictures();
    void cutShardOpened();
    void cutInNoOrder();
    void noEndMark();

private:
    std::string path(const QString& name) const { return m_folder->filePath(name).toStdString(); }
    TaskConfig shards() const {
        TaskConfig made = task(TaskKind::Shards);
        made.grey = true;
        return made;
    }
    /// Writes two shards with samples 0 to 9; sample i is grey i / 10 and of class i % 3.
    void writeShards() const {
        std::string first, second;
        for (int i = 0; i < 10; ++i)
            (i < 6 ? first : second) +=
                sampleFiles("00" + std::to_string(i), 0.1f * float(i), i % 3);
        writeBytes(path("shard-1.tar"), second + tarEnd());
        writeBytes(path("shard-0.tar"), first + tarEnd());
    }
};

void TestShards::samples() {
    writeShards();
    TaskConfig config = shards();
    const auto data = makeDataset(config, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{10});
    QCOMPARE(data->tensors()[kX].shape, (Shape{1, kPictureSide, kPictureSide}));
    QCOMPARE(data->tensors()[kTarget].classes, int64_t{3});
    const Batch batch = allOf(*data);
    for (size_t i = 0; i < 10; ++i) { // shards by name, samples as they lie in them
        QVERIFY(std::abs(batch.floats(kX)[16 * i] - 0.1f * float(i)) < 0.003f);
        QCOMPARE(batch.labels(kTarget)[i], int(i % 3));
    }
    config.validation = 0.3;
    QCOMPARE(factsOf(config).train, int64_t{7});
    QCOMPARE(factsOf(config).validation, int64_t{3});
    QCOMPARE(makeDataset(config, 0)->samples(Split::Validation), int64_t{3});
}

void TestShards::parts_data() {
    QTest::addColumn<QStringList>("names"); // sample i is in shard i
    QTest::addColumn<int>("train");
    QTest::addColumn<QList<int>>("judged"); // their classes
    QTest::addColumn<int>("tested");
    QTest::addColumn<QString>("note");
    const auto row = [](const char* what, const QStringList& names, int train,
                        const QList<int>& judged, int tested, const char* note) {
        QTest::newRow(what) << names << train << judged << tested << note;
    };
    row("validation", {"train-0", "val-0", "train-1"}, 2, {1}, 0,
        "Samples to validate on: 1, those of val-0.tar. None of the others are held back.");
    row("test alone", {"digits_test_0", "digits_TRAIN_0"}, 1, {0}, 0,
        "Samples to validate on: 1, those of digits_test_0.tar.");
    row("both", {"test", "train", "valid"}, 1, {2}, 1,
        "Samples for the test at the end: 1, those of test.tar. Validation");
    row("others are trained on", {"a", "validation-0", "b", "validation-1"}, 2, {1, 3}, 0,
        "Samples to validate on: 2, those of validation-0.tar, validation-1.tar.");
    row("none to train on", {"val-0", "test-0"}, 2, {}, 0, "");
    row("other words", {"trains", "values"}, 2, {}, 0, "");
}

/// Shards to validate on lie beside those to train on, as Hugging Face has them. Without
/// sortByPart(), all are trained on.
void TestShards::parts() {
    QFETCH(const QStringList, names);
    for (int i = 0; i < names.size(); ++i)
        writeBytes(path(names[i] + ".tar"), sampleFiles("1", 0.1f * float(i), i) + tarEnd());
    const auto data = makeDataset(shards(), 0);
    QTEST(int(data->samples(Split::Train)), "train");
    const int64_t judged = data->samples(Split::Validation);
    QList<int> classes;
    if (judged > 0) {
        const Batch batch = allOf(*data, Split::Validation);
        const auto labels = batch.labels(kTarget);
        classes = QList<int>(labels.begin(), labels.end());
    }
    QTEST(classes, "judged");
    QFETCH(const int, tested);
    QCOMPARE(data->test() ? int(data->test()->samples(Split::Validation)) : 0, tested);
    QCOMPARE(data->files().size(), size_t(names.size() - tested));
    QFETCH(const QString, note);
    const DataFacts facts = infoOf(TaskKind::Shards).facts(shards());
    for (const std::vector<Message>& notes : {data->notes(), facts.notes})
        QVERIFY(note.isEmpty() || std::ranges::any_of(notes, [&](const Message& each) {
                    return each.english().starts_with(note.toStdString());
                }));
    QCOMPARE(facts.train, data->samples(Split::Train));
    QCOMPARE(facts.validation, judged + tested);
    QCOMPARE(facts.test, int64_t{tested});
    const PythonData script = infoOf(TaskKind::Shards).python(shards(), names.size());
    QCOMPARE(script.tests, tested > 0);
    QCOMPARE(script.code.find("read(parts[\"tra\"])") != std::string::npos, judged > 0);
}

void TestShards::classesAreTold() {
    std::string shard;
    for (int i = 0; i < 6; ++i)
        shard += sampleFiles("00" + std::to_string(i), 0.1f * float(i), 1 + i % 3);
    writeBytes(path("a.tar"), shard + tarEnd());
    const std::vector<Message> notes = makeDataset(shards(), 0)->notes();
    QCOMPARE(notes.size(), size_t{1});
    QCOMPARE(notes[0].english(),
             std::string("No sample to train or validate on has the class 0, from which classes "
                         "are counted. If the labels count from 1, subtract 1 from each of "
                         "them."));
    QCOMPARE(infoOf(TaskKind::Shards).facts(shards()).notes, notes);
}

/// A sample's name ends at the first dot of its file; its other files do not count.
void TestShards::names() {
    writeBytes(path("a.tar"),
               tarFile("one/7.json", "{}") + tarFile("one/7.cls", " 1\r\n") +
                   tarFile("two/7.cls", "0") + tarFile("one/7.seg.png", "no picture") +
                   tarFile("one/7.PNG", plainPng(1)) + tarFile("two/7.jpeg", plainPng(0)) +
                   tarFile("other.txt", "") + tarEnd());
    const auto data = makeDataset(shards(), 0);
    QCOMPARE(data->samples(Split::Train), int64_t{2});
    Batch batch = Batch::of(data->tensors(), 2);
    data->read(Split::Train, std::array<int64_t, 2>{0, 1}, batch);
    QCOMPARE(batch.floats(kX)[0], 1.0f);
    QCOMPARE(batch.labels(kTarget)[0], 1);
    QCOMPARE(batch.floats(kX)[16], 0.0f);
    QCOMPARE(batch.labels(kTarget)[1], 0);
}

void TestShards::oneFile() {
    writeShards();
    TaskConfig config = shards();
    config.path = path("shard-1.tar");
    QCOMPARE(makeDataset(config, 0)->samples(Split::Train), int64_t{4});
}

/// With workers, no sample comes twice or is missing in an epoch, and the batches are the same.
void TestShards::sameBatchesWithWorkers() {
    writeShards();
    RunConfig config = presetNamed("mnist-mlp").config;
    config.task = shards();
    config.task.batch = 3;
    const auto alone = makeTask(config);
    config.data.workers = 3;
    const auto helped = makeTask(config);
    std::multiset<long> seen;
    for (int64_t step = 1; step <= 8; ++step) {
        const auto a = alone->load(step), b = helped->load(step);
        QCOMPARE(b->tensors[kX].bytes, a->tensors[kX].bytes);
        for (int64_t row = 0; row < b->rows(); ++row)
            seen.insert(std::lround(10 * b->floats(kX)[size_t(16 * row)]));
    }
    for (long i = 0; i < 10; ++i)
        QCOMPARE(seen.count(i), size_t{2});
}

void TestShards::samplesOfALostClassCountOnce() {
    std::string shard;
    for (int i = 0; i < 8; ++i) {
        const std::string name = std::to_string(i);
        shard += i < 6 ? sampleFiles(name, 0.1f * float(i), i % 2)
                       : tarFile(name + ".png", "") + tarFile(name + ".cls", "2");
    }
    writeBytes(path("shard-0.tar"), shard + tarEnd());
    TaskConfig config = shards();
    config.damaged = Damaged::Skip;
    config.shardReaders = 3;
    const std::atomic<bool> stop{false};
    const std::vector<Message> lost = makeDataset(config, 0)->lostClasses(stop);
    QCOMPARE(lost.size(), size_t{1});
    QCOMPARE(lost[0].english(),
             std::string("no sample to train on of the class \"2\" can be read (it has 2)"));
}

void TestShards::readersThatDoNotShare_data() {
    QTest::addColumn<int>("readers");
    QTest::newRow("one") << 1;
    QTest::newRow("three") << 3;
}

/// When readers do not share, an epoch has each sample once for each reader, and validation samples
/// once.
void TestShards::readersThatDoNotShare() {
    QFETCH(const int, readers);
    writeShards();
    RunConfig config = presetNamed("mnist-mlp").config;
    config.task = shards();
    config.task.validation = 0.2;
    config.task.batch = 4;
    config.task.shardReaders = readers;
    QCOMPARE(factsOf(config.task).train, int64_t{8 * readers});
    const auto data = makeTask(config);
    QCOMPARE(data->stepsPerEpoch(), int64_t{2 * readers});
    QCOMPARE(data->dataset().samples(Split::Validation), int64_t{2});
    std::map<long, int> seen;
    for (int64_t step = 1; step <= data->stepsPerEpoch(); ++step)
        for (size_t row = 0; row < 4; ++row)
            ++seen[std::lround(10 * data->load(step)->floats(kX)[16 * row])];
    QCOMPARE(seen.size(), size_t{8});
    for (const auto& [sample, count] : seen)
        QCOMPARE(count, readers);
    const auto notes = factsOf(config.task).notes; // the first ones are about the classes
    const bool told = notes.back().english().find("every shard") != std::string::npos;
    QCOMPARE(told, readers > 1);
    if (told)
        QCOMPARE(notes.back().english(),
                 std::string("3 readers each read every shard, so an epoch has 24 "
                             "samples: each of the 8 samples 3 times."));
}

void TestShards::opened() {
    writeShards();
    for (const std::string& opened : {m_folder->path().toStdString(), path("shard-0.tar")}) {
        const auto config = experimentOn(opened);
        QVERIFY(config);
        QCOMPARE(config->task.kind, TaskKind::Shards);
        QCOMPARE(config->task.path, opened);
        QCOMPARE(config->task.loss.kind, LossKind::CrossEntropy);
        checkConfig(*config);
    }
}

/// What looks like a pattern may be the name of a file.
void TestShards::openedWithMarksOfPatterns() {
    std::string samples;
    for (int i = 0; i < 20; ++i)
        samples += sampleFiles("0" + std::to_string(i), 0.5f, i % 2);
    for (const char* name : {"a{1}.tar", "a*.tar", "a?.tar", "a[01].tar"}) {
        const QString error =
            QString::fromStdString(thrownBy<InputError>([&] { experimentOn(path(name)); }));
        QVERIFY2(error.endsWith("there is no such file; to train on several shards, name the "
                                "folder of the shards"),
                 qPrintable(error));
        writeBytes(path(name), samples + tarEnd());
        const auto config = experimentOn(path(name));
        QVERIFY(config);
        QCOMPARE(config->task.path, path(name));
    }
}

void TestShards::refuses_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("part");
    const auto row = [](const char* what, const std::string& bytes, const char* part) {
        QTest::newRow(what) << QByteArray::fromStdString(bytes) << part;
    };
    const std::string good = sampleFiles("1", 1, 0);
    row("no samples", tarFile("a.txt", "") + tarEnd(),
        "such as 000001.png and 000001.cls; it has others, such as a.txt");
    row("no class", good + tarFile("2.png", plainPng(0)) + tarEnd(),
        "a.tar: the sample 2 has a picture but no class: 2.cls is missing");
    row("no picture", good + tarFile("2.cls", "0") + tarFile("2.webp", "") + tarEnd(),
        "no picture: 2.png or 2.jpg is missing; what it has in its place is not read: 2.webp");
    row("twice", good + good + tarEnd(), "a.tar: 1.png is a second picture of its sample");
    row("two classes", good + tarFile("1.cls", "0") + tarEnd(), "1.cls is a second class");
    row("class of words", good + tarFile("2.cls", "cat") + tarEnd(),
        "a.tar: 2.cls has the class \"cat\": a whole number from 0 to 9999 is allowed");
    row("negative class", good + tarFile("2.cls", "-1") + tarEnd(), "has the class \"-1\"");
    row("class too high", good + tarFile("2.cls", "10000") + tarEnd(), "has the class \"10000\"");
    row("long class", good + tarFile("2.cls", std::string(65, '1')) + tarEnd(),
        "at most 64 are read");
    row("ends early", good + tarFile("2.png", std::string(600, 'x')).substr(0, 600),
        "a.tar, byte 2048: 2.png has");
    row("no end", good + std::string(100, 'x'),
        "a.tar, byte 2048: the archive ends early: its end marker is missing; to go on without "
        "such samples, set data.damaged to skip");
}

void TestShards::refuses() {
    QFETCH(const QByteArray, bytes);
    QFETCH(const QString, part);
    writeBytes(path("a.tar"), bytes.toStdString());
    const std::string error = thrownBy<InputError>([&] { makeDataset(shards(), 0); });
    QVERIFY2(error.find(part.toStdString()) != error.npos, error.c_str());
    QCOMPARE(thrownBy<InputError>([&] { factsOf(shards()); }), error);
}

/// The shard is repaired in place, as by a copy that continues.
void TestShards::mendedShard() {
    const std::string shard = path("a.tar"), good = sampleFiles("1", 1, 0);
    const size_t half = good.size() - 600; // in the header of the class
    writeBytes(shard, good.substr(0, half));
    const std::string error = thrownBy<InputError>([&] { factsOf(shards()); });
    QVERIFY2(error.find("end marker") != error.npos, error.c_str());
    QFile file(QString::fromStdString(shard));
    QVERIFY(file.open(QIODevice::Append));
    file.write(QByteArray::fromStdString(good.substr(half) + tarEnd()));
    file.close();
    QCOMPARE(factsOf(shards()).train, int64_t{1});
}

/// Other settings for unchanged shards need no second look into them.
void TestShards::looksOnce() {
    const std::string shard = path("a.tar");
    const auto classes = [&](double validation) {
        TaskConfig config = shards();
        config.validation = validation;
        return factsOf(config).tensors[kTarget].classes;
    };
    writeBytes(shard, sampleFiles("1", 1, 0) + sampleFiles("2", 1, 3) + tarEnd());
    struct stat before {};
    QCOMPARE(::stat(shard.c_str(), &before), 0);
    QCOMPARE(classes(0), int64_t{4});
    QFile file(QString::fromStdString(shard));
    QVERIFY(file.open(QIODevice::ReadWrite));
    file.write(QByteArray::fromStdString(sampleFiles("1", 1, 0) + sampleFiles("2", 1, 8)));
    file.close();
    const std::array times{before.st_atim, before.st_mtim};
    QCOMPARE(::utimensat(AT_FDCWD, shard.c_str(), times.data(), 0), 0);
    QCOMPARE(classes(0.1), int64_t{4}); // as if it were the same
    QCOMPARE(::utimensat(AT_FDCWD, shard.c_str(), nullptr, 0), 0);
    QCOMPARE(classes(0.2), int64_t{9});
}

void TestShards::unreadableFolder() {
    QVERIFY(QDir(m_folder->path()).mkdir("closed"));
    const QString folder = m_folder->filePath("closed");
    QVERIFY(QFile(folder).setPermissions({}));
    QFile(m_folder->path()).setPermissions(QFile::Permissions(0x7755));
    TaskConfig config = shards();
    config.path = folder.toStdString();
    const OrdinaryUser user;
    if (!user.holds()) QSKIP("nothing is closed to this user");
    for (const TaskKind kind : {TaskKind::Shards, TaskKind::Pictures}) {
        config.kind = kind;
        QCOMPARE(thrownBy<InputError>([&] { factsOf(config); }),
                 "data.path: " + config.path + " cannot be read: Permission denied");
    }
}

void TestShards::damagedSample() {
    writeBytes(path("a.tar"), sampleFiles("1", 1, 0) + tarFile("2.png", std::string(600, 'x')) +
                                  tarFile("2.cls", "1") + sampleFiles("3", 0.5f, 1) + tarEnd());
    RunConfig config = presetNamed("mnist-mlp").config;
    config.task = shards();
    config.task.batch = 2;
    config.data.shuffle = false;
    const std::string name = path("a.tar") + ": 2.png: neither a PNG nor a JPEG picture";
    const auto refused = makeTask(config);
    QCOMPARE(thrownBy<InputError>([&] { refused->load(1); }),
             name + "; to go on without such samples, set data.damaged to skip");
    config.task.damaged = Damaged::Skip;
    const auto told = [&config] {
        QStringList all;
        for (const Message& note : makeDataset(config.task, 0)->notes())
            all << QString::fromStdString(note.english());
        return all.filter("cannot be decoded and are left out: 1 of ").size();
    };
    QCOMPARE(told(), 1);
    const auto skipped = makeTask(config)->load(1);
    QCOMPARE(skipped->skipped.at(0).english(), name);
    QCOMPARE(skipped->floats(kX)[16], 128.0f / 255);
    writeBytes(path("a.tar"), sampleFiles("1", 1, 0) + sampleFiles("2", 0, 1) +
                                  sampleFiles("3", 0.5f, 1) + tarEnd());
    QCOMPARE(told(), 0); // with as many samples, it is looked at anew
}

/// A shard that disappears or gets shorter during the training is named.
void TestShards::changedShard() {
    writeShards();
    const auto data = makeDataset(shards(), 0);
    Batch one = Batch::of(data->tensors(), 1);
    writeBytes(path("shard-0.tar"), std::string(1024, '\0'));
    QFile::remove(m_folder->filePath("shard-1.tar"));
    for (const int64_t sample : {1, 8}) {
        const std::string error =
            thrownBy<InputError>([&] { data->read(Split::Train, std::span(&sample, 1), one); });
        QVERIFY2(
            error.starts_with(path(sample == 1 ? "shard-0.tar, byte " : "shard-1.tar: cannot")),
            error.c_str());
    }
}

/// Damaged samples are skipped, but shards that are gone with their folder are no damage.
void TestShards::goneShards() {
    writeShards();
    TaskConfig config = shards();
    config.damaged = Damaged::Skip;
    const auto all = makeDataset(config, 0);
    config.path = path("shard-1.tar");
    const auto single = makeDataset(config, 0);
    Batch one = Batch::of(all->tensors(), 1);
    const int64_t second = 1, last = 9;
    QVERIFY(QFile::remove(m_folder->filePath("shard-1.tar")));
    QCOMPARE(all->read(Split::Train, std::span(&last, 1), one).size(), size_t{1});
    QCOMPARE(thrownBy<InputError>([&] { single->read(Split::Train, std::span(&second, 1), one); }),
             "data.path: " + path("shard-1.tar") + " cannot be read: No such file or directory");
    const std::string folder = m_folder->path().toStdString();
    QVERIFY(QDir(m_folder->path()).removeRecursively());
    QCOMPARE(thrownBy<InputError>([&] { all->read(Split::Train, std::span(&second, 1), one); }),
             "data.path: " + folder + " cannot be read: No such file or directory");
}

void TestShards::cutShard_data() {
    QTest::addColumn<int>("left"); // bytes
    QTest::addColumn<int>("whole");
    constexpr int kBlock = 512;
    const int sample = static_cast<int>(sampleFiles("0", 0.5f, 0).size());
    QTest::newRow("in a picture") << 2 * sample + kBlock + 20 << 2;
    QTest::newRow("in a header") << 2 * sample + 100 << 2;
    QTest::newRow("behind a picture") << 3 * sample - 2 * kBlock << 2;
    QTest::newRow("in the padding") << 3 * sample - 100 << 3;
    QTest::newRow("in the first") << 100 << 0;
}

/// Of a shard that a copy has left half, the whole samples are used where damage is skipped.
void TestShards::cutShard() {
    QFETCH(const int, left);
    QFETCH(const int, whole);
    std::string bytes;
    for (int i = 0; i < 3; ++i)
        bytes += sampleFiles(std::to_string(i), 0.5f, i);
    writeBytes(path("0.tar"), bytes.substr(0, static_cast<size_t>(left)));
    writeBytes(path("1.tar"), sampleFiles("3", 1, 0) + sampleFiles("4", 1, 1) + tarEnd());
    TaskConfig config = shards();
    const std::string refused = thrownBy<InputError>([&] { factsOf(config); });
    QVERIFY2(refused.starts_with(path("0.tar") + ", byte "), refused.c_str());
    config.damaged = Damaged::Skip;
    const auto data = makeDataset(config, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{whole + 2});
    QCOMPARE(data->tensors()[kTarget].classes, int64_t{whole == 3 ? 3 : 2});
    std::vector<int64_t> all(static_cast<size_t>(whole) + 2);
    std::iota(all.begin(), all.end(), 0);
    Batch batch = Batch::of(data->tensors(), whole + 2);
    QVERIFY(data->read(Split::Train, all, batch).empty());
    QCOMPARE(batch.floats(kX)[16 * static_cast<size_t>(whole)], 1.0f); // of the other shard
    const std::string told = path("0.tar") + " ends early at byte " + std::to_string(left) +
                             "; the samples before it, " + std::to_string(whole) + ", are used.";
    const std::vector<Message> notes = data->notes();
    QCOMPARE(std::ranges::count(notes, told, &Message::english), 1);
    config.damaged = Damaged::Refuse; // as before, although the shards are known by now
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(config, 0); }), refused);
}

void TestShards::cutBehindAllPictures_data() {
    QTest::addColumn<int>("lost"); // bytes of the part with the classes
    QTest::addColumn<int>("whole");
    const int each = static_cast<int>(tarFile("0.cls", "0").size());
    QTest::newRow("in the last class") << each - 100 << 3;
    QTest::newRow("between two classes") << 2 * each << 2;
    QTest::newRow("before all classes") << 4 * each << 0;
    QTest::newRow("in the last picture") << 4 * each + 600 << 0;
}

/// Of a shard with all pictures before all classes, a cut takes the classes of several samples.
void TestShards::cutBehindAllPictures() {
    QFETCH(const int, lost);
    QFETCH(const int, whole);
    std::string pictures, classes;
    for (int i = 0; i < 4; ++i) {
        pictures += tarFile(std::to_string(i) + ".png", plainPng(0.2f * float(i)));
        classes += tarFile(std::to_string(i) + ".cls", std::to_string(i % 2));
    }
    const std::string bytes = pictures + classes;
    const size_t left = bytes.size() - static_cast<size_t>(lost);
    writeBytes(path("0.tar"), sampleFiles("a", 1, 0) + sampleFiles("b", 1, 1) + tarEnd());
    writeBytes(path("1.tar"), bytes.substr(0, left));
    TaskConfig config = shards();
    const std::string refused = thrownBy<InputError>([&] { factsOf(config); });
    QVERIFY2(refused.ends_with("set data.damaged to skip"), refused.c_str());
    config.damaged = Damaged::Skip;
    const auto data = makeDataset(config, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{whole + 2});
    const std::string told = path("1.tar") + " ends early at byte " + std::to_string(left) +
                             "; the samples before it, " + std::to_string(whole) + ", are used.";
    QCOMPARE(std::ranges::count(data->notes(), told, &Message::english), 1);
}

/// As with pictures that cannot be decoded, opening the data goes on without what is lost.
void TestShards::cutShardOpened() {
    std::string samples;
    for (int i = 0; i < 20; ++i)
        samples += sampleFiles("0" + std::to_string(i), 0.5f, i % 2);
    writeBytes(path("0.tar"), samples.substr(0, samples.size() - 600));
    writeBytes(path("1.tar"), samples + tarEnd());
    const auto config = experimentOn(m_folder->path().toStdString());
    QVERIFY(config);
    QCOMPARE(config->task.damaged, Damaged::Skip);
    const DataFacts facts = factsOf(config->task);
    QCOMPARE(facts.train + facts.validation, int64_t{39});
}

/// Of a shard with its files in the order of a folder on disk, which is none, a cut may take a part
/// of any sample.
void TestShards::cutInNoOrder() {
    const std::string files = tarFile("2.png", plainPng(0.5f)) + tarFile("1.cls", "1") +
                              tarFile("3.cls", "0") + tarFile("1.png", plainPng(1)) +
                              tarFile("3.png", plainPng(0)) + tarFile("2.cls", "2");
    writeBytes(path("a.tar"), files.substr(0, files.size() - 600));
    writeBytes(path("b.tar"), sampleFiles("4", 1, 0) + tarEnd());
    TaskConfig config = shards();
    const std::string refused = thrownBy<InputError>([&] { factsOf(config); });
    QVERIFY2(refused.ends_with("set data.damaged to skip"), refused.c_str());
    config.damaged = Damaged::Skip;
    const auto data = makeDataset(config, 0);
    const Batch all = allOf(*data);
    const auto labels = all.labels(kTarget);
    QCOMPARE(std::vector<int32_t>(labels.begin(), labels.end()), (std::vector<int32_t>{1, 0, 0}));
    for (size_t sample = 0; sample < 3; ++sample)
        QCOMPARE(all.floats(kX)[16 * sample], sample == 1 ? 0.0f : 1.0f);
    const std::string told = path("a.tar") + " ends early at byte " +
                             std::to_string(files.size() - 600) +
                             "; the samples before it, 2, are used.";
    QCOMPARE(std::ranges::count(data->notes(), told, &Message::english), 1);
}

/// A shard that ends between two samples may be whole: some programs write no end mark.
void TestShards::noEndMark() {
    std::string samples;
    for (int i = 0; i < 20; ++i)
        samples += sampleFiles("0" + std::to_string(i), 0.5f, i % 2);
    writeBytes(path("a.tar"), samples);
    for (const Damaged damaged : {Damaged::Refuse, Damaged::Skip}) {
        TaskConfig config = shards();
        config.damaged = damaged;
        const auto data = makeDataset(config, 0);
        QCOMPARE(data->samples(Split::Train), int64_t{20});
        const std::vector<Message> notes = data->notes();
        QCOMPARE(std::ranges::count(notes,
                                    path("a.tar") + " has no end marker, so it may have been cut "
                                                    "off; its samples, 20, are used.",
                                    &Message::english),
                 1);
    }
    QCOMPARE(experimentOn(path("a.tar"))->task.damaged, Damaged::Refuse);
}

} // namespace tst_shards

QTEST_APPLESS_MAIN(tst_shards::TestShards)
#include "tst_shards.moc"
