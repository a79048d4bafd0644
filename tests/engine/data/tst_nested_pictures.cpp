// Pictures in folders below the folder of their class, which links may lead to, and what is no file
// although it has the name of a picture.
#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/data/new_pictures.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"
#include "tests/support/thrown.h"

#include <QFile>
#include <QTest>

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
    void splits();
    void opened_data();
    void opened();
    void whatIsNoFile();

private:
    std::string path(const QString& name) const { return m_folder->filePath(name).toStdString(); }
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
    QCOMPARE(facts.tensors[kTarget].classes, int64_t{2});
    const Batch batch = allOf(*makeDataset(task(), 0), Split::Train);
    const auto labels = batch.labels(kTarget);
    QCOMPARE(std::vector<int32_t>(labels.begin(), labels.end()),
             (std::vector<int32_t>{0, 0, 0, 0, 0, 0, 1}));
}

void TestNestedPictures::linksThatLoop() {
    put("data/cat/1.png", plain(1, 0, 0));
    put("data/cat/a/2.png", plain(1, 0, 0));
    put("data/dog/3.png", plain(1, 0, 0));
    put("elsewhere/4.png", plain(1, 0, 0));
    QVERIFY(QFile::link(m_folder->filePath("data/cat"), m_folder->filePath("data/cat/a/up")));
    QVERIFY(QFile::link(m_folder->filePath("data/cat/a"), m_folder->filePath("data/cat/b")));
    QVERIFY(QFile::link(m_folder->filePath("elsewhere"), m_folder->filePath("data/dog/there")));
    TaskConfig config = task();
    config.path += "/data";
    QCOMPARE(filesOf(config), (QStringList{"data/cat/1.png", "data/cat/a/2.png", "data/dog/3.png",
                                           "data/dog/there/4.png"}));
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
