// Files of one data set that are dropped together, as a file manager's selection is.
#include "engine/data/dataset.h"
#include "tests/support/array_files.h"
#include "tests/support/file_menu.h"
#include "tests/support/opened_window.h"
#include "tests/support/pictures.h"
#include "tests/support/tar_files.h"

#include <QDir>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileInfo>
#include <QMap>
#include <QMimeData>
#include <QUrl>

namespace tst_files_together {

using namespace halfscope;

namespace {

using Files = QMap<QString, QByteArray>;

/// Drops as the window system does.
bool dropAll(QWidget& on, const QStringList& paths) {
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& path : paths)
        urls << QUrl::fromLocalFile(path);
    data.setUrls(urls);
    const QPoint place = on.rect().center();
    QDragEnterEvent enter(place, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&on, &enter);
    QDropEvent event(place, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&on, &event);
    return enter.isAccepted() && event.isAccepted();
}

Files arrays() {
    std::string x, y;
    for (int i = 0; i < 40; ++i) {
        x += bytesOfValues<float>({0.1F * static_cast<float>(i), static_cast<float>(i * i % 7)});
        y += bytesOfValues<int64_t>({i % 2});
    }
    return {{"x.npy", QByteArray::fromStdString(npy("<f4", "(40, 2)", x))},
            {"y.npy", QByteArray::fromStdString(npy("<i8", "(40,)", y))}};
}

Files tables() {
    const auto lines = [](int count) {
        QByteArray text = "a,b,kind\n";
        for (int i = 0; i < count; ++i)
            text += QByteArray::number(i) + "," + QByteArray::number(7 * i % 11) +
                    (i % 2 == 0 ? ",cat\n" : ",dog\n");
        return text;
    };
    return {{"train.csv", lines(60)}, {"test.csv", lines(20)}};
}

Files parts() {
    Files files;
    for (const auto& [part, count] : {std::pair("train", 40), {"val", 10}, {"test", 10}}) {
        std::string x, y;
        for (int i = 0; i < count; ++i) {
            x += bytesOfValues<float>({0.1F * static_cast<float>(i), static_cast<float>(i % 7)});
            y += bytesOfValues<int64_t>({i % 2});
        }
        const std::string shape = std::to_string(count);
        const QString end = QStringLiteral("_") + part + ".npy";
        files["x" + end] = QByteArray::fromStdString(npy("<f4", "(" + shape + ", 2)", x));
        files["y" + end] = QByteArray::fromStdString(npy("<i8", "(" + shape + ",)", y));
    }
    return files;
}

Files mnist() {
    Files files;
    for (const auto& [part, count] : {std::pair("train", 20), std::pair("t10k", 4)}) {
        std::string labels, pixels;
        for (int i = 0; i < count; ++i) {
            labels += static_cast<char>(i % 10);
            pixels += std::string(64, static_cast<char>(6 * i));
        }
        const QString start = QLatin1String(part);
        const auto number = static_cast<uint32_t>(count);
        files[start + "-images-idx3-ubyte"] =
            QByteArray::fromStdString(idxBytes({number, 8, 8}, pixels));
        files[start + "-labels-idx1-ubyte"] = QByteArray::fromStdString(idxBytes({number}, labels));
    }
    return files;
}

Files shards() {
    Files files;
    for (int shard = 0; shard < 2; ++shard) {
        std::string bytes;
        for (int i = 0; i < 12; ++i) {
            const std::string sample = std::to_string(100 * (shard + 1) + i);
            bytes += tarFile(sample + ".png", pngBytes(pattern(8, 8, 3))) +
                     tarFile(sample + ".cls", std::to_string(i % 2));
        }
        files[QString("part-%1.tar").arg(shard)] = QByteArray::fromStdString(bytes + tarEnd());
    }
    return files;
}

Files with(Files files, const char* name, const QByteArray& bytes) {
    files[name] = bytes;
    return files;
}

} // namespace

class TestFilesTogether : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void areOpenedAsOneDataSet_data();
    void areOpenedAsOneDataSet();
    void someOpenTheirFolder();
    void othersAreRefused_data();
    void othersAreRefused();
    void theDialogShowsEachKind();

private:
    /// Writes the files into a folder "set" of the window's own folder, and returns their paths.
    static QStringList written(const Opened& opened, const Files& files);
};

QStringList TestFilesTogether::written(const Opened& opened, const Files& files) {
    QStringList paths;
    QDir().mkpath(opened.folder.filePath("set"));
    for (auto each = files.begin(); each != files.end(); ++each)
        paths << write(opened.folder, "set/" + each.key(), each.value().toStdString());
    return paths;
}

void TestFilesTogether::areOpenedAsOneDataSet_data() {
    QTest::addColumn<Files>("files");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QStringList>("opened"); // data.path, data.test_path, data.x, data.y
    QTest::newRow("arrays") << arrays() << "arrays" << QStringList{"", "", "x.npy", "y.npy"};
    QTest::newRow("arrays in parts")
        << parts() << "arrays" << QStringList{"", "", "x_train.npy", "y_train.npy"};
    QTest::newRow("tables") << tables() << "csv" << QStringList{"train.csv", "test.csv", "", ""};
    QTest::newRow("MNIST") << mnist() << "mnist" << QStringList{".", "", "", ""};
    QTest::newRow("shards") << shards() << "shards" << QStringList{".", "", "", ""};
    QTest::newRow("a README beside them")
        << with(mnist(), "README.md", "of 1998") << "mnist" << QStringList{".", "", "", ""};
    QTest::newRow("a test without targets") << with(tables(), "test.csv", "a,b\n1,2\n3,4\n")
                                            << "csv" << QStringList{"train.csv", "", "", ""};
}

/// In whichever order a file manager lists them.
void TestFilesTogether::areOpenedAsOneDataSet() {
    QFETCH(const Files, files);
    QFETCH(const QString, kind);
    QFETCH(const QStringList, opened);
    for (const bool backwards : {false, true}) {
        Opened window(tinyConfig(20));
        QVERIFY(reaches(window.window, SessionState::Ready));
        QStringList paths = written(window, files);
        if (backwards) std::reverse(paths.begin(), paths.end());
        QVERIFY(dropAll(window.window, paths));
        const auto task = [&] { return window.window.config().config().task; };
        QTRY_VERIFY2_WITH_TIMEOUT(QString(infoOf(task().kind).name) == kind,
                                  qPrintable(window.window.bannerText()), kPatience);
        const auto place = [&](const QString& name) {
            if (name.isEmpty()) return std::string();
            return QDir::cleanPath(window.folder.filePath("set/" + name)).toStdString();
        };
        QCOMPARE(task().path, place(opened[0]));
        QCOMPARE(task().testPath, place(opened[1]));
        QCOMPARE(task().x, place(opened[2]));
        QCOMPARE(task().y, place(opened[3]));
        if (files.contains("x_test.npy")) {
            QCOMPARE(task().xVal, place("x_val.npy"));
            QCOMPARE(task().yTest, place("y_test.npy"));
        }
        QVERIFY2(window.window.bannerText().isEmpty(), qPrintable(window.window.bannerText()));
        QVERIFY(reaches(window.window, SessionState::Ready));
        QVERIFY(stepsTo(window.window, 2));
    }
}

void TestFilesTogether::othersAreRefused_data() {
    QTest::addColumn<Files>("files");
    QTest::addColumn<QStringList>("dropped");
    QTest::addColumn<QString>("told");
    const QString none = QStringLiteral("only such folders, and the files of one data set, can be "
                                        "dropped together, anything else must be dropped by "
                                        "itself");
    const QString other = QStringLiteral(": these files do not belong to one data set, or are "
                                         "only a part of one; drop one of them by itself, or the "
                                         "folder that holds them");
    QTest::newRow("an array of something else")
        << with(arrays(), "z.npy", arrays()["y.npy"]) << QStringList{"x.npy", "z.npy"}
        << "z.npy: the other array is missing: ";
    QTest::newRow("a table of something else")
        << with(tables(), "prices.csv", tables()["test.csv"])
        << QStringList{"prices.csv", "train.csv"} << "prices.csv, train.csv" + other;
    QTest::newRow("no table to train on")
        << Files{{"prices.csv", tables()["train.csv"]}, {"test.csv", tables()["test.csv"]}}
        << QStringList{"prices.csv", "test.csv"} << "prices.csv, test.csv" + other;
    QTest::newRow("some of the shards")
        << with(shards(), "part-9.tar", shards()["part-0.tar"])
        << QStringList{"part-0.tar", "part-1.tar"} << "part-0.tar, part-1.tar" + other;
    Files beside = shards();
    beside.insert(tables());
    QTest::newRow("beside other data")
        << beside << QStringList{"part-0.tar", "part-1.tar"} << "part-0.tar, part-1.tar" + other;
    // what is wrong with a folder of data is no matter of files that are none
    QTest::newRow("no data") << with(mnist(), "a.py", "x = 1")
                             << QStringList{"a.py", "t10k-labels-idx1-ubyte"} << none;
    QTest::newRow("of two kinds") << with(mnist(), "x.npy", arrays()["x.npy"])
                                  << QStringList{"train-images-idx3-ubyte", "x.npy"} << none;
}

/// The folder has more than was dropped, which is told.
void TestFilesTogether::someOpenTheirFolder() {
    Opened window(tinyConfig(20));
    QVERIFY(reaches(window.window, SessionState::Ready));
    const QStringList paths = written(window, mnist());
    QVERIFY(dropAll(window.window, paths.mid(0, 2)));
    const QString folder = window.folder.filePath("set");
    QTRY_COMPARE_WITH_TIMEOUT(window.window.bannerText(),
                              "These are only some of the files of the data, so the folder with "
                              "all of them was opened: " +
                                  folder,
                              kPatience);
    QCOMPARE(window.window.config().config().task.path, folder.toStdString());
}

/// In one sentence, and nothing is changed.
void TestFilesTogether::othersAreRefused() {
    QFETCH(const Files, files);
    QFETCH(const QStringList, dropped);
    QFETCH(const QString, told);
    Opened window(tinyConfig(20));
    QVERIFY(reaches(window.window, SessionState::Ready));
    const std::string before = configText(window.window.config().config());
    written(window, files);
    QStringList paths;
    for (const QString& name : dropped)
        paths << window.folder.filePath("set/" + name);
    QVERIFY(dropAll(window.window, paths));
    QTRY_VERIFY2_WITH_TIMEOUT(window.window.bannerText().contains(told),
                              qPrintable(window.window.bannerText()), kPatience);
    QCOMPARE(configText(window.window.config().config()), before);
}

/// A folder whose files the dialog hides looks empty.
void TestFilesTogether::theDialogShowsEachKind() {
    Opened opened(tinyConfig(20));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QStringList filters;
    QTimer::singleShot(0, qApp, [&filters] {
        auto* any = qobject_cast<QDialog*>(QApplication::activeModalWidget());
        if (const auto* dialog = qobject_cast<QFileDialog*>(any)) filters = dialog->nameFilters();
        if (any) any->reject(); // else nothing is open, and the test ends
    });
    QAction* open = fileAction(opened.window, QStringLiteral("&Open…"));
    QVERIFY(open);
    open->trigger();
    QVERIFY(!filters.isEmpty());
    const QString patterns = filters.front().section(u'(', 1).chopped(1).replace(u' ', u';');
    for (const char* name :
         {"train-images-idx3-ubyte", "t10k-labels-idx1-ubyte.gz", "data_batch_1.bin", "net.py",
          "model.pt", "model.pth", "model.safetensors", "model.safetensors.index.json", "x.npy",
          "xy.npz", "a.csv", "a.csv.gz", "a.tsv", "a.data", "text.txt", "shard.tar", "a.png",
          "a.jpeg", "experiment.json"})
        QVERIFY2(QDir::match(patterns, QString::fromLatin1(name)), name);
    QVERIFY(!QDir::match(patterns, QStringLiteral("letter.odt")));
}

} // namespace tst_files_together

QTEST_MAIN(tst_files_together::TestFilesTogether)
#include "tst_files_together.moc"
