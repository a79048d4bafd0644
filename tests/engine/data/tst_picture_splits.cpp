// Folders of pictures with folders to train on, to validate on and to test on.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/runs/lost_samples.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"
#include "tests/support/all_samples.h"
#include "tests/support/picture_folder.h"
#include "tests/support/thrown.h"

#include <QFile>
#include <QTest>

#include <algorithm>

#include <unistd.h>

namespace tst_picture_splits {

using namespace halfscope;
using namespace halfscope::test;

class TestPictureSplits : public QObject, PictureFolder {
    Q_OBJECT

private slots:
    void init() { renew(); }
    void splitFolders_data();
    void splitFolders();
    void adviceThatHelps();
    void unlabelledTestFolder();
    void ownTest();
    void testOfOtherClasses();
    void unreadableTest();
    void damagedPictures();
    void nothingToJudgeBy_data();
    void nothingToJudgeBy();
};

void TestPictureSplits::splitFolders_data() {
    QTest::addColumn<QString>("judged");
    for (const char* name : {"val", "valid", "validation", "test"})
        QTest::newRow(name) << name;
}

void TestPictureSplits::splitFolders() {
    QFETCH(const QString, judged);
    for (const char* name : {"train/a/1.png", "train/a/2.png", "train/b/1.png"})
        put(name, plain(1, 0, 0));
    put(judged + "/b/9.png", plain(1, 0, 0));
    TaskConfig config = task();
    config.validation = 0.9; // for folders without a split of their own
    const auto data = makeDataset(config, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{3});
    QCOMPARE(data->samples(Split::Validation), int64_t{1});
    QCOMPARE(allOf(*data, Split::Validation).labels(kTarget)[0], 1);
    QCOMPARE(infoOf(config.kind).facts(config).validation, int64_t{1});
    put(judged + "/new/1.png", plain(1, 0, 0));
    const std::string error = thrownBy<InputError>([&] { makeDataset(config, 0); });
    QVERIFY2(error.find("the class \"new\" is not among those to train on") != std::string::npos,
             error.c_str());
}

/// A folder to validate on may lack a class of those to train on; no share held back changes that.
void TestPictureSplits::adviceThatHelps() {
    for (const char* name : {"train/a/1.png", "train/a/2.png", "train/b/1.png", "train/b/2.png"})
        put(name, plain(1, 0, 0));
    const auto notesWith = [](TaskConfig config) {
        std::string all;
        for (const Message& each : makeDataset(config, 0)->notes())
            all += each.english() + "\n";
        return all;
    };
    TaskConfig config = task();
    config.validation = 0.25; // one of four
    const std::string advice = "set data.stratify to true";
    const std::string shared = notesWith(config);
    QVERIFY2(shared.find(advice) != shared.npos, shared.c_str());
    put("val/a/1.png", plain(1, 0, 0));
    const std::string own = notesWith(config);
    QVERIFY2(own.find("These classes have no sample to validate on") != own.npos, own.c_str());
    QVERIFY2(own.find(advice) == own.npos, own.c_str());
}

/// When the test folder has no classes to judge by, as in a test set without labels, a share of the
/// training pictures is held back.
void TestPictureSplits::unlabelledTestFolder() {
    for (const char* name : {"train/a/1.png", "train/a/2.png", "train/b/1.png", "test/3.png"})
        put(name, plain(1, 0, 0));
    TaskConfig config = task();
    config.validation = 0.34;
    const auto data = makeDataset(config, 0);
    QCOMPARE(data->view().classes, (std::vector<std::string>{"a", "b"}));
    QCOMPARE(data->samples(Split::Train), int64_t{2});
    QCOMPARE(data->samples(Split::Validation), int64_t{1});
}

/// Beside a folder to validate on, the other one is the test.
void TestPictureSplits::ownTest() {
    for (const char* name : {"train/a/1.png", "train/a/2.png", "train/b/1.png"})
        put(name, plain(0, 0, 0));
    for (const char* name : {"val/b/1.png", "val/a/1.png"})
        put(name, plain(0.2f, 0, 0));
    for (const char* name : {"test/b/1.png", "test/b/2.png", "test/a/9.png"})
        put(name, plain(1, 0, 0));
    const auto data = makeDataset(task(), 0);
    QCOMPARE(data->samples(Split::Train), int64_t{3});
    QCOMPARE(data->samples(Split::Validation), int64_t{2});
    QVERIFY(data->test());
    QCOMPARE(data->test()->samples(Split::Validation), int64_t{3});
    const auto judge = [](const Dataset& from, std::vector<int32_t> labels, float red) {
        const Batch batch = allOf(from, Split::Validation);
        const auto found = batch.labels(kTarget);
        QCOMPARE(std::vector<int32_t>(found.begin(), found.end()), labels);
        for (size_t i = 0; i < labels.size(); ++i)
            QCOMPARE(batch.floats(kX)[i * 3 * kPictureSide * kPictureSide], red);
    };
    judge(*data, {0, 1}, 51.0f / 255);
    judge(*data->test(), {0, 1, 1}, 1);
    for (const DataFacts& facts : {factsOf(task()), data->facts()}) {
        QCOMPARE(facts.train, int64_t{3});
        QCOMPARE(facts.validation, int64_t{2});
        QCOMPARE(facts.test, int64_t{3});
        QCOMPARE(
            facts.notes.back().english(),
            "The pictures in " + pathText(m_folder->filePath("test").toStdString()) +
                ", 3 of them, are kept for the test at the end; validation does not see them.");
    }
    // what a training depends on: a saved run's data are the same whatever is tested
    QCOMPARE(data->files().size(), size_t{5});
    TaskConfig shared = task();
    shared.validation = 0.1;
    shared.testShare = 0.5; // of those to validate on
    const auto part = makeDataset(shared, 0);
    QCOMPARE(part->samples(Split::Validation), int64_t{1});
    QCOMPARE(part->test()->samples(Split::Validation), int64_t{1});
    QCOMPARE(allOf(*part->test(), Split::Validation).floats(kX)[0], 51.0f / 255);
    for (const DataFacts& facts : {factsOf(shared), part->facts()}) {
        QCOMPARE(facts.validation, int64_t{1});
        QCOMPARE(facts.test, int64_t{1});
        QCOMPARE(facts.notes.front().english(),
                 "The pictures in " + pathText(m_folder->filePath("test").toStdString()) +
                     " are not used: data.test_share keeps others for the test. Set to 0, it "
                     "leaves the test to them.");
    }
    TaskConfig predicting = task(); // others are judged
    predicting.predictFile = m_folder->filePath("test/a").toStdString();
    QCOMPARE(makeDataset(predicting, 0)->samples(Split::Validation), int64_t{1});
    QVERIFY(!makeDataset(predicting, 0)->test());
}

/// A test folder whose classes are to be found out, as in competitions, is left out.
void TestPictureSplits::testOfOtherClasses() {
    for (const char* name :
         {"train/a/1.png", "train/b/1.png", "val/a/1.png", "test/a/1.png", "test/unknown/1.png"})
        put(name, plain(0, 0, 0));
    const auto data = makeDataset(task(), 0);
    QCOMPARE(data->samples(Split::Validation), int64_t{1});
    QVERIFY(!data->test());
    QCOMPARE(factsOf(task()).test, int64_t{0});
    QCOMPARE(data->notes().back().english(),
             "The pictures in " + pathText(m_folder->filePath("test").toStdString()) +
                 " are not used for a test: the class \"unknown\" is not among those to train on.");
}

/// A training does not need the test.
void TestPictureSplits::unreadableTest() {
    if (::geteuid() == 0) QSKIP("root reads every folder");
    for (const char* name : {"train/a/1.png", "train/b/1.png", "val/a/1.png", "test/a/1.png"})
        put(name, plain(0, 0, 0));
    QFile closed(m_folder->filePath("test/a"));
    QVERIFY(closed.setPermissions({}));
    const auto data = makeDataset(task(), 0);
    closed.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    QVERIFY(!data->test());
    QCOMPARE(data->samples(Split::Validation), int64_t{1});
    QVERIFY(data->notes().back().english().find("a folder there cannot be read") !=
            std::string::npos);
    QFile judged(m_folder->filePath("val/a")); // a folder to validate on is refused nevertheless
    QVERIFY(judged.setPermissions({}));
    const std::string error = thrownBy<InputError>([&] { makeDataset(task(), 0); });
    judged.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    QVERIFY2(error.find("val/a") != std::string::npos, error.c_str());
}

/// In each of the folders; one that is mended is decoded anew.
void TestPictureSplits::damagedPictures() {
    for (const char* name : {"train/a/1.png", "train/a/2.png", "train/b/1.png", "val/a/1.png",
                             "val/b/2.png", "test/a/1.png", "test/b/2.png"})
        put(name, plain(1, 0, 0));
    TaskConfig config = task();
    config.damaged = Damaged::Skip;
    const auto note = [&config] {
        QStringList all;
        for (const Message& each : makeDataset(config, 0)->notes())
            all << QString::fromStdString(each.english());
        return all.filter("cannot be decoded").join('|');
    };
    QCOMPARE(note(), QString());
    const QString start =
        "Pictures that cannot be decoded and are left out: %1 of 7. Sample counts still include "
        "them. The first is ";
    const QStringList names{"train/b/1.png", "val/b/2.png", "test/b/2.png"};
    for (const QString& name : names) {
        QFile file(m_folder->filePath(name));
        QVERIFY(file.open(QFile::WriteOnly) && file.write("no picture") > 0);
    }
    for (qsizetype left = names.size(); left > 0; --left) {
        const QString& first = names[names.size() - left];
        const QString told = note();
        QVERIFY2(told.startsWith(start.arg(left) + m_folder->filePath(first) + ": "),
                 qPrintable(told));
        put(first, plain(1, 0, 0));
    }
    QCOMPARE(note(), QString());
}

void TestPictureSplits::nothingToJudgeBy_data() {
    QTest::addColumn<int>("pictures"); // to validate on
    QTest::newRow("one") << 1;
    QTest::newRow("three") << 3;
}

/// Where no sample to validate on or to test on can be decoded, and such samples are skipped, the
/// training goes on without; an event says so once, and each sample is lost.
void TestPictureSplits::nothingToJudgeBy() {
    QFETCH(const int, pictures);
    for (const char* name : {"train/a/1.png", "train/a/2.png", "train/b/1.png", "train/b/2.png"})
        put(name, plain(1, 0, 0));
    for (const char* part : {"val", "test"})
        for (int i = 0; i < pictures; ++i) {
            const QString name = QString("%1/a/%2.png").arg(part).arg(i);
            put(name, plain(1, 0, 0));
            QFile file(m_folder->filePath(name));
            QVERIFY(file.open(QFile::WriteOnly) && file.write("no picture") > 0);
        }
    RunConfig config = presetNamed("mnist-mlp").config;
    config.task = task();
    config.task.damaged = Damaged::Skip;
    config.task.batch = 2; // two steps an epoch
    config.model.width = 8;
    config.device = "cpu";
    config.threads = 1;
    config.epochs = 2;
    Experiment experiment(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        QVERIFY(experiment.advance(records, events));
    QCOMPARE(experiment.step(), int64_t{4});
    QVERIFY(experiment.dataFault().empty());
    QVERIFY(std::ranges::none_of(records,
                                 [](const StepRecord& row) { return row.validation || row.test; }));
    LostSamples lost;
    QStringList none;
    for (const Event& event : events) {
        lost.add(event);
        const QString text = QString::fromStdString(event.text.english());
        if (event.kind == EventKind::Damaged && text.contains(". So there is no "))
            none << text.left(text.indexOf(": ")) + text.mid(text.lastIndexOf(". So"));
    }
    QCOMPARE(none,
             (QStringList{"Step 2. So there is no validation.", "Step 4. So there is no test."}));
    QCOMPARE(lost.judged, int64_t{pictures});
    QCOMPARE(lost.tested, int64_t{pictures});
    QCOMPARE(lost.trained, int64_t{0});
    config.task.damaged = Damaged::Refuse;
    Experiment refusing(config);
    for (int step = 0; step < 2; ++step)
        QVERIFY(refusing.advance(records, events));
    QVERIFY(!refusing.dataFault().empty());
}

} // namespace tst_picture_splits

QTEST_APPLESS_MAIN(tst_picture_splits::TestPictureSplits)
#include "tst_picture_splits.moc"
