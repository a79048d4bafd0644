// Shards to train on, to validate on and to test on in one folder: what is said about them, and the
// classes of a test.
#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/io/input_file.h"
#include "engine/train/state_check.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"
#include "tests/support/tar_files.h"
#include "tests/support/thrown.h"

#include <QFile>
#include <QTest>

#include <initializer_list>

namespace tst_shard_parts {

using namespace halfscope;
using namespace halfscope::test;

class TestShardParts : public QObject, PictureFolder {
    Q_OBJECT
private slots:
    void init() { renew(); }
    void adviceThatHelps();
    void testOfAnotherClass();
    void resumedRuns();
    void damagedShard();

private:
    void writeShard(const char* name, std::initializer_list<int> labels) const {
        const std::string picture =
            pngBytes({kPictureSide, kPictureSide, 1, std::vector<float>(16, 0.5f)});
        std::string files;
        int next = 0;
        for (const int label : labels) {
            const std::string sample = std::to_string(next++);
            files += tarFile(sample + ".png", picture);
            files += tarFile(sample + ".cls", std::to_string(label));
        }
        writeBytes(m_folder->filePath(QLatin1String(name)).toStdString(), files + tarEnd());
    }
    static std::string notesOf(const Dataset& data) {
        std::string all;
        for (const Message& each : data.notes())
            all += each.english() + "\n";
        return all;
    }
};

/// Shards to validate on may lack a class of those to train on; no share held back changes that.
void TestShardParts::adviceThatHelps() {
    writeShard("train.tar", {0, 0, 1, 1});
    TaskConfig config = task(TaskKind::Shards);
    config.validation = 0.25; // one of four
    const std::string advice = "set data.stratify to true";
    const std::string shared = notesOf(*makeDataset(config, 0));
    QVERIFY2(shared.find(advice) != shared.npos, shared.c_str());
    writeShard("val.tar", {0});
    const std::string own = notesOf(*makeDataset(config, 0));
    QVERIFY2(own.find("These classes have no sample to validate on") != own.npos, own.c_str());
    QVERIFY2(own.find(advice) == own.npos, own.c_str());
}

/// A network has no output for it, and would get one from the test if all shards were counted.
void TestShardParts::testOfAnotherClass() {
    writeShard("train.tar", {0, 1, 1});
    writeShard("val.tar", {2});
    writeShard("test.tar", {2, 0});
    const TaskConfig config = task(TaskKind::Shards);
    QVERIFY(makeDataset(config, 0)->test());
    writeShard("test.tar", {2, 3, 1});
    const auto data = makeDataset(config, 0);
    QVERIFY(!data->test());
    for (const DataFacts& facts : {data->facts(), infoOf(TaskKind::Shards).facts(config)}) {
        QCOMPARE(facts.tensors[kTarget].classes, int64_t{3});
        QCOMPARE(facts.validation, int64_t{1});
        QCOMPARE(facts.test, int64_t{0});
        QCOMPARE(facts.notes.back().english(),
                 std::string("The samples of test.tar are not used for a test: no sample to train "
                             "or validate on has the class 3."));
    }
    QVERIFY(!infoOf(TaskKind::Shards).python(config, 6).tests);
}

/// Earlier versions trained on all shards, whatever they were called.
void TestShardParts::resumedRuns() {
    const auto errorOf = [&] {
        const auto data = makeDataset(task(TaskKind::Shards), 0);
        return thrownBy<InputError>(
            [&] { checkSamples({.samples = 2, .batch = 1}, {.samples = 3, .batch = 1}, *data); });
    };
    writeShard("a.tar", {0, 1});
    const std::string plain = errorOf();
    QVERIFY2(plain.ends_with("with as many, in the same order"), plain.c_str());
    writeShard("val.tar", {0});
    QCOMPARE(errorOf(), plain + ". Shards called val or test are judged, but were trained on in "
                                "earlier versions: to go on with a run of these, rename them");
}

/// What stands before the damage is used where damage is skipped, and so are the other shards.
void TestShardParts::damagedShard() {
    writeShard("0.tar", {0, 1, 1});
    writeShard("1.tar", {1, 0});
    const std::string path = m_folder->filePath("0.tar").toStdString();
    std::string bytes = readFile(path, size_t{1} << 20);
    const size_t sample = (bytes.size() - tarEnd().size()) / 3;
    bytes[sample + 5] = 'x'; // in the first header of the second sample
    writeBytes(path, bytes);
    TaskConfig config = task(TaskKind::Shards);
    const std::string wrong = ", byte " + std::to_string(sample) +
                              ": not a file header: its "
                              "checksum is wrong";
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(config, 0); }),
             path + wrong + "; to go on without such samples, set data.damaged to skip");
    config.damaged = Damaged::Skip;
    const auto data = makeDataset(config, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{3});
    const std::string told = path + " is damaged at byte " + std::to_string(sample) +
                             "; the samples before it, 1, are used.\n";
    QVERIFY2(notesOf(*data).find(told) != std::string::npos, notesOf(*data).c_str());
    QVERIFY(QFile::remove(m_folder->filePath("1.tar")));
    writeBytes(path, std::string(1000, 'x')); // and no other shard: nothing to skip to
    for (const Damaged damaged : {Damaged::Refuse, Damaged::Skip}) {
        config.damaged = damaged;
        QCOMPARE(thrownBy<InputError>([&] { makeDataset(config, 0); }),
                 path + ", byte 0: not a file header: its checksum is wrong");
    }
}

} // namespace tst_shard_parts

QTEST_GUILESS_MAIN(tst_shard_parts::TestShardParts)
#include "tst_shard_parts.moc"
