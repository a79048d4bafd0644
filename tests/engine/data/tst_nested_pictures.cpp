// Pictures in folders below the folder of their class, which links may lead to, and what is no file
// although it has the name of a picture.
#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/data/new_pictures.h"
#include "engine/data/pictures.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"
#include "engine/train/experiment_state.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"
#include "tests/support/processor_time.h"
#include "tests/support/python.h"
#include "tests/support/thrown.h"

#include <QFile>
#include <QTest>

#include <algorithm>
#include <array>

#include <sys/stat.h>

namespace tst_nested_pictures {

using namespace halfscope;
using namespace halfscope::test;

class TestNestedPictures : public QObject, PictureFolder {
    Q_OBJECT

private slots:
    void init() { renew(); }
    void orderOfTorchvision();
    void linksThatLoop();
    void deepFolders();
    void linksInTheScript();
    void earlierRuns();
    void mendedBelow();
    void partsInOtherWords();
    void partsTakenForClasses();
    void partsWithoutClasses();
    void classesFurtherDown();
    void classesInNamesAlone();
    void deeperOnes();
    void splits();
    void opened_data();
    void opened();
    void whatIsNoFile();

private:
    std::string path(const QString& name) const { return m_folder->filePath(name).toStdString(); }
    /// Writes a folder with links that lead up, to the same folder again and elsewhere.
    void putLinks() const;
    /// Returns the paths of the pictures to train on, without the folder's.
    QStringList filesOf(const TaskConfig& config) const {
        QStringList names;
        for (const std::string& each : makeDataset(config, 0)->files())
            names << QString::fromStdString(each).remove(m_folder->path() + '/');
        return names;
    }
};

/// Its make_dataset() goes through sorted(os.walk(folder, followlinks=True)), which compares whole
/// paths: "a-b" comes before "a/b". Hidden names do not count here.
void TestNestedPictures::orderOfTorchvision() {
    const QStringList names{"cat/b.png",     "cat/z.png",     "cat/a/1.png",      "cat/a-b/1.png",
                            "cat/a/b/1.png", "cat/a/b/2.png", "dog/x/y/z/w/1.png"};
    for (const QString& name : names)
        put(name, plain(1, 0, 0));
    put("cat/.hidden/1.png", plain(1, 0, 0));
    QCOMPARE(filesOf(task()), names);
    const DataFacts facts = infoOf(task().kind).facts(task());
    QCOMPARE(facts.train, int64_t{7});
    QCOMPARE(std::ranges::count(facts.notes,
                                "Pictures in folders below that of their class, which count as its "
                                "samples: 5 of 7.",
                                &Message::english),
             1);
    QCOMPARE(facts.tensors[kTarget].classes, int64_t{2});
    const Batch batch = allOf(*makeDataset(task(), 0), Split::Train);
    const auto labels = batch.labels(kTarget);
    QCOMPARE(std::vector<int32_t>(labels.begin(), labels.end()),
             (std::vector<int32_t>{0, 0, 0, 0, 0, 0, 1}));
}

void TestNestedPictures::putLinks() const {
    put("data/cat/1.png", plain(1, 0, 0));
    put("data/cat/a/2.png", plain(1, 0, 0));
    put("data/dog/3.png", plain(1, 0, 0));
    put("elsewhere/4.png", plain(1, 0, 0));
    QVERIFY(QFile::link(m_folder->filePath("data/cat"), m_folder->filePath("data/cat/a/up")));
    QVERIFY(QFile::link(m_folder->filePath("data/cat/a"), m_folder->filePath("data/cat/b")));
    QVERIFY(QFile::link(m_folder->filePath("elsewhere"), m_folder->filePath("data/dog/there")));
}

void TestNestedPictures::linksThatLoop() {
    putLinks();
    TaskConfig config = task();
    config.path += "/data";
    QCOMPARE(filesOf(config), (QStringList{"data/cat/1.png", "data/cat/a/2.png", "data/dog/3.png",
                                           "data/dog/there/4.png"}));
}

/// Each folder is told apart at the cost of one look, not of one for every folder above it.
void TestNestedPictures::deepFolders() {
    put("cat/1.png", plain(1, 0, 0));
    const QString deep = "dog" + QString("/d").repeated(1500);
    put(deep + "/2.png", plain(1, 0, 0));
    const double start = test::processorMs();
    QCOMPARE(filesOf(task()), (QStringList{"cat/1.png", deep + "/2.png"}));
    QVERIFY(test::processorMs() - start < 5000);
}

/// The program for PyTorch takes each folder once, too, and none that is hidden.
void TestNestedPictures::linksInTheScript() {
    if (lacksPython()) QSKIP(lacksPython());
    putLinks();
    put("data/cat/.hidden/5.png", plain(1, 0, 0));
    TaskConfig config = task();
    config.path += "/data";
    const QString code = QString::fromStdString(infoOf(config.kind).python(config, 1).code);
    const qsizetype start = code.indexOf("def folders"), end = code.indexOf("def pictures");
    QVERIFY(start >= 0 && end > start);
    const QString printed =
        python("import os, sys\n" + code.mid(start, end - start) +
                   "print(*[os.path.relpath(r, sys.argv[1]) for f in ('cat', 'dog')"
                   " for r, _ in folders(os.path.join(sys.argv[1], f))])",
               {m_folder->filePath("data")});
    QCOMPARE(printed, QString("cat cat/a dog dog/there"));
}

/// Earlier versions left such pictures out, so that their runs have other samples.
void TestNestedPictures::earlierRuns() {
    for (const char* name :
         {"train/a/1.png", "train/a/x/2.png", "train/b/1.png", "val/a/1.png", "val/b/1.png"})
        put(name, plain(1, 0, 0));
    RunConfig config = presetNamed("mnist-mlp").config;
    config.task = task();
    config.task.batch = 1;
    config.lanes = parseLanes("fp32");
    config.device = "cpu";
    config.model.layers = "nn.Sequential(nn.Flatten(), nn.Linear(48, 2))";
    Experiment experiment(config);
    ExperimentState state;
    state.epochs.samples = 2;
    const std::string refused = thrownBy<InputError>([&] { experiment.resume(state); });
    QVERIFY2(refused.find("the data set has 3 samples in batches of 1 now") != refused.npos &&
                 refused.find("in the same order. Pictures in folders below") != refused.npos,
             refused.c_str());
}

/// What was refused is looked at anew once a folder far below has changed.
void TestNestedPictures::mendedBelow() {
    put("a/1.png", plain(1, 0, 0));
    QVERIFY(QDir(m_folder->path()).mkpath("b/x"));
    QVERIFY(!thrownBy<InputError>([&] { factsOf(task()); }).empty());
    put("b/x/1.png", plain(1, 0, 0));
    QCOMPARE(factsOf(task()).train, int64_t{2});
}

void TestNestedPictures::partsInOtherWords() {
    for (const auto& [train, test] : {std::pair("Training", "Testing"), std::pair("TRAIN", "Val"),
                                      std::pair("training_set", "test_set")}) {
        renew();
        for (const QString& name : {QString(train) + "/cat/1.png", QString(train) + "/dog/1.png",
                                    QString(train) + "/dog/2.png", QString(test) + "/dog/3.png"})
            put(name, plain(1, 0, 0));
        TaskConfig made;
        QVERIFY(infoOf(TaskKind::Pictures).opens(m_folder->path().toStdString(), made));
        const DataFacts facts = factsOf(task());
        QCOMPARE(facts.train, int64_t{3});
        QCOMPARE(facts.validation, int64_t{1});
        QCOMPARE(facts.tensors[kTarget].classes, int64_t{2});
    }
}

/// Nobody knows these names, so that the folders are classes where the settings say so.
void TestNestedPictures::partsTakenForClasses() {
    for (const char* name :
         {"seg_test/cat/1.png", "seg_test/dog/1.png", "seg_train/cat/1.png", "seg_train/dog/1.png"})
        put(name, plain(1, 0, 0));
    QCOMPARE(unusualPictures(path("")).english(),
             path("") +
                 ": the folders in it all hold folders of the same names, such as \"cat\"; if "
                 "those are the classes, open one of the folders, such as " +
                 path("seg_train") + ", else set data.kind to pictures and data.path to " +
                 path(""));
    const std::vector<Message> notes = factsOf(task()).notes;
    QCOMPARE(std::ranges::count(notes,
                                "No picture lies right in the folder of its class, and all of "
                                "these hold folders of the same names, such as \"cat\". If those "
                                "are the classes, set data.path to " +
                                    path("seg_test") + " or another folder beside it.",
                                &Message::english),
             1);
    put("seg_test/3.png", plain(1, 0, 0));
    const std::vector<Message> told = infoOf(task().kind).facts(task()).notes; // looks anew
    QVERIFY(std::ranges::none_of(told, [](const Message& note) {
        return note.english().starts_with("No picture lies right");
    }));
}

/// Kaggle's "Dogs vs. Cats" has its classes in the names of its pictures: train and test1 are none.
/// Without the check, the data have these two classes.
void TestNestedPictures::partsWithoutClasses() {
    for (const char* name : {"train/cat.0.png", "train/dog.0.png", "test1/1.png"})
        put(name, plain(1, 0, 0));
    const std::string refused =
        "data.path: " + m_folder->path().toStdString() +
        " has the parts of a data set and no classes: test1, train; each part needs a folder of "
        "pictures for each class";
    QCOMPARE(thrownBy<InputError>([&] { factsOf(task()); }), refused);
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task(), 0); }), refused);
    put("trains/1.png", plain(1, 0, 0)); // a class that only begins like a part
    QCOMPARE(infoOf(task().kind).facts(task()).tensors[kTarget].classes, int64_t{3});
    renew();
    for (const char* name : {"val2017/1.png", "test2017/1.png"})
        put(name, plain(1, 0, 0));
    QVERIFY(thrownBy<InputError>([&] { makeDataset(task(), 0); }).find("the parts of") !=
            std::string::npos);
    renew(); // results of a test are classes
    for (const char* name : {"test_positive/1.png", "test_negative/1.png"})
        put(name, plain(1, 0, 0));
    QCOMPARE(infoOf(task().kind).facts(task()).tensors[kTarget].classes, int64_t{2});
}

/// An archive that was unpacked into a folder of its own name has each part twice.
void TestNestedPictures::classesFurtherDown() {
    for (const char* name : {"seg_train/seg_train/sea/1.png", "seg_train/seg_train/street/1.png",
                             "seg_pred/seg_pred/1.png"})
        put(name, plain(1, 0, 0));
    QCOMPARE(unusualPictures(path("")).english(),
             path("") + ": it holds no pictures of classes itself; open the folder " +
                 path("seg_train/seg_train") + " in it");
}

void TestNestedPictures::classesInNamesAlone() {
    for (const char* name : {"cat.0.png", "cat.1.png", "dog.0.png", "dog.1.png"})
        put(name, plain(1, 0, 0));
    QCOMPARE(unusualPictures(path("")).english(),
             path("") + ": its pictures are in no folders; each class needs one, such as cat, "
                        "whatever the names of the pictures tell");
    put("readme.png", plain(1, 0, 0));
    QVERIFY(unusualPictures(path("")).empty());
}

void TestNestedPictures::deeperOnes() {
    put("cat/1.png", plain(1, 0, 0));
    put("dog/a/b/1.png", plain(1, 0, 0));
    QCOMPARE(unusualPictures(path("")).english(),
             path("") +
                 ": only cat has pictures right in it; to train on those further down, too, "
                 "set data.kind to pictures and data.path to " +
                 path(""));
    QCOMPARE(newPicturesAt(path("dog")).names, (std::vector<std::string>{"a/b/1.png"}));
}

void TestNestedPictures::splits() {
    for (const char* name : {"train/a/x/1.png", "train/b/2.png", "train/b/y/3.png",
                             "val/a/x/y/1.png", "test/b/1.png", "test/b/x/2.png"})
        put(name, plain(1, 0, 0));
    const auto data = makeDataset(task(), 0);
    QCOMPARE(data->samples(Split::Train), int64_t{3});
    QCOMPARE(data->samples(Split::Validation), int64_t{1});
    QVERIFY(data->test());
    QCOMPARE(data->test()->samples(Split::Validation), int64_t{2});
}

void TestNestedPictures::opened_data() {
    QTest::addColumn<QStringList>("names");
    QTest::addColumn<bool>("opens");
    QTest::newRow("right there") << QStringList{"a/1.png", "b/2.png", "c/notes.txt"} << true;
    QTest::newRow("all below") << QStringList{"a/x/1.png", "b/y/2.png"} << true;
    QTest::newRow("to train on") << QStringList{"train/a/x/1.png", "train/b/2.png", "val/notes.txt"}
                                 << true;
    QTest::newRow("parts of other names") << QStringList{"seg_train/a/1.png", "seg_train/b/1.png",
                                                         "seg_test/a/1.png", "seg_test/b/1.png"}
                                          << false;
    QTest::newRow("images and masks")
        << QStringList{"images/a/1.png", "images/b/1.png", "masks/a/1.png", "masks/b/1.png"}
        << false;
    QTest::newRow("one folder in each") << QStringList{"a/images/1.png", "b/images/1.png"} << true;
    QTest::newRow("one class") << QStringList{"train/a/x/1.png", "val/a/x/2.png"} << false;
    QTest::newRow("a home") << QStringList{"Music/1.txt", "Pictures/trip/1.png", "Work/x/1.png"}
                            << false;
    QTest::newRow("too deep") << QStringList{"a/x/y/1.png", "b/x/y/1.png"} << false;
}

/// A folder is taken for one of classes only where that is plain.
void TestNestedPictures::opened() {
    QFETCH(const QStringList, names);
    QFETCH(const bool, opens);
    for (const QString& name : names)
        put(name, plain(1, 0, 0)); // whatever the name says
    TaskConfig made;
    QCOMPARE(infoOf(TaskKind::Pictures).opens(m_folder->path().toStdString(), made), opens);
}

/// A link that leads nowhere and a pipe are named when they are read, and nobody waits for the
/// pipe.
void TestNestedPictures::whatIsNoFile() {
    put("a/1.png", plain(1, 0, 0));
    put("b/1.png", plain(1, 0, 0));
    QVERIFY(QFile::link(m_folder->filePath("nowhere.png"), m_folder->filePath("a/2.png")));
    QCOMPARE(::mkfifo(path("b/2.jpg").c_str(), 0600), 0);
    QCOMPARE(filesOf(task()), (QStringList{"a/1.png", "a/2.png", "b/1.png", "b/2.jpg"}));
    TaskConfig config = task();
    const std::array<int64_t, 4> all{0, 1, 2, 3};
    config.damaged = Damaged::Skip;
    const auto data = makeDataset(config, 0);
    Batch batch = Batch::of(data->tensors(), 4);
    const std::vector<Unread> unread = data->read(Split::Train, all, batch);
    QCOMPARE(unread.size(), size_t{2});
    QCOMPARE(unread[0].why.english(), path("a/2.png") + ": cannot read: No such file or directory");
    QCOMPARE(unread[1].why.english(), path("b/2.jpg") + ": cannot read: it is a pipe, not a file");
    QVERIFY(data->notes().back().english().starts_with(
        "Pictures that cannot be decoded and are left out: 2 of 4."));
    const auto refusing = makeDataset(task(), 0);
    QVERIFY(thrownBy<InputError>([&] {
                refusing->read(Split::Train, all, batch);
            }).starts_with(path("a/2.png") + ": cannot read: "));
    QCOMPARE(newPicturesAt(path("b")).names, (std::vector<std::string>{"1.png", "2.jpg"}));
    TaskConfig shards = task(TaskKind::Shards);
    shards.path = path("shards");
    QVERIFY(QDir(m_folder->path()).mkdir("shards"));
    QVERIFY(QFile::link(m_folder->filePath("nowhere"), m_folder->filePath("shards/0.tar")));
    QCOMPARE(thrownBy<InputError>([&] { factsOf(shards); }),
             path("shards/0.tar") + ": cannot read: No such file or directory");
    QVERIFY(QFile::remove(m_folder->filePath("shards/0.tar")));
    QCOMPARE(::mkfifo(path("shards/1.tar").c_str(), 0600), 0);
    QCOMPARE(thrownBy<InputError>([&] { factsOf(shards); }),
             path("shards/1.tar") + ": cannot read: it is a pipe, not a file");
}

} // namespace tst_nested_pictures

QTEST_APPLESS_MAIN(tst_nested_pictures::TestNestedPictures)
#include "tst_nested_pictures.moc"
