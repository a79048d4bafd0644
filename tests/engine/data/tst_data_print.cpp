// Whether training data that changed are told from those that did not, for data of every kind.
#include "engine/data/data_print.h"

#include "engine/core/sha256.h"
#include "engine/core/text.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"
#include "tests/support/tar_files.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <functional>

namespace tst_data_print {

using namespace halfscope;
using namespace halfscope::test;

namespace {

std::string printOf(const TaskConfig& task) { return dataPrint(task, *makeDataset(task, 1)); }

} // namespace

class TestDataPrint : public QObject, PictureFolder {
    Q_OBJECT
private slots:
    void init() { renew(); }

    void pictures() {
        putPictures("old/");
        const TaskConfig trained = at(TaskKind::Pictures, "old");
        changes(trained, [&] { put("old/a/1.png", plain(0.7f, 0.1f, 0.2f)); });
        changes(trained, [&] { QVERIFY(QFile::rename(path("old/b/2.png"), path("old/b/9.png"))); });
        const std::string before = printOf(trained);
        QVERIFY(QFile::rename(path("old"), path("moved")));
        QCOMPARE(printOf(at(TaskKind::Pictures, "moved")), before);
    }

    void shards() {
        const auto write = [this](int label) {
            std::string shard;
            for (int i = 0; i < 4; ++i)
                shard += tarFile(std::to_string(i) + ".png",
                                 pngBytes(plain(0, float(i) / 4, float(i) / 4))) +
                         tarFile(std::to_string(i) + ".cls", std::to_string(i < 3 ? i % 2 : label));
            writeBytes(path("a.tar").toStdString(), shard + tarEnd());
        };
        write(0);
        changes(at(TaskKind::Shards, "a.tar"), [&] { write(1); });
    }

    void digits_data() {
        QTest::addColumn<QString>("ending");
        QTest::newRow("plain") << QString();
        QTest::newRow("packed") << QStringLiteral(".gz");
    }
    /// Beyond what is read of a large file, only a packed one tells of every change: by its
    /// checksum, at its end.
    void digits() {
        QFETCH(const QString, ending);
        std::string images(4000 * 28 * 28, '\0'), labels(4000, '\1');
        for (uint32_t i = 0, state = 1; i < images.size(); ++i)
            images[i] = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
        const auto write = [&](const char* name, const std::string& bytes) {
            writeBytes(path(name + ending).toStdString(),
                       ending.isEmpty() ? bytes : gzipBytes(bytes));
        };
        const auto writeAll = [&] {
            write("train-images-idx3-ubyte", idxBytes({4000, 28, 28}, images));
            write("train-labels-idx1-ubyte", idxBytes({4000}, labels));
            write("t10k-images-idx3-ubyte", idxBytes({10, 28, 28}, std::string(7840, '\0')));
            write("t10k-labels-idx1-ubyte", idxBytes({10}, std::string(10, '\0')));
        };
        writeAll();
        const TaskConfig trained = at(TaskKind::Mnist, {});
        changes(trained, [&] {
            labels[1777] = '\2';
            writeAll();
        });
        changes(trained, [&] {
            images.front() = static_cast<char>(images.front() + 1);
            writeAll();
        });
        TaskConfig generated = trained;
        generated.kind = TaskKind::Generate;
        generated.loss.kind = LossKind::Mse;
        changes(generated, [&] {
            labels[1777] = '\3';
            writeAll();
        });
        if (ending.isEmpty()) return;
        changes(trained, [&] {
            images[100'000] = static_cast<char>(images[100'000] + 1);
            writeAll();
        });
    }

    /// What the numbers of its classes mean is fixed, whatever the folder is called.
    void renamedClothes() {
        for (const char* folder : {"fashion", "clothes"}) {
            const QString begin = path(QString(folder) + "/");
            QVERIFY(QDir().mkpath(begin));
            for (const char* part : {"train", "t10k"}) {
                writeBytes((begin + part + "-images-idx3-ubyte").toStdString(),
                           idxBytes({4, 28, 28}, std::string(4 * 784, '\1')));
                writeBytes((begin + part + "-labels-idx1-ubyte").toStdString(),
                           idxBytes({4}, std::string(4, '\1')));
            }
        }
        const TaskConfig trained = at(TaskKind::Mnist, "fashion");
        QCOMPARE(makeDataset(trained, 1)->view().classes.front(), std::string("T-shirt/top"));
        const std::string print = printOf(trained);
        QCOMPARE(printOf(at(TaskKind::Mnist, "clothes")), print);
        std::string seen; // as earlier versions had it of digits
        for (int i = 0; i < 10; ++i)
            seen += '"' + std::to_string(i) + "\"\n";
        for (const ChannelScale& each : makeDataset(trained, 1)->channelScales())
            seen += numberText(each.mean) + " " + numberText(each.deviation) + "\n";
        QCOMPARE(print.substr(0, 64), sha256(seen));
    }

    void text() {
        writeBytes(path("a.txt").toStdString(), std::string(100, 'a') + std::string(100, 'b'));
        changes(at(TaskKind::Text, "a.txt"), [&] {
            writeBytes(path("a.txt").toStdString(), std::string(99, 'a') + std::string(101, 'b'));
        });
    }

    void image() {
        put("a.png", plain(1, 0, 0));
        TaskConfig task;
        task.kind = TaskKind::Image;
        task.side = kPictureSide;
        QVERIFY(printOf(task).empty()); // the rings, which are in no file
        task.image = path("a.png").toStdString();
        changes(task, [&] { put("a.png", plain(0.9f, 0, 0)); });
        task.kind = TaskKind::Regression;
        task.path = task.image; // of another kind of data
        QVERIFY(printOf(task).empty());
    }

    /// Those of earlier versions have the first checksum alone.
    void comparisons() {
        const std::string one(64, '1'), two(64, '2');
        TaskConfig task;
        task.kind = TaskKind::Text;
        task.path = "a.txt";
        const auto told = [&](const std::string& began, const std::string& now) {
            return !changeSince(began, now, task).empty();
        };
        QCOMPARE(changeSince(one + one, one + two, task).english(),
                 "a.txt holds other data than the training began with; these are used now");
        QVERIFY(told(one, two) && told(one, two + two) && told(two + one, one + one));
        QVERIFY(!told(one, one + two) && !told(one + two, one) && !told(one + two, one + two));
        QVERIFY(!told("", one + two) && !told(one + two, ""));
        QVERIFY(predictsOtherwise(one + one, two + one) && predictsOtherwise(one, two + one));
        QVERIFY(!predictsOtherwise(one + one, one + two) && !predictsOtherwise("", one));
    }

private:
    QString path(const QString& name) const { return m_folder->filePath(name); }
    TaskConfig at(TaskKind kind, const QString& name) const {
        TaskConfig made = task(kind);
        made.path = path(name).toStdString();
        made.context = 8;
        return made;
    }
    void putPictures(const QString& folder) const {
        for (int i = 0; i < 4; ++i) {
            put(folder + QStringLiteral("a/%1.png").arg(i), plain(0.5f, 0, float(i) / 4));
            put(folder + QStringLiteral("b/%1.png").arg(i), plain(0, 0.5f, float(i) / 4));
        }
    }
    /// Checks that a change is told, and that predictions, which take classes and words alone, are
    /// not told of it.
    static void changes(const TaskConfig& task, const std::function<void()>& change) {
        const std::string before = printOf(task);
        QCOMPARE(printOf(task), before);
        change();
        const std::string after = printOf(task);
        QVERIFY(!changeSince(before, after, task).empty());
        QVERIFY(!predictsOtherwise(before, after));
    }
};

} // namespace tst_data_print

QTEST_GUILESS_MAIN(tst_data_print::TestDataPrint)
#include "tst_data_print.moc"
