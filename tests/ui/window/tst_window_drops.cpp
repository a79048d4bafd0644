// Files that come to the window from outside: dropped on it and on its boxes, and folders of saved
// runs.
#include "engine/data/dataset.h"
#include "engine/io/picture.h"
#include "tests/support/array_files.h"
#include "tests/support/file_menu.h"
#include "tests/support/opened_window.h"
#include "tests/support/pictures.h"
#include "tests/support/tar_files.h"
#include "tests/support/utf16.h"
#include "ui/models/translated.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/window/run_words.h"

#include <QDir>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QMap>
#include <QMimeData>
#include <QScrollArea>
#include <QScrollBar>
#include <QUrl>

#include <thread>
#include <utility>

namespace tst_window_drops {

using namespace halfscope;

namespace {

/// Drops as the window system does: a widget that accepts the entering drag gets the drop.
bool drop(QWidget& on, QMimeData& data) {
    const QPoint place = on.rect().center();
    QDragEnterEvent enter(place, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&on, &enter);
    if (!enter.isAccepted()) return false;
    QDropEvent event(place, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&on, &event);
    return event.isAccepted();
}

/// Other programs offer the address as text, too.
bool dropFile(QWidget& on, const QString& path) {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(path)});
    data.setText(data.urls().front().toString());
    return drop(on, data);
}

/// Returns a text box of the settings, alone or with arrows.
QLineEdit* lineOf(MainWindow& window, bool withArrows) {
    for (QLineEdit* line : window.findChild<SetupPanel*>()->findChildren<QLineEdit*>()) {
        const bool inSpin = line->objectName() == QStringLiteral("qt_spinbox_lineedit");
        if (line->isVisible() && inSpin == withArrows) return line;
    }
    return nullptr;
}

/// Returns the arrays x and y of 40 samples of two classes.
std::string tensors() {
    std::string x, y;
    for (int i = 0; i < 40; ++i) {
        x += bytesOfValues<float>({0.1f * static_cast<float>(i), static_cast<float>(i * i % 7)});
        y += bytesOfValues<int64_t>({i % 2});
    }
    return safetensorsBytes(R"({"x":{"dtype":"F32","shape":[40,2],"data_offsets":[0,320]},)"
                            R"("y":{"dtype":"I64","shape":[40],"data_offsets":[320,640]}})",
                            x + y);
}

/// Returns an archive with 12 pictures of two classes.
std::string shard() {
    std::string bytes;
    for (int i = 0; i < 12; ++i) {
        const std::string sample = std::to_string(100 + i);
        bytes += tarFile(sample + ".png", pngBytes(pattern(8, 8, 3))) +
                 tarFile(sample + ".cls", std::to_string(i % 2));
    }
    return bytes + tarEnd();
}

/// Returns the files of a folder "pets" with a folder of six pictures for each of two classes.
QMap<QString, QByteArray> classFolders() {
    QMap<QString, QByteArray> files;
    for (int i = 0; i < 12; ++i)
        files[QString("pets/%1/%2.png").arg(i % 2 == 0 ? "cat" : "dog").arg(i)] =
            QByteArray::fromStdString(pngBytes(pattern(8, 8, 3)));
    return files;
}

/// Returns the files of a folder "pets" as torchvision names them: 20 pictures to train on, 4 to
/// validate on.
QMap<QString, QByteArray> mnistFiles() {
    QMap<QString, QByteArray> files;
    for (const auto& [part, count] : {std::pair("train", 20), std::pair("t10k", 4)}) {
        std::string labels, pixels;
        for (int i = 0; i < count; ++i) {
            labels += static_cast<char>(i % 10);
            pixels += std::string(64, static_cast<char>(6 * i));
        }
        const QString start = QString("pets/MNIST/raw/") + part;
        const auto number = static_cast<uint32_t>(count);
        files[start + "-images-idx3-ubyte"] =
            QByteArray::fromStdString(idxBytes({number, 8, 8}, pixels));
        files[start + "-labels-idx1-ubyte"] = QByteArray::fromStdString(idxBytes({number}, labels));
    }
    return files;
}

} // namespace

class TestWindowDrops : public QObject {
    Q_OBJECT
private slots:
    void filesOnBoxesAreOpened_data();
    void filesOnBoxesAreOpened();
    void textGoesIntoTheBox();
    void aDropTakesACopy();
    void severalFilesAreRefused();
    void savedRunsAreOpenedTogether();
    void aSavedRunIsItsFolder();
    void foldersAreChosenFromTheMenu();
    void dataBecomesAnExperiment_data();
    void dataBecomesAnExperiment();
    void tokensGoToAnEmbedding();
    void pricesAreStandardised();
    void linesThatAreLeftOutAreTold();
    void columnsThatAreLeftOutAreNamed();
    void theNetworkOfAProgramIsTaken();
    void otherProgramsAreRefused_data();
    void otherProgramsAreRefused();
    void commandsHaveTheKeysOfSettings();
};

void TestWindowDrops::filesOnBoxesAreOpened_data() {
    QTest::addColumn<bool>("withArrows");
    QTest::newRow("line") << false;
    QTest::newRow("number with arrows") << true;
}

/// A file dialog chooses no folders, and not everybody drags.
void TestWindowDrops::foldersAreChosenFromTheMenu() {
    RunConfig config = tinyConfig(5);
    config.title = "Saved";
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 5));
    const QString folder = opened.folder.filePath(QStringLiteral("results"));
    QVERIFY(QDir().mkpath(folder));
    window.saveResults(folder);
    window.openPreset(QStringLiteral("regression"));
    QAction* open = fileAction(window, QStringLiteral("Open a &folder…"));
    QVERIFY(open);
    answerWith(folder);
    open->trigger();
    QTRY_COMPARE(window.windowTitle(), QStringLiteral("Saved – Halfscope"));
}

/// Half of the window is text boxes, and a line edit takes any address as text.
void TestWindowDrops::filesOnBoxesAreOpened() {
    QFETCH(const bool, withArrows);
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    RunConfig other = tinyConfig(33);
    other.title = "Dropped";
    const QString path = write(opened.folder, QStringLiteral("other.json"), configText(other));
    QLineEdit* line = lineOf(window, withArrows);
    QVERIFY(line);
    QVERIFY(dropFile(*line, path));
    QCOMPARE(window.windowTitle(), QStringLiteral("Dropped – Halfscope"));
    QCOMPARE(window.config().config().steps, int64_t{33});
    for (const QLineEdit* each : window.findChildren<QLineEdit*>())
        QVERIFY2(!each->text().contains(QStringLiteral("json")), qPrintable(each->text()));
}

/// A file manager proposes to move what is dropped, and may delete its file after a move.
void TestWindowDrops::aDropTakesACopy() {
    Opened opened(tinyConfig(20));
    const QString path =
        write(opened.folder, QStringLiteral("other.json"), configText(tinyConfig(33)));
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(path)});
    const QPoint place = opened.window.rect().center();
    const Qt::DropActions offered = Qt::CopyAction | Qt::MoveAction;
    QDragEnterEvent enter(place, offered, &data, Qt::LeftButton, Qt::ShiftModifier);
    QDropEvent event(place, offered, &data, Qt::LeftButton, Qt::ShiftModifier);
    for (QDropEvent* each : {static_cast<QDropEvent*>(&enter), &event}) {
        QCOMPARE(each->proposedAction(), Qt::MoveAction);
        QApplication::sendEvent(&opened.window, each);
        QVERIFY(each->isAccepted());
        QCOMPARE(each->dropAction(), Qt::CopyAction);
    }
    QCOMPARE(opened.window.config().config().steps, int64_t{33});
}

void TestWindowDrops::textGoesIntoTheBox() {
    Opened opened(tinyConfig(20));
    QLineEdit* line = lineOf(opened.window, false);
    QVERIFY(line);
    QMimeData data;
    data.setText(QStringLiteral("77"));
    QVERIFY(drop(*line, data));
    QVERIFY2(line->text().contains(QStringLiteral("77")), qPrintable(line->text()));
}

void TestWindowDrops::severalFilesAreRefused() {
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    const QString before = window.windowTitle();
    QMimeData two, page;
    two.setUrls({QUrl::fromLocalFile(QStringLiteral("/a.json")),
                 QUrl::fromLocalFile(QStringLiteral("/b.json"))});
    page.setUrls({QUrl(QStringLiteral("https://example.org/a.json"))});
    QLineEdit* line = lineOf(window, false);
    for (QWidget* widget : {static_cast<QWidget*>(&window), static_cast<QWidget*>(line)}) {
        QVERIFY(drop(*widget, two));
        QTRY_COMPARE_WITH_TIMEOUT(
            window.bannerText(),
            QStringLiteral("/a.json: not a folder of a saved run; only such folders, and the files "
                           "of one data set, can be dropped together, anything else must be "
                           "dropped by itself"),
            kPatience);
        QVERIFY(drop(*widget, page));
        QCOMPARE(window.bannerText(),
                 QStringLiteral("https://example.org/a.json: not a file on this computer; save it "
                                "to one and drop that"));
    }
    QCOMPARE(window.windowTitle(), before);
}

void TestWindowDrops::savedRunsAreOpenedTogether() {
    Opened opened(tinyConfig(7));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(trainsTo(opened.window, 7));
    const QString two = opened.folder.filePath(QStringLiteral("run 2")),
                  ten = opened.folder.filePath(QStringLiteral("run 10"));
    for (const QString& folder : {two, ten})
        opened.window.saveResults(folder);
    Opened other(tinyConfig(20));
    MainWindow& window = other.window;
    QMimeData runs, mixed;
    runs.setUrls({QUrl::fromLocalFile(ten), QUrl::fromLocalFile(two)});
    mixed.setUrls({QUrl::fromLocalFile(two), QUrl::fromLocalFile(opened.folder.path())});
    QVERIFY(drop(window, mixed)); // all or none
    QTRY_VERIFY_WITH_TIMEOUT(
        window.bannerText().startsWith(opened.folder.path() +
                                       QStringLiteral(": not a folder of a saved run; ")),
        kPatience);
    QCOMPARE(window.runs().rowCount(), 0);
    QVERIFY(drop(window, runs));
    QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 2, kPatience);
    const auto nameOf = [&](int row) { return window.runs().index(row, 0).data().toString(); };
    QVERIFY2(nameOf(0).contains(QStringLiteral("run 2")), qPrintable(nameOf(0)));
    QVERIFY2(nameOf(1).contains(QStringLiteral("run 10")), qPrintable(nameOf(1)));
    QTRY_COMPARE_WITH_TIMEOUT(window.bannerText(),
                              QStringLiteral("Saved runs opened: 2. F8 shows the list of runs."),
                              kPatience);
    QVERIFY(window.showsSaved());
}

void TestWindowDrops::aSavedRunIsItsFolder() {
    RunConfig config = tinyConfig(7);
    config.title = "Saved";
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    const QString folder = opened.folder.filePath(QStringLiteral("results"));
    window.saveResults(folder);
    window.openPreset(QStringLiteral("regression"));
    QVERIFY(dropFile(window, folder));
    QCOMPARE(window.windowTitle(), QStringLiteral("Saved – Halfscope"));
    QCOMPARE(configText(window.config().config()), configText(config));
    // for another folder the message says what is missing there
    const QString empty = opened.folder.filePath(QStringLiteral("empty"));
    QVERIFY(QDir().mkpath(empty));
    QVERIFY(dropFile(window, empty));
    QVERIFY2(
        window.bannerText().startsWith(empty + QStringLiteral(": the folder holds no saved run")),
        qPrintable(window.bannerText()));
    QCOMPARE(window.windowTitle(), QStringLiteral("Saved – Halfscope"));
}

void TestWindowDrops::dataBecomesAnExperiment_data() {
    QTest::addColumn<QString>("name"); // of what is dropped
    QTest::addColumn<QMap<QString, QByteArray>>("files");
    QTest::addColumn<QString>("kind"); // data.kind
    QTest::addColumn<QString>("note");
    const auto row = [](const char* what, const char* name, const char* kind,
                        const std::string& bytes, const char* note = "") {
        QTest::newRow(what) << QString(name)
                            << QMap<QString, QByteArray>{{name, QByteArray::fromStdString(bytes)}}
                            << QString(kind) << QString::fromUtf8(note);
    };
    const auto lines = [](const char* header, const auto& lineOf) {
        std::string text = header;
        for (int i = 0; i < 40; ++i)
            text += lineOf(std::to_string(i), i % 2 == 0) + "\n";
        return text;
    };
    const std::string commas = lines("height,weight,kind\n", [](const std::string& i, bool even) {
        return i + "0,7" + i + (even ? ",cat" : ",dog");
    });
    row("commas", "pets.csv", "csv", commas, "The column kind is predicted, as one of 2 classes.");
    row("tabs, words and an index", "pets.tsv", "csv",
        lines("\tcolour\tweight\tkind\n",
              [](const std::string& i, bool even) {
                  return i + (even ? "\tred\t" : "\tblue\t") + i + "0" + (even ? "\tcat" : "\tdog");
              }),
        "• The column kind is predicted, as one of 2 classes.\n"
        "• The columns are separated by tabs.\n"
        "• A column without a name is left out: pandas writes the numbers of lines into one.\n"
        "• Columns of words became an input of 0 and 1 for each word: colour (2).");
    row("Excel in Europe", "pets.csv", "csv",
        lines("\xEF\xBB\xBFweight;tame;kind\r\n",
              [](const std::string& i, bool even) {
                  return i + ",5" + (even ? ";yes;cat" : ";no;dog") + "\r";
              }),
        "• The column kind is predicted, as one of 2 classes.\n"
        "• The columns are separated by semicolons, and numbers have decimal commas.\n"
        "• True and yes are 1, false and no are 0, "
        "in the columns: tame.");
    row("packed", "pets.csv.gz", "csv", gzipBytes(commas),
        "The column kind is predicted, as one of 2 classes.");
    row("Unicode text of a spreadsheet", "pets.csv", "csv", test::markedUtf16(commas),
        "The column kind is predicted, as one of 2 classes.");
    const std::string x = npyBytes("{'descr': '>f4', 'fortran_order': True, 'shape': (40, 2)}",
                                   std::string(320, '\0'));
    const std::string y = npy("|b1", "(40,)", std::string(20, '\0') + std::string(20, '\1'));
    row("archive", "pets.npz", "arrays", zipBytes({{"x.npy", x, true}, {"y.npy", y}}));
    row("tensors", "pets.safetensors", "arrays", tensors());
    row("a shard", "pets.tar", "shards", shard());
    QTest::newRow("folders of pictures") << "pets" << classFolders() << "pictures"
                                         << "";
    QTest::newRow("the files of MNIST") << "pets" << mnistFiles() << "mnist"
                                        << "";
}

/// Once data are dropped on the window, Play is all that is needed.
void TestWindowDrops::dataBecomesAnExperiment() {
    using Files = QMap<QString, QByteArray>;
    QFETCH(const QString, name);
    QFETCH(const Files, files);
    QFETCH(const QString, kind);
    QFETCH(const QString, note);
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    for (auto each = files.begin(); each != files.end(); ++each) {
        QVERIFY(QDir().mkpath(QFileInfo(opened.folder.filePath(each.key())).path()));
        QVERIFY(!write(opened.folder, each.key(), each.value().toStdString()).isEmpty());
    }
    QVERIFY(dropFile(window, opened.folder.filePath(name)));
    QTRY_COMPARE(window.windowTitle(), QStringLiteral("pets – Halfscope"));
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    QCOMPARE(QString(infoOf(window.config().config().task.kind).name), kind);
    QCOMPARE(window.config().config().task.loss.kind, LossKind::CrossEntropy);
    QVERIFY(reaches(window, SessionState::Ready));
    if (const FieldEditor* editor = window.setup().editor("data.path"); editor && !note.isEmpty())
        QTRY_COMPARE(editor->findChild<QLabel*>(QStringLiteral("note"))->text().remove(u'\u200b'),
                     note);
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() >= 20, kPatience);
    window.pause();
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
}

/// Whole numbers are indices once the network begins with an Embedding, and a note says that they
/// may be; an index that it does not know is told.
void TestWindowDrops::tokensGoToAnEmbedding() {
    std::string x, y;
    for (int i = 0; i < 40; ++i) {
        for (int at = 0; at < 8; ++at)
            x += bytesOfValues<int32_t>({(7 * i + 3 * at) % 50});
        y += bytesOfValues<int64_t>({i % 2});
    }
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const std::string archive =
        zipBytes({{"x.npy", npy("<i4", "(40, 8)", x)}, {"y.npy", npy("<i8", "(40,)", y)}});
    QVERIFY(dropFile(window, write(opened.folder, "tokens.npz", archive)));
    QTRY_COMPARE(window.windowTitle(), QStringLiteral("tokens – Halfscope"));
    QVERIFY(reaches(window, SessionState::Ready));
    const auto notes = [&window] {
        QString all;
        for (const QLabel* note : window.findChildren<QLabel*>(QStringLiteral("note")))
            all += note->text();
        return all;
    };
    QTRY_VERIFY2(notes().contains(QStringLiteral("nn.Embedding(50, ...)")), qPrintable(notes()));
    ConfigModel& model = window.config();
    const auto begin = [&](const char* layers) {
        return model.setData(model.index(model.rowOf("model.layers")), QString(layers));
    };
    QVERIFY(begin("nn.Sequential(nn.Embedding(50, 4), nn.Flatten(), nn.Linear(32, 2))"));
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() >= 20, kPatience);
    window.pause();
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    QTRY_VERIFY2(!notes().contains(QStringLiteral("nn.Embedding")), qPrintable(notes()));
    QVERIFY(begin("nn.Sequential(nn.Embedding(49, 4), nn.Flatten(), nn.Linear(32, 2))"));
    window.restart();
    QTRY_VERIFY2_WITH_TIMEOUT(
        window.bannerText().contains(QStringLiteral("has the index 49: 0 to 48 are allowed")),
        qPrintable(window.bannerText()), kPatience);
}

/// Not only in the small print of the settings.
void TestWindowDrops::linesThatAreLeftOutAreTold() {
    std::string text = "area,price\n,70000\n12,\n";
    for (int i = 0; i < 148; ++i)
        text += std::to_string(40 + 37 * i % 211) + "," + std::to_string(60000 + 2613 * i) + "\n";
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(dropFile(window, write(opened.folder, "gaps.csv", text)));
    QTRY_COMPARE(window.windowTitle(), QStringLiteral("gaps – Halfscope"));
    QVERIFY(reaches(window, SessionState::Ready));
    const QString said = window.findChild<QLabel*>(QStringLiteral("headline"))->accessibleName();
    QVERIFY2(said.contains(QStringLiteral("as a number. 2 of 150 lines lack a value and are left "
                                          "out. To keep those that have a target, set \"Missing "
                                          "values\" to mean. The networks train on ")),
             qPrintable(said));
}

/// Nobody should believe that every column is learnt from.
void TestWindowDrops::columnsThatAreLeftOutAreNamed() {
    RunConfig config = tinyConfig(20);
    Opened opened(config);
    const QString path = write(opened.folder, "left.csv", "a,b,c,d,y\n1,5,x,2,4\n3,6,y,1,2\n");
    config.task.kind = TaskKind::Csv;
    config.task.path = path.toStdString();
    config.task.loss.kind = LossKind::Mse;
    config.task.validation = 0;
    const auto said = [&config](const char* drop) {
        config.task.drop = drop;
        std::thread([&config] { factsOf(config.task); }).join(); // this one reads no files
        return RunWords::data(config);
    };
    QVERIFY(!said("").contains("Left out"));
    QCOMPARE(said("b"), QStringLiteral("The column y is predicted, as a number. Left out: b. The "
                                       "networks train on 2 samples."));
    QVERIFY(said("b, c").contains(QStringLiteral(" Left out: b and c. ")));
    QVERIFY(said("b, c, d").contains(QStringLiteral(" Left out: b, c and 1 more. ")));
}

/// A table of prices is standardised as it comes, and its cards tell the error of a price.
void TestWindowDrops::pricesAreStandardised() {
    std::string text = "area,rooms,price\n";
    for (int i = 0; i < 200; ++i)
        text += std::to_string(40 + 37 * i % 211) + "," + std::to_string(i % 6) + "," +
                std::to_string(60000 + 2600 * (37 * i % 211) + 15000 * (i % 6)) + "\n";
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.setup().goTo(1); // the settings of a lane, far below those of the data
    QVERIFY(dropFile(window, write(opened.folder, "houses.csv", text)));
    QTRY_COMPARE(window.windowTitle(), QStringLiteral("houses – Halfscope"));
    QVERIFY(window.config().config().task.standardiseTarget);
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(window.findChild<QLabel*>(QStringLiteral("headline"))->accessibleName(),
             QStringLiteral("The column price is predicted, as a number. The networks train on "
                            "180 samples and are validated on 20. Press Play."));
    RunConfig tested = window.config().config();
    tested.task.testShare = 0.5;
    std::thread([&tested] { factsOf(tested.task); }).join(); // this one reads no files
    QCOMPARE(RunWords::data(tested),
             QStringLiteral("The column price is predicted, as a number. The networks train on "
                            "180 samples and are validated on 10; 10 are kept for the test at the "
                            "end."));
    QCOMPARE(
        window.findChild<SetupPanel*>()->findChild<QScrollArea*>()->verticalScrollBar()->value(),
        0);
    QString notes; // they name the check box as the window does
    for (const QLabel* note : window.findChildren<QLabel*>(QStringLiteral("note")))
        notes += note->text();
    const QString box = QLocale().quoteString(QStringLiteral("Standardise target"));
    QVERIFY2(notes.contains(QStringLiteral("as it is, switch %1 off.").arg(box)),
             qPrintable(notes));
    QVERIFY2(!notes.contains("data."), qPrintable(notes));
    const auto labels = [&window] {
        QStringList texts;
        for (const LaneCard* card : window.findChildren<LaneCard*>())
            for (const QLabel* label : card->findChildren<QLabel*>())
                texts << label->text();
        return texts;
    };
    QTRY_COMPARE(labels().count("Validation error"), 2);
    QVERIFY(!labels().contains("Validation loss"));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().lane(1).validationError.value_or(0) > 10, kPatience);
    window.pause();
}

/// As if it had been pasted into Layers.
void TestWindowDrops::theNetworkOfAProgramIsTaken() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString path =
        write(opened.folder, QStringLiteral("net.py"),
              "\xEF\xBB\xBFhidden = 6\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
              "    def __init__(self):\n        super().__init__()\n"
              "        self.net = nn.Sequential(\n            nn.Linear(2, hidden),\n"
              "            nn.ReLU(),\n            nn.Linear(hidden, 1),\n        )\n");
    QVERIFY(dropFile(window, path));
    const QString said = QStringLiteral("The network in lines 8 to 12 of %1 was taken. Nothing "
                                        "else in the file is used but the values of hidden.")
                             .arg(path);
    QTRY_VERIFY2_WITH_TIMEOUT(window.bannerText().startsWith(said), qPrintable(window.bannerText()),
                              kPatience);
    const std::string layers = window.config().config().model.layers;
    QCOMPARE(layers, std::string("hidden = 6\nnn.Sequential(\n    nn.Linear(2, hidden),\n"
                                 "    nn.ReLU(),\n    nn.Linear(hidden, 1),\n)"));
    QVERIFY(trainsTo(window, 5));
    QCOMPARE(window.shown().run()->info().recorded.model.layers, layers);
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    actionFor(window, QKeySequence::Undo)->trigger();
    QVERIFY(window.config().config().model.layers.empty());
}

void TestWindowDrops::otherProgramsAreRefused_data() {
    QTest::addColumn<QByteArray>("program");
    QTest::addColumn<QString>("reason");
    QTest::newRow("without a network")
        << QByteArray("import torch\n") << "there is no nn.Sequential(...) in this program";
    QTest::newRow("two networks")
        << QByteArray("a = nn.Sequential(nn.Linear(2, 1))\nb = nn.Sequential(nn.Linear(2, 1))\n")
        << "there are 2 networks (nn.Sequential) in this program, in lines 1 and 2 for example";
    QTest::newRow("for other data") << QByteArray("net = nn.Sequential(nn.Linear(784, 10))\n")
                                    << "its network does not fit the data that are open: ";
    QTest::newRow("unknown layer")
        << QByteArray("net = nn.Sequential(nn.Linear(2, 1), MyLayer())\n") << "MyLayer";
    QTest::newRow("line of the file")
        << QByteArray("import torch\n\nnet = nn.Sequential(\n    nn.Linear(2, 1), MyLayer())\n")
        << "line 4, column 22: ";
    QTest::newRow("number of two places")
        << QByteArray("n = 8\nif large:\n    n = 32\nnet = nn.Sequential(nn.Linear(2, n))\n")
        << "; the value of n is not known, because the program may set it in more than one place, "
           "below the network, in another function, or not by a plain number";
    QTest::newRow("class for other data")
        << QByteArray("class Net(nn.Module):\n  def __init__(self):\n    self.fc = nn.Linear(784, "
                      "10)\n  def forward(self, x):\n    return F.relu(self.fc(x))\n")
        << "line 3, column 15: Linear(784, 10): ";
    QTest::newRow("number of a function")
        << QByteArray("def net(n):\n    return nn.Sequential(nn.Linear(2, 2 * n))\n")
        << "; an argument of a function has no value here (n): ";
    QTest::newRow("sum") << QByteArray("n = 4 + 4\nnet = nn.Sequential(nn.Linear(2, n))\n")
                         << "line 1, column 7: found \"+\", where the end of the line";
}

/// In one sentence, and nothing is changed.
void TestWindowDrops::otherProgramsAreRefused() {
    QFETCH(const QByteArray, program);
    QFETCH(const QString, reason);
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const std::string before = configText(window.config().config());
    const QString path = write(opened.folder, QStringLiteral("net.py"), program.toStdString());
    QVERIFY(dropFile(window, path));
    QTRY_VERIFY2_WITH_TIMEOUT(window.bannerText().startsWith(path + QStringLiteral(": ")) &&
                                  window.bannerText().contains(reason),
                              qPrintable(window.bannerText()), kPatience);
    QCOMPARE(configText(window.config().config()), before);
    QCOMPARE(window.controller().state(), SessionState::Ready);
}

/// A message names settings by their labels, but a label would be of no use in a terminal.
void TestWindowDrops::commandsHaveTheKeysOfSettings() {
    const QString told = translated(
        Message::data("model.layers is wrong: halfscope-cli run DATA --set model.layers=@FILE"));
    QVERIFY2(!told.startsWith(QStringLiteral("model.layers")), qPrintable(told));
    QVERIFY2(told.endsWith(QStringLiteral(" --set model.layers=@FILE")), qPrintable(told));
}

} // namespace tst_window_drops

QTEST_MAIN(tst_window_drops::TestWindowDrops)
#include "tst_window_drops.moc"
